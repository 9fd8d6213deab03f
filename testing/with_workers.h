/* SPDX-License-Identifier: Apache-2.0 */
/* with_workers.h - runs a test without workers, and with one, two and eight.
 *
 *	TEST_WITH_WORKERS(f)   f_w0, f_w1, f_w2, f_w8; each gets a struct world
 *	                       *w with a fresh scheduler, to which the calling
 *	                       thread is bound
 *	TEST_WITH_THREADS(f)   only with one, two and eight
 *	TEST_WITH_SEVERAL(f)   only with two and eight
 *	TEST_WITH_ONE(f)       only with one
 *	TEST_WITHOUT(f)        only without workers
 *	TEST_WITH_COUNTS(f)    all four, but f itself creates what it needs;
 *	TEST_WITH_THREAD_COUNTS(f)  so, with one, two and eight
 *	TEST_ALONE(f)          f once, without a world
 *	TEST_IN_EACH_PLACE(f)  as TEST_WITH_WORKERS, but f gets void *world, and
 *	                       runs in each place (in_each_place below)
 *	TEST_IN_EACH_PLACE_OF(f)  so, where workers are (in_each_place_of)
 *
 * cmocka's assertions jump, so use them only on the test's own stack. Tasks and
 * other threads use EXPECT, which records the failure: the test then fails when
 * its world is closed. SIGALRM ends a test that hangs.
 */
#ifndef SN_TEST_WITH_WORKERS_H
#define SN_TEST_WITH_WORKERS_H

#include "test.h"

#include "base/compiler.h"
#include "sennit.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long the test waits for something that must happen. */
#define GIVE_UP (100 * SENNIT_SECOND)

/* Sanitizers limit what a test can do: gcc 12's ThreadSanitizer crashes with
 * more than about 8,000 fibers or threads. */
#if defined(SN_TSAN)
#define LOAD(n) ((n) > 400 ? (n) / 10 : (n))
#else
#define LOAD(n) (n)
#endif

struct world {
	uint32_t          workers; /* for sennit_config.workers */
	uint32_t          threads; /* resulting number of worker threads */
	sennit_scheduler *s;
};

/* --- failures on other stacks ------------------------------------------- */

static atomic_uint broken_claims;

static inline void expect_at(bool holds, const char *claim, const char *file,
			     int line)
{
	if (holds || atomic_fetch_add(&broken_claims, 1) >= 10)
		return;
	fprintf(stderr, "%s:%d: expected: %s\n", file, line, claim);
}

#define EXPECT(claim) expect_at((claim), #claim, __FILE__, __LINE__)

/* --- time limits -------------------------------------------------------- */

/* How much of the time between two looks counts: see count_pause. */
#define PAUSE_MAX (4 * SENNIT_MILLISECOND)

/* Let other threads run, every sixteenth time: on a loaded machine they keep
 * the CPU for long, and a fiber that yields may have let only one task run.
 * *spent grows by the time since `begin`, except for the time that the process
 * was stopped or another process had the CPU, because nothing could happen
 * then. */
static inline bool count_pause(sennit_time *spent, sennit_time begin)
{
	static _Thread_local unsigned looks;
	sennit_time                   took;

	if (looks++ % 16 == 0)
		sched_yield();
	took = sennit_now() - begin;
	*spent += took < PAUSE_MAX ? took : PAUSE_MAX;
	return *spent < GIVE_UP;
}

/* Whether the claim becomes true while this fiber yields. The time that the
 * claim takes counts, too: it may write a file. */
#define SOON(claim)                                                    \
	__extension__({                                                \
		sennit_time spent_ = 0, begin_ = sennit_now();         \
		bool        held_;                                     \
		while (!(held_ = (claim)) &&                           \
		       (sennit_yield(), count_pause(&spent_, begin_))) \
			begin_ = sennit_now();                         \
		held_;                                                 \
	})

#define assert_soon(claim)                                \
	do {                                              \
		if (!SOON(claim))                         \
			fail_msg("not soon: %s", #claim); \
	} while (0)

#define EXPECT_SOON(claim) expect_at(SOON(claim), #claim, __FILE__, __LINE__)

/* --- worlds ------------------------------------------------------------- */

static inline sennit_scheduler *start_with(const sennit_config *config)
{
	sennit_scheduler *s = NULL;

	assert_int_equal(sennit_scheduler_create(&s, config), 0);
	assert_non_null(s);
	return s;
}

static inline sennit_scheduler *start_scheduler(uint32_t workers)
{
	return start_with(SENNIT_CONFIG(.workers = workers));
}

static inline void end_scheduler(sennit_scheduler *s)
{
	const sennit_time give_up = sennit_after(GIVE_UP);

	assert_int_equal(sennit_scheduler_shutdown(s, give_up), 0);
}

/* Bind the caller to another scheduler for a while. */
static inline sennit_scheduler *move_to(const sennit_config *config)
{
	sennit_scheduler *s = start_with(config);

	sennit_thread_unbind();
	assert_int_equal(sennit_thread_bind(s), 0);
	return s;
}

/* End that scheduler, and bind the caller to the world's again. */
static inline void move_back(const struct world *w, sennit_scheduler *s)
{
	sennit_thread_unbind();
	end_scheduler(s);
	assert_int_equal(sennit_thread_bind(w->s), 0);
}

static inline int open_count(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w)
		return -1;
	w->workers = *(const uint32_t *)*state;
	w->threads = w->workers == SENNIT_WORKERS_NONE ? 0 : w->workers;
	*state = w;
	atomic_store(&broken_claims, 0);
	alarm(300);
	return 0;
}

static inline int close_count(void **state)
{
	free(*state);
	alarm(0);
	return atomic_load(&broken_claims) ? -1 : 0;
}

static inline int open_world(void **state)
{
	struct world *w;

	if (open_count(state))
		return -1;
	w = *state;
	w->s = start_scheduler(w->workers);
	return sennit_thread_bind(w->s);
}

static inline int close_world(void **state)
{
	struct world *w = *state;

	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(w->s, sennit_after(GIVE_UP)))
		return -1;
	return close_count(state);
}

static const uint32_t worker_counts[] = { SENNIT_WORKERS_NONE, 1, 2, 8 };

/* f_<suffix>, between these two, with the workers of this index. */
#define IN_WORLD(f, suffix, open, close, i)                  \
	{                                                    \
#f suffix, f##_case, open, close,            \
			(void *)(uintptr_t)&worker_counts[i] \
	}
#define WITHOUT(f, open, close)  IN_WORLD(f, "_w0", open, close, 0)
#define WITH_ONE(f, open, close) IN_WORLD(f, "_w1", open, close, 1)
#define WITH_SEVERAL(f, open, close) \
	IN_WORLD(f, "_w2", open, close, 2), IN_WORLD(f, "_w8", open, close, 3)
#define WITH_THREADS(f, open, close) \
	WITH_ONE(f, open, close), WITH_SEVERAL(f, open, close)
#define WITH_WORKERS(f, open, close) \
	WITHOUT(f, open, close), WITH_THREADS(f, open, close)

#define TEST_IN_WORLDS(f, ...) TEST_ENTRIES(f, struct world *w, __VA_ARGS__)

#define TEST_WITH_WORKERS(f) \
	TEST_IN_WORLDS(f, WITH_WORKERS(f, open_world, close_world))
#define TEST_WITH_THREADS(f) \
	TEST_IN_WORLDS(f, WITH_THREADS(f, open_world, close_world))
#define TEST_WITH_SEVERAL(f) \
	TEST_IN_WORLDS(f, WITH_SEVERAL(f, open_world, close_world))
#define TEST_WITH_ONE(f) TEST_IN_WORLDS(f, WITH_ONE(f, open_world, close_world))
#define TEST_WITHOUT(f)  TEST_IN_WORLDS(f, WITHOUT(f, open_world, close_world))
#define TEST_WITH_COUNTS(f) \
	TEST_IN_WORLDS(f, WITH_WORKERS(f, open_count, close_count))
#define TEST_WITH_THREAD_COUNTS(f) \
	TEST_IN_WORLDS(f, WITH_THREADS(f, open_count, close_count))
#define TEST_ALONE(f) \
	TEST_IN_WORLDS(f, IN_WORLD(f, "", open_count, close_count, 0))

/* --- tasks and threads -------------------------------------------------- */

static inline void must_schedule(sennit_task_fn *run, void *argument)
{
	EXPECT(sennit_schedule(run, argument) == 0);
}

/* Schedule run on the calling worker. */
static inline void must_schedule_here(sennit_task_fn *run, void *argument)
{
	const sennit_task t = { .run = run,
				.argument = argument,
				.flags = SENNIT_TASK_SAME_THREAD };

	EXPECT(sennit_schedule_task(&t) == 0);
}

struct errand {
	void (*run)(void *argument);
	void             *argument;
	sennit_wait_group done;
};

static inline void run_errand(void *argument)
{
	struct errand *e = argument;

	e->run(e->argument);
	sennit_wait_group_done(&e->done);
}

/* Run run(argument) as a task and wait for it. */
static inline void in_a_task(sennit_task_fn *run, void *argument)
{
	struct errand e = { .run = run, .argument = argument };

	sennit_wait_group_init(&e.done, 1);
	must_schedule(run_errand, &e);
	sennit_wait_group_wait(&e.done);
}

static inline pthread_t must_start_thread(void *(*run)(void *), void *argument)
{
	pthread_t t;

	if (pthread_create(&t, NULL, run, argument)) {
		fprintf(stderr, "no thread to be had\n");
		abort();
	}
	return t;
}

struct thread_task {
	sennit_task_fn *run;
	void           *argument;
};

static inline void *run_thread_task(void *task)
{
	const struct thread_task t = *(struct thread_task *)task;

	free(task);
	t.run(t.argument);
	return NULL;
}

/* Start an unbound thread for what else is a task. */
static inline pthread_t start_on_thread(sennit_task_fn *run, void *argument)
{
	struct thread_task *t = malloc(sizeof(*t));

	if (!t)
		abort();
	*t = (struct thread_task){ run, argument };
	return must_start_thread(run_thread_task, t);
}

/* Run run(argument) on an unbound thread. The caller waits as a bound thread or
 * fiber does. */
static inline void in_a_thread(sennit_task_fn *run, void *argument)
{
	struct errand e = { .run = run, .argument = argument };
	pthread_t     t;

	sennit_wait_group_init(&e.done, 1);
	t = start_on_thread(run_errand, &e);
	sennit_wait_group_wait(&e.done);
	pthread_join(t, NULL);
}

/* Run run(argument) three times: on the bound thread's own stack, as a task,
 * and on an unbound thread. */
static inline void in_each_place(sennit_task_fn *run, void *argument)
{
	run(argument);
	in_a_task(run, argument);
	in_a_thread(run, argument);
}

/* The same with run(w), but on an unbound thread only if there are workers to
 * run its tasks. */
static inline void in_each_place_of(sennit_task_fn *run, struct world *w)
{
	run(w);
	in_a_task(run, w);
	if (w->threads)
		in_a_thread(run, w);
}

#define TEST_IN_PLACES(f, in_places)        \
	static void f##_there(void *world); \
	TEST_WITH_WORKERS(f)                \
	{                                   \
		in_places(f##_there, w);    \
	}                                   \
	static void f##_there(__attribute__((unused)) void *world)
#define TEST_IN_EACH_PLACE(f)    TEST_IN_PLACES(f, in_each_place)
#define TEST_IN_EACH_PLACE_OF(f) TEST_IN_PLACES(f, in_each_place_of)

static inline sennit_stats stats_of(sennit_scheduler *s)
{
	sennit_stats stats = { .size = sizeof(stats) };

	sennit_scheduler_get_stats(s, &stats);
	return stats;
}

/* The number of fibers of *s that are blocked (or about to resume). */
static inline uint64_t fibers_of(sennit_scheduler *s)
{
	return stats_of(s).fibers;
}

#endif
