/* SPDX-License-Identifier: Apache-2.0 */
/* state_threads.c - State Threads: fibers of one thread, with stacks of 16 KiB.
 *
 * Left out: all rows with two workers, because it has one; W3, W9 and W10,
 * because its fork and join is W2.
 */
#include "peer.h"
#include "apps/simulation.h"

#include <st.h>

#define STACK          (16 * 1024)
#define FEW            20000
#define FIB_20         20
#define FIB_20_RESULT  6765
#define FIB_20_SPAWNED 10945

const char *peer_version(void)
{
	return "State Threads 1.9, " BENCH_COMPILER;
}

static void start(void)
{
	static bool started;

	if (!started)
		bench_check(!st_init(), "st: no start");
	started = true;
}

static st_thread_t launch(void *(*run)(void *), void *argument)
{
	st_thread_t t = st_thread_create(run, argument, 1, STACK);

	bench_check(t, "st: no thread");
	return t;
}

static void join_all(st_thread_t threads[], uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		st_thread_join(threads[i], NULL);
}

/* --- spawn and join ------------------------------------------------------- */

static void *nothing(void *unused)
{
	return unused;
}

static void spawn_flat(struct bench_run *r)
{
	static st_thread_t all[FEW];
	sennit_time        begin;

	start();
	begin = sennit_now();
	for (uint64_t i = 0; i < r->n; i++)
		all[i] = launch(nothing, NULL);
	join_all(all, r->n);
	bench_elapsed(r, begin);
}

static void *fib(void *argument)
{
	uintptr_t   n = (uintptr_t)argument;
	st_thread_t half;
	void       *other;
	uintptr_t   mine;

	if (n < 2)
		return argument;
	half = launch(fib, (void *)(n - 1));
	mine = (uintptr_t)fib((void *)(n - 2));
	st_thread_join(half, &other);
	return (void *)(mine + (uintptr_t)other);
}

static void fork_join(struct bench_run *r)
{
	sennit_time begin;
	void       *result;

	start();
	begin = sennit_now();
	result = fib((void *)(uintptr_t)FIB_20);
	bench_elapsed(r, begin);
	bench_check((uintptr_t)result == FIB_20_RESULT, "fib: wrong result");
}

/* --- passing a token ------------------------------------------------------ */

/* An auto-reset event. */
struct event {
	_Alignas(128) st_cond_t changed;
	bool is_set;
};

static void set(struct event *e)
{
	e->is_set = true;
	st_cond_signal(e->changed);
}

static void wait_for(struct event *e)
{
	while (!e->is_set)
		st_cond_wait(e->changed);
	e->is_set = false;
}

static struct event tokens[RING];
static uint64_t     rounds;

static void *pass(void *argument)
{
	struct event *mine = argument;
	struct event *next = mine == &tokens[RING - 1] ? tokens : mine + 1;

	for (uint64_t i = 0; i < rounds; i++) {
		wait_for(mine);
		set(next);
	}
	return NULL;
}

static void prepare(unsigned events)
{
	start();
	for (unsigned i = 0; i < events; i++) {
		if (!tokens[i].changed)
			tokens[i].changed = st_cond_new();
		tokens[i].is_set = false;
	}
}

static void ring(struct bench_run *r)
{
	st_thread_t all[RING];
	sennit_time begin;

	prepare(RING);
	rounds = r->n / RING;
	begin = sennit_now();
	for (unsigned i = 0; i < RING; i++)
		all[i] = launch(pass, &tokens[i]);
	set(&tokens[0]);
	join_all(all, RING);
	bench_elapsed(r, begin);
}

static void *play_ping(void *unused)
{
	for (uint64_t i = 0; i < rounds; i++) {
		set(&tokens[1]);
		wait_for(&tokens[0]);
	}
	return unused;
}

static void *play_pong(void *unused)
{
	for (uint64_t i = 0; i < rounds; i++) {
		wait_for(&tokens[1]);
		set(&tokens[0]);
	}
	return unused;
}

static void one_worker(struct bench_run *r)
{
	st_thread_t both[2];
	sennit_time begin;

	prepare(2);
	rounds = r->n / 2;
	begin = sennit_now();
	both[0] = launch(play_ping, NULL);
	both[1] = launch(play_pong, NULL);
	join_all(both, 2);
	bench_elapsed(r, begin);
}

/* --- a simulation, as in core/bench/apps
 * -------------------------------------- */

static struct event turns[SIM_CUSTOMERS];

static void pass_on(void)
{
	if (sim_waiting)
		set(&turns[sim_next()]);
}

static void *live(void *argument)
{
	const uint32_t customer = (uint32_t)(uintptr_t)argument;

	for (unsigned i = 0; i < SIM_VISITS; i++) {
		wait_for(&turns[customer]);
		sim_visit(customer);
		if (i + 1 < SIM_VISITS)
			sim_leave(customer);
		pass_on();
	}
	return NULL;
}

static void simulation(struct bench_run *r)
{
	static st_thread_t all[SIM_CUSTOMERS];
	sennit_time        begin;

	start();
	begin = sennit_now();
	sim_begin();
	for (uint32_t i = 0; i < SIM_CUSTOMERS; i++) {
		if (!turns[i].changed)
			turns[i].changed = st_cond_new();
		turns[i].is_set = false;
		sim_leave(i);
		all[i] = launch(live, (void *)(uintptr_t)i);
	}
	pass_on();
	join_all(all, SIM_CUSTOMERS);
	bench_elapsed(r, begin);
	sim_check();
}

/* --- many waiters --------------------------------------------------------- */

static st_cond_t   gate;
static st_cond_t   all_there;
static uint64_t    arriving;
static st_thread_t many[SLEEPERS];

static void *block(void *unused)
{
	if (--arriving == 0)
		st_cond_signal(all_there);
	st_cond_wait(gate);
	return unused;
}

static void block_and_wake(struct bench_run *r)
{
	uint64_t    before;
	sennit_time begin;

	start();
	gate = st_cond_new();
	all_there = st_cond_new();
	arriving = r->n;
	before = bench_resident();
	begin = sennit_now();
	for (uint64_t i = 0; i < r->n; i++)
		many[i] = launch(block, NULL);
	while (arriving)
		st_cond_wait(all_there);
	set_value(r, 0, sennit_now() - begin);
	report_memory(r, before);
	begin = sennit_now();
	st_cond_broadcast(gate);
	join_all(many, r->n);
	set_value(r, 1, sennit_now() - begin);
}

static void first_touch(struct bench_run *r)
{
	run_afresh(r, block_and_wake);
}

static st_mutex_t mutex;
static uint64_t   counter;

static void *lock_and_unlock(void *unused)
{
	for (unsigned i = 0; i < LOCK_PAIRS; i++) {
		st_mutex_lock(mutex);
		counter++;
		st_mutex_unlock(mutex);
	}
	return unused;
}

static void contend(struct bench_run *r)
{
	st_thread_t all[LOCKERS];
	sennit_time begin;

	start();
	if (!mutex)
		mutex = st_mutex_new();
	counter = 0;
	begin = sennit_now();
	for (unsigned i = 0; i < LOCKERS; i++)
		all[i] = launch(lock_and_unlock, NULL);
	join_all(all, LOCKERS);
	bench_elapsed(r, begin);
	bench_check(counter == r->n, "mutex: lost updates");
}

static uint64_t late[SLEEPERS];

static void *sleep_once(void *argument)
{
	uint64_t   *mine = argument;
	sennit_time due = sennit_after(delay_of((uint64_t)(mine - late)));
	sennit_time now = sennit_now();

	while (now < due) {
		st_usleep((due - now + 999) / 1000);
		now = sennit_now();
	}
	*mine = now - due;
	return NULL;
}

static void sleep_all(struct bench_run *r)
{
	uint64_t cpu;

	start();
	cpu = bench_cpu_ns();
	for (uint64_t i = 0; i < r->n; i++)
		many[i] = launch(sleep_once, &late[i]);
	join_all(many, r->n);
	report_sleeps(r, late, cpu);
}

/* clang-format off */
#define ROW(name, count, function)                                         \
	{ .names = { name "/st" }, .n = (count), .workers = BENCH_ONE,      \
	  .run = (function) }
#define BLOCK(count)                                                       \
	{ .names = { "W6a-block/st/first-touch", "W6c-wake/st/first-touch", \
		     "W6b-memory/st/per-fiber" },                           \
	  .n = (count), .workers = BENCH_ONE, .run = first_touch }
/* clang-format on */

const struct bench_row peer_rows[] = {
	ROW("W1-spawn", FEW, spawn_flat),
	ROW("W2-fib", FIB_20_SPAWNED, fork_join),
	ROW("W4a-ping-pong", HAND_OVERS, one_worker),
	ROW("W5-ring", RING *RING_ROUNDS, ring),
	BLOCK(10000),
	BLOCK(100000),
	ROW("W7-mutex", LOCKERS *LOCK_PAIRS, contend),
	{ .names = { "W8-sleep/st/cpu", "W8-sleep/st/late-p50",
		     "W8-sleep/st/late-p99" },
	  .n = SLEEPERS,
	  .workers = BENCH_ONE,
	  .run = sleep_all },
	ROW("R6-simulation", SIM_EVENTS, simulation),
	{ .run = NULL },
};
