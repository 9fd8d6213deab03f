/* SPDX-License-Identifier: Apache-2.0 */
/* park_vs_wake.c - work arrives while workers search, announce their sleep,
 * fall asleep or wake: none of it waits for ever, wherever it comes from. */
#include "testing/with_workers.h"
#include "testing/random.h"
#include "bringing.h"

TEST_WITH_THREADS(tasks_from_outside_never_wait_for_ever)
{
	bring_to_all(w, (unsigned)scaled(LOAD(4000)), 0);
}

/* A task creates work for others and stays busy until that work is done. */
struct pair {
	atomic_bool done;
	uint64_t    random;
	unsigned    rounds;
};

static void wait_busily(void *argument)
{
	struct pair *p = argument;

	for (unsigned i = 0; i < p->rounds; i++) {
		sennit_time give_up = sennit_after(GIVE_UP);

		atomic_store(&p->done, false);
		must_schedule(raise_flag, &p->done);
		while (!atomic_load(&p->done) && sennit_now() < give_up)
			sched_yield();
		EXPECT(atomic_load(&p->done));
		dawdle(&p->random);
	}
}

TEST_WITH_SEVERAL(own_tasks_are_stolen_from_who_stays_busy)
{
	struct pair p = { .random = random_stream(2),
			  .rounds = (unsigned)scaled(LOAD(3000)) };

	in_a_task(wait_busily, &p);
}

/* The same for calls of fork_join.h, which look for sleepers themselves. */
TEST_WITH_SEVERAL(own_calls_are_stolen_from_who_stays_busy)
{
	in_a_task(run_thefts, NULL);
}

/* Two fibers that wake each other, on any workers. */
struct rendezvous {
	sennit_event      ball[2];
	sennit_wait_group done;
	unsigned          rounds;
	atomic_uint       next;
};

static void play(void *argument)
{
	struct rendezvous *r = argument;
	const unsigned     me = atomic_fetch_add(&r->next, 1);
	uint64_t           random = random_stream(10 + me);

	for (unsigned i = 0; i < r->rounds; i++) {
		EXPECT(!sennit_event_wait(&r->ball[me]));
		dawdle(&random);
		sennit_event_set(&r->ball[!me]);
	}
	sennit_wait_group_done(&r->done);
}

static void hold_one_rendezvous(bool with_thread)
{
	struct rendezvous r = { .rounds = (unsigned)scaled(LOAD(2000)) };

	sennit_event_init(&r.ball[0], SENNIT_EVENT_AUTO | SENNIT_EVENT_SET);
	sennit_event_init(&r.ball[1], SENNIT_EVENT_AUTO);
	sennit_wait_group_init(&r.done, 2);
	must_schedule(play, &r);
	if (with_thread)
		in_a_thread(play, &r);
	else
		must_schedule(play, &r);
	sennit_wait_group_wait(&r.done);
}

TEST_WITH_WORKERS(fibers_that_wake_each_other_never_wait_for_ever)
{
	hold_one_rendezvous(false);
}

TEST_WITH_WORKERS(a_fiber_and_a_thread_wake_each_other)
{
	hold_one_rendezvous(true);
}
