/* SPDX-License-Identifier: Apache-2.0 */
/* wake_vs_unbind.c - a bound thread unbinds as soon as it has been woken. The
 * thread that woke it, alone or with others, must not access what the unbind
 * freed. */
#include "testing/with_workers.h"
#include "testing/random.h"

enum { THREADS = 3, SETTERS = 2 };

struct inn {
	sennit_scheduler       *s;
	_Atomic(sennit_event *) bells[SETTERS];
	atomic_uint             next;
	unsigned                stays;
};

static void ring(void *argument)
{
	sennit_event_set(argument);
}

/* An unbound thread that sets every event that it is given. */
static void *ring_bells(void *argument)
{
	_Atomic(sennit_event *) *bell = argument;
	sennit_event            *e;

	while ((e = atomic_exchange(bell, NULL)) != (void *)bell)
		if (e)
			sennit_event_set(e);
		else
			sched_yield();
	return NULL;
}

/* Let a task set the event, or a thread if there are no workers. */
static void have_it_rung(struct inn *inn, sennit_event *e, uint64_t *random)
{
	sennit_event *nobody = NULL;
	unsigned      which = random_below(random, SETTERS);

	if (random_below(random, 2) ||
	    !atomic_compare_exchange_strong(&inn->bells[which], &nobody, e))
		must_schedule(ring, e);
}

static void *stay_and_leave(void *argument)
{
	struct inn *inn = argument;
	uint64_t    random = random_stream(atomic_fetch_add(&inn->next, 1));

	for (unsigned i = 0; i < inn->stays; i++) {
		sennit_event e = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
		sennit_time  t = SENNIT_NEVER;

		if (random_below(&random, 4) == 0)
			t = sennit_after(100 * SENNIT_SECOND);
		EXPECT(sennit_thread_bind(inn->s) == 0);
		have_it_rung(inn, &e, &random);
		EXPECT(sennit_event_wait_until(&e, t) == 0);
		sennit_thread_unbind();
	}
	return NULL;
}

TEST_WITH_WORKERS(a_waker_outlives_the_binding_of_whom_it_woke)
{
	struct inn inn = { .s = w->s,
			   .next = 1,
			   .stays = (unsigned)scaled(LOAD(3000)) };
	pthread_t  threads[THREADS], setters[SETTERS];

	for (unsigned i = 0; i < SETTERS; i++)
		setters[i] = must_start_thread(ring_bells, &inn.bells[i]);
	for (unsigned i = 0; i < THREADS; i++)
		threads[i] = must_start_thread(stay_and_leave, &inn);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < SETTERS; i++) {
		atomic_store(&inn.bells[i], (void *)&inn.bells[i]);
		pthread_join(setters[i], NULL);
	}
}

/* --- many at once -------------------------------------------------------- */

/* The last one to arrive wakes the others: fibers of several bound threads, of
 * workers, and threads. */
struct meeting {
	sennit_scheduler *s;
	sennit_barrier    all;
	sennit_wait_group over;
	unsigned          rounds;
};

static void *meet_and_leave(void *argument)
{
	struct meeting *m = argument;

	for (unsigned i = 0; i < m->rounds; i++) {
		EXPECT(sennit_thread_bind(m->s) == 0);
		(void)sennit_barrier_wait(&m->all);
		sennit_thread_unbind();
	}
	return NULL;
}

static void *meet_unbound(void *argument)
{
	struct meeting *m = argument;

	for (unsigned i = 0; i < m->rounds; i++)
		(void)sennit_barrier_wait(&m->all);
	return NULL;
}

static void meet_as_task(void *argument)
{
	struct meeting *m = argument;

	(void)meet_unbound(m);
	sennit_wait_group_done(&m->over);
}

TEST_WITH_WORKERS(who_wakes_all_outlives_their_bindings)
{
	unsigned       tasks = w->threads ? 2 * w->threads : 0;
	struct meeting m = { .s = w->s, .rounds = (unsigned)scaled(LOAD(800)) };
	pthread_t      threads[THREADS + 1];
	unsigned       i;

	sennit_barrier_init(&m.all, THREADS + 1 + tasks);
	sennit_wait_group_init(&m.over, tasks);
	for (i = 0; i < tasks; i++)
		must_schedule(meet_as_task, &m);
	for (i = 0; i < THREADS; i++)
		threads[i] = must_start_thread(meet_and_leave, &m);
	threads[i] = must_start_thread(meet_unbound, &m);
	for (i = 0; i <= THREADS; i++)
		pthread_join(threads[i], NULL);
	sennit_wait_group_wait(&m.over);
}
