/* SPDX-License-Identifier: Apache-2.0 */
/* create_use_release.c - short-lived schedulers that are released from anywhere
 * while their tasks run, block and steal. Each must end once, with all its work
 * done. */
#include "testing/with_workers.h"
#include "testing/random.h"

enum release { BY_SHUTDOWN, BY_CREATOR, BY_TASK, BY_BOUND, BY_THREAD };

struct life {
	sennit_scheduler *s;
	sennit_event      ended;
	atomic_uint       ends;
	atomic_uint       ran;
	unsigned          tasks;
	uint64_t          random;
	sennit_event      go;
};

static void note_end(void *argument)
{
	struct life *l = argument;

	atomic_fetch_add(&l->ends, 1);
	sennit_event_set(&l->ended);
}

static void just_run(void *argument)
{
	atomic_fetch_add(&((struct life *)argument)->ran, 1);
}

static void sleep_and_run(void *argument)
{
	sennit_sleep(1);
	just_run(argument);
}

static void spread_and_run(void *argument)
{
	must_schedule(just_run, argument);
	sennit_yield();
	must_schedule(sleep_and_run, argument);
}

static void wait_and_run(void *argument)
{
	struct life *l = argument;

	EXPECT(!sennit_event_wait(&l->go));
	just_run(l);
}

static void release_it(void *argument)
{
	struct life *l = argument;

	sennit_scheduler_release(l->s);
}

static void enqueue(struct life *l, sennit_task_fn *run)
{
	const sennit_task t = { .run = run, .argument = l };

	EXPECT(sennit_schedule_task_on(l->s, &t) == 0);
}

static void enqueue_some(struct life *l)
{
	static sennit_task_fn *const runs[] = { just_run, sleep_and_run,
						spread_and_run, wait_and_run };
	unsigned                     n = random_below(&l->random, 60);

	for (; n; n--) {
		const unsigned which = random_below(&l->random, 4);

		enqueue(l, runs[which]);
		l->tasks += which == 2 ? 2 : 1;
	}
}

/* Release the creator's reference in one of several ways. */
static void release(struct life *l, enum release by)
{
	sennit_scheduler *s = l->s;

	if (by == BY_SHUTDOWN)
		EXPECT(sennit_scheduler_shutdown(s, sennit_after(GIVE_UP)) ==
		       0);
	else if (by == BY_TASK)
		enqueue(l, release_it);
	else
		release_it(l);
}

/* As a bound thread: all work is scheduled and the reference released before it
 * unbinds. */
static void live_bound(struct life *l, enum release by)
{
	EXPECT(sennit_thread_bind(l->s) == 0);
	enqueue_some(l);
	sennit_event_set(&l->go);
	if (by == BY_TASK || by == BY_BOUND)
		release(l, by);
	sennit_thread_unbind();
	if (by == BY_SHUTDOWN || by == BY_CREATOR)
		release(l, by);
}

static void live_unbound(struct life *l, enum release by)
{
	enqueue_some(l);
	if (by == BY_SHUTDOWN) {
		sennit_event_set(&l->go);
		release(l, by);
		return;
	}
	release(l, by);
	sennit_event_set(&l->go); /* this may wake the last fibers */
}

static void live(uint32_t workers, uint64_t *random)
{
	const enum release by = (enum release)random_below(random, 5);
	struct life        l = { .random = random_from(random) };
	pthread_t          t;
	bool               bound;

	sennit_event_init(&l.go, SENNIT_EVENT_MANUAL);
	l.s = start_with(SENNIT_CONFIG(.workers = workers,
				       .on_shutdown = note_end,
				       .on_shutdown_context = &l));
	if (by == BY_THREAD)
		sennit_scheduler_retain(l.s);
	bound = workers == SENNIT_WORKERS_NONE || by == BY_BOUND ||
		random_below(random, 2);
	if (bound)
		live_bound(&l, by == BY_THREAD ? BY_CREATOR : by);
	else
		live_unbound(&l, by == BY_THREAD ? BY_CREATOR : by);
	if (by == BY_THREAD) {
		t = start_on_thread(release_it, &l);
		pthread_join(t, NULL);
	}
	EXPECT(sennit_event_wait_until(&l.ended, sennit_after(GIVE_UP)) == 0);
	EXPECT(atomic_load(&l.ends) == 1);
	EXPECT(atomic_load(&l.ran) == l.tasks);
}

TEST_ALONE(every_scheduler_ends_once_with_its_work_done)
{
	static const uint32_t counts[] = { SENNIT_WORKERS_NONE, 1, 2, 3, 8 };
	uint64_t              random = random_stream(1);
	uint64_t              i;

	for (i = scaled(LOAD(1000)); i-- > 0 && !atomic_load(&broken_claims);)
		live(counts[random_below(&random, 5)], &random);
}
