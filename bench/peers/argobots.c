/* SPDX-License-Identifier: Apache-2.0 */
/* argobots.c - Argobots: threads with stacks of 16 KiB on execution streams.
 * Each stream takes from its own pool first, and from the others at random.
 *
 * Left out: W8 and W13, because it has no timers; W10b, because it has no
 * parallel for; W11, because an event that a foreign thread sets makes that
 * thread spin.
 */
#include "peer.h"

#include <abt.h>

#include <stdatomic.h>

enum { STREAMS_MAX = 16, FEW = 20000 };

#define FIB_20         20
#define FIB_20_RESULT  6765
#define FIB_20_SPAWNED 10945

const char *peer_version(void)
{
	return "Argobots " ABT_VERSION ", " BENCH_COMPILER;
}

static ABT_pool pools[STREAMS_MAX];
static int      streams;

static void must(int err)
{
	bench_check(err == ABT_SUCCESS, "argobots: an error");
}

static ABT_sched steal_from_others(int self)
{
	ABT_pool  order[STREAMS_MAX];
	ABT_sched s;

	for (int i = 0; i < streams; i++)
		order[i] = pools[(self + i) % streams];
	must(ABT_sched_create_basic(ABT_SCHED_RANDWS, streams, order,
				    ABT_SCHED_CONFIG_NULL, &s));
	return s;
}

/* The main thread is the first stream. One process runs each row, so the number
 * of streams stays. */
static void start(const struct bench_run *r)
{
	ABT_xstream x;

	if (streams)
		return;
	streams = (int)r->workers;
	must(ABT_init(0, NULL));
	for (int i = 0; i < streams; i++)
		must(ABT_pool_create_basic(ABT_POOL_FIFO, ABT_POOL_ACCESS_MPMC,
					   ABT_TRUE, &pools[i]));
	must(ABT_xstream_self(&x));
	must(ABT_xstream_set_main_sched(x, steal_from_others(0)));
	for (int i = 1; i < streams; i++)
		must(ABT_xstream_create(steal_from_others(i), &x));
}

static ABT_thread launch(void (*run)(void *), void *argument)
{
	ABT_thread t;
	int        rank;

	must(ABT_self_get_xstream_rank(&rank));
	must(ABT_thread_create(pools[rank], run, argument, ABT_THREAD_ATTR_NULL,
			       &t));
	return t;
}

static void join_all(ABT_thread threads[], uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		must(ABT_thread_free(&threads[i]));
}

static ABT_thread many[SLEEPERS];

/* --- spawn and join ------------------------------------------------------- */

static void nothing(void *unused)
{
	(void)unused;
}

static void spawn_flat(struct bench_run *r)
{
	sennit_time begin;

	start(r);
	begin = sennit_now();
	for (uint64_t i = 0; i < r->n; i++)
		many[i] = launch(nothing, NULL);
	join_all(many, r->n);
	bench_elapsed(r, begin);
}

struct fib {
	unsigned n, result;
};

static void fib(void *argument)
{
	struct fib *f = argument;
	struct fib  half = { f->n - 1, 0 }, rest = { f->n - 2, 0 };
	ABT_thread  t;

	if (f->n < 2) {
		f->result = f->n;
		return;
	}
	t = launch(fib, &half);
	fib(&rest);
	join_all(&t, 1);
	f->result = half.result + rest.result;
}

static void fork_join(struct bench_run *r)
{
	struct fib  f = { FIB_20, 0 };
	sennit_time begin;

	start(r);
	begin = sennit_now();
	fib(&f);
	bench_elapsed(r, begin);
	bench_check(f.result == FIB_20_RESULT, "fib: wrong result");
}

/* --- passing a token ------------------------------------------------------ */

/* An auto-reset event. */
struct event {
	_Alignas(128) ABT_eventual token;
};

static struct event tokens[RING];
static uint64_t     rounds;

static void set(struct event *e)
{
	must(ABT_eventual_set(e->token, NULL, 0));
}

static void wait_for(struct event *e)
{
	must(ABT_eventual_wait(e->token, NULL));
	must(ABT_eventual_reset(e->token));
}

static void prepare(const struct bench_run *r, unsigned events)
{
	start(r);
	for (unsigned i = 0; i < events; i++) {
		if (tokens[i].token)
			must(ABT_eventual_reset(tokens[i].token));
		else
			must(ABT_eventual_create(0, &tokens[i].token));
	}
}

static void pass(void *argument)
{
	struct event *mine = argument;
	struct event *next = mine == &tokens[RING - 1] ? tokens : mine + 1;

	for (uint64_t i = 0; i < rounds; i++) {
		wait_for(mine);
		set(next);
	}
}

static void ring(struct bench_run *r)
{
	ABT_thread  all[RING];
	sennit_time begin;

	prepare(r, RING);
	rounds = r->n / RING;
	begin = sennit_now();
	for (unsigned i = 0; i < RING; i++)
		all[i] = launch(pass, &tokens[i]);
	set(&tokens[0]);
	join_all(all, RING);
	bench_elapsed(r, begin);
}

static void play_ping(void *unused)
{
	(void)unused;
	for (uint64_t i = 0; i < rounds; i++) {
		set(&tokens[1]);
		wait_for(&tokens[0]);
	}
}

static void play_pong(void *unused)
{
	(void)unused;
	for (uint64_t i = 0; i < rounds; i++) {
		wait_for(&tokens[1]);
		set(&tokens[0]);
	}
}

static void one_worker(struct bench_run *r)
{
	ABT_thread  both[2];
	sennit_time begin;

	prepare(r, 2);
	rounds = r->n / 2;
	begin = sennit_now();
	both[0] = launch(play_ping, NULL);
	both[1] = launch(play_pong, NULL);
	join_all(both, 2);
	bench_elapsed(r, begin);
}

/* --- many waiters --------------------------------------------------------- */

static ABT_eventual gate;
static ABT_eventual all_there;
static atomic_ulong arriving;

static void block(void *unused)
{
	(void)unused;
	if (atomic_fetch_sub(&arriving, 1) == 1)
		must(ABT_eventual_set(all_there, NULL, 0));
	must(ABT_eventual_wait(gate, NULL));
}

static void block_and_wake(struct bench_run *r)
{
	uint64_t    before;
	sennit_time begin;

	start(r);
	must(ABT_eventual_create(0, &gate));
	must(ABT_eventual_create(0, &all_there));
	arriving = r->n;
	before = bench_resident();
	begin = sennit_now();
	for (uint64_t i = 0; i < r->n; i++)
		many[i] = launch(block, NULL);
	must(ABT_eventual_wait(all_there, NULL));
	set_value(r, 0, sennit_now() - begin);
	report_memory(r, before);
	begin = sennit_now();
	must(ABT_eventual_set(gate, NULL, 0));
	join_all(many, r->n);
	set_value(r, 1, sennit_now() - begin);
}

static void first_touch(struct bench_run *r)
{
	run_afresh(r, block_and_wake);
}

static ABT_mutex mutex;
static uint64_t  counter;

static void lock_and_unlock(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < LOCK_PAIRS; i++) {
		must(ABT_mutex_lock(mutex));
		counter++;
		must(ABT_mutex_unlock(mutex));
	}
}

static void contend(struct bench_run *r)
{
	ABT_thread  all[LOCKERS];
	sennit_time begin;

	start(r);
	if (!mutex)
		must(ABT_mutex_create(&mutex));
	counter = 0;
	begin = sennit_now();
	for (unsigned i = 0; i < LOCKERS; i++)
		all[i] = launch(lock_and_unlock, NULL);
	join_all(all, LOCKERS);
	bench_elapsed(r, begin);
	bench_check(counter == r->n, "mutex: lost updates");
}

/* clang-format off */
#define ROW(name, count, where, function)                                     \
	{ .names = { name "/argobots" }, .n = (count), .workers = (where),     \
	  .run = (function) }
#define BLOCK(count)                                                          \
	{ .names = { "W6a-block/argobots/first-touch",                         \
		     "W6c-wake/argobots/first-touch",                          \
		     "W6b-memory/argobots/per-fiber" },                        \
	  .n = (count), .workers = BENCH_EACH, .run = first_touch }
/* clang-format on */

const struct bench_row peer_rows[] = {
	ROW("W1-spawn", FEW, BENCH_EACH, spawn_flat),
	ROW("W2-fib", FIB_20_SPAWNED, BENCH_EACH, fork_join),
	ROW("W4a-ping-pong", HAND_OVERS, BENCH_ONE, one_worker),
	ROW("W5-ring", RING *RING_ROUNDS, BENCH_EACH, ring),
	BLOCK(10000),
	BLOCK(100000),
	ROW("W7-mutex", LOCKERS *LOCK_PAIRS, BENCH_EACH, contend),
	{ .run = NULL },
};
