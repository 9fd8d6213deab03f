/* SPDX-License-Identifier: Apache-2.0 */
/* pthreads.c - one POSIX thread per task, on as many CPUs as there are workers;
 * mutexes and condition variables.
 *
 * Left out: fork-join, which would need millions of threads at once.
 */
#include "peer.h"

#include <gnu/libc-version.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#define STACK (64 * 1024)
#define FEW   10000
#define BATCH 200 /* threads alive at a time, where not all must be */

const char *peer_version(void)
{
	static char version[128];

	snprintf(version, sizeof(version),
		 "POSIX threads, glibc %s, " BENCH_COMPILER,
		 gnu_get_libc_version());
	return version;
}

/* Restrict this process to `count` of its CPUs. */
static void keep_cpus(uint32_t count)
{
	cpu_set_t all;
	cpu_set_t kept;

	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&kept);
	for (int i = 0; i < CPU_SETSIZE && count; i++)
		if (CPU_ISSET(i, &all)) {
			CPU_SET(i, &kept);
			count--;
		}
	sched_setaffinity(0, sizeof(kept), &kept);
}

static pthread_t launch(void *(*run)(void *), void *argument)
{
	static pthread_attr_t attributes;
	static bool           is_ready;
	pthread_t             t;

	if (!is_ready) {
		pthread_attr_init(&attributes);
		pthread_attr_setstacksize(&attributes, STACK);
		is_ready = true;
	}
	bench_check(!pthread_create(&t, &attributes, run, argument),
		    "pthreads: no thread");
	return t;
}

static void join_all(pthread_t threads[], unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

/* --- spawn ---------------------------------------------------------------- */

static void *nothing(void *unused)
{
	return unused;
}

static void spawn_flat(struct bench_run *r)
{
	sennit_time begin;
	pthread_t   batch[BATCH];

	keep_cpus(r->workers);
	begin = sennit_now();
	for (uint64_t done = 0; done < r->n; done += BATCH) {
		for (unsigned i = 0; i < BATCH; i++)
			batch[i] = launch(nothing, NULL);
		join_all(batch, BATCH);
	}
	bench_elapsed(r, begin);
}

/* --- passing a token ------------------------------------------------------ */

/* An auto-reset event. */
struct event {
	_Alignas(128) pthread_mutex_t mutex;
	pthread_cond_t changed;
	bool           is_set;
};

static void init(struct event *e)
{
	pthread_mutex_init(&e->mutex, NULL);
	pthread_cond_init(&e->changed, NULL);
	e->is_set = false;
}

static void set(struct event *e)
{
	pthread_mutex_lock(&e->mutex);
	e->is_set = true;
	pthread_cond_signal(&e->changed);
	pthread_mutex_unlock(&e->mutex);
}

static void wait_for(struct event *e)
{
	pthread_mutex_lock(&e->mutex);
	while (!e->is_set)
		pthread_cond_wait(&e->changed, &e->mutex);
	e->is_set = false;
	pthread_mutex_unlock(&e->mutex);
}

static struct event tokens[RING];
static uint64_t     rounds;

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

static void ping_pong(struct bench_run *r)
{
	sennit_time begin;
	pthread_t   both[2];

	keep_cpus(r->workers);
	init(&tokens[0]);
	init(&tokens[1]);
	rounds = r->n / 2;
	begin = sennit_now();
	both[0] = launch(play_ping, NULL);
	both[1] = launch(play_pong, NULL);
	join_all(both, 2);
	bench_elapsed(r, begin);
}

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

static void ring(struct bench_run *r)
{
	sennit_time begin;
	pthread_t   all[RING];

	keep_cpus(r->workers);
	rounds = r->n / RING;
	for (unsigned i = 0; i < RING; i++)
		init(&tokens[i]);
	begin = sennit_now();
	for (unsigned i = 0; i < RING; i++)
		all[i] = launch(pass, &tokens[i]);
	set(&tokens[0]);
	join_all(all, RING);
	bench_elapsed(r, begin);
}

/* --- many waiters --------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t  gate = PTHREAD_COND_INITIALIZER;
static bool            is_open; /* under mutex */
static atomic_uint     arriving;
static pthread_t       many[FEW];

static void *block(void *unused)
{
	pthread_mutex_lock(&mutex);
	arriving--;
	while (!is_open)
		pthread_cond_wait(&gate, &mutex);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void block_and_wake(struct bench_run *r)
{
	uint64_t    before = bench_resident();
	sennit_time begin = sennit_now();

	keep_cpus(r->workers);
	arriving = (unsigned)r->n;
	for (uint64_t i = 0; i < r->n; i++)
		many[i] = launch(block, NULL);
	while (arriving)
		sched_yield();
	pthread_mutex_lock(&mutex);
	set_value(r, 0, sennit_now() - begin);
	report_memory(r, before);
	begin = sennit_now();
	is_open = true;
	pthread_cond_broadcast(&gate);
	pthread_mutex_unlock(&mutex);
	join_all(many, FEW);
	set_value(r, 1, sennit_now() - begin);
}

static void first_touch(struct bench_run *r)
{
	run_afresh(r, block_and_wake);
}

static uint64_t counter; /* under mutex */

static void *lock_and_unlock(void *unused)
{
	for (unsigned i = 0; i < LOCK_PAIRS; i++) {
		pthread_mutex_lock(&mutex);
		counter++;
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

static void contend(struct bench_run *r)
{
	sennit_time begin;
	pthread_t   all[LOCKERS];

	keep_cpus(r->workers);
	counter = 0;
	begin = sennit_now();
	for (unsigned i = 0; i < LOCKERS; i++)
		all[i] = launch(lock_and_unlock, NULL);
	join_all(all, LOCKERS);
	bench_elapsed(r, begin);
	bench_check(counter == r->n, "mutex: lost updates");
}

static uint64_t late[FEW];

static void *sleep_once(void *argument)
{
	uint64_t       *mine = argument;
	uint64_t        which = (uint64_t)(mine - late) * (SLEEPERS / FEW);
	sennit_time     due = sennit_after(delay_of(which));
	struct timespec t = { .tv_sec = (time_t)(due / SENNIT_SECOND),
			      .tv_nsec = (long)(due % SENNIT_SECOND) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		continue;
	*mine = sennit_now() - due;
	return NULL;
}

static void sleep_all(struct bench_run *r)
{
	uint64_t cpu;

	keep_cpus(r->workers);
	cpu = bench_cpu_ns();
	for (uint64_t i = 0; i < r->n; i++)
		many[i] = launch(sleep_once, &late[i]);
	join_all(many, FEW);
	report_sleeps(r, late, cpu);
}

/* --- from outside --------------------------------------------------------- */

static struct event bell;

static void *answer(void *unused)
{
	(void)unused;
	for (;;) {
		wait_for(&bell);
		ran_now();
	}
	return NULL;
}

static void ring_bell(void)
{
	set(&bell);
}

static void wakes(struct bench_run *r)
{
	static bool is_there;

	if (!is_there) {
		init(&bell);
		launch(answer, NULL);
		is_there = true;
	}
	sample_wakes(r, ring_bell);
}

/* clang-format off */
#define ROW(name, count, which, function)                                  \
	{ .names = { name "/pthreads" }, .n = (count), .workers = (which),  \
	  .run = (function) }
/* clang-format on */

const struct bench_row peer_rows[] = {
	ROW("W1-spawn", FEW, BENCH_EACH, spawn_flat),
	ROW("W4a-ping-pong", ACROSS / 10, BENCH_ONE, ping_pong),
	ROW("W4b-ping-pong", ACROSS / 20, BENCH_TWO, ping_pong),
	ROW("W5-ring", RING * 80, BENCH_EACH, ring),
	{ .names = { "W6a-block/pthreads/first-touch",
		     "W6c-wake/pthreads/first-touch",
		     "W6b-memory/pthreads/per-fiber" },
	  .n = FEW,
	  .workers = BENCH_EACH,
	  .run = first_touch },
	ROW("W7-mutex", LOCKERS *LOCK_PAIRS, BENCH_EACH, contend),
	{ .names = { "W8-sleep/pthreads/cpu", "W8-sleep/pthreads/late-p50",
		     "W8-sleep/pthreads/late-p99" },
	  .n = FEW,
	  .workers = BENCH_EACH,
	  .run = sleep_all },
	{ .names = { "W11b-wake-fiber/pthreads/p50",
		     "W11b-wake-fiber/pthreads/p99" },
	  .n = SAMPLES,
	  .workers = BENCH_TWO,
	  .run = wakes },
	{ .run = NULL },
};
