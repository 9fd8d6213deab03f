/* SPDX-License-Identifier: Apache-2.0 */
/* schedule_releases_last_reference.c - a thread enqueues a task that releases
 * the reference through which the thread enqueues it. The scheduler may end
 * before the call has woken a worker, and the call must not be affected. */
#include "testing/with_workers.h"
#include "testing/random.h"

struct short_life {
	sennit_scheduler *s;
	sennit_event      ended;
	atomic_uint       ends;
	atomic_uint       ran;
};

static void note_end(void *argument)
{
	struct short_life *l = argument;

	atomic_fetch_add(&l->ends, 1);
	sennit_event_set(&l->ended);
}

static void release_the_last(void *argument)
{
	struct short_life *l = *(struct short_life **)argument;

	atomic_fetch_add(&l->ran, 1);
	sennit_scheduler_release(l->s);
}

/* The copy lies in the scheduler's memory, which is freed with it. */
static void enqueue_the_last(struct short_life *l)
{
	const sennit_task t = { .run = release_the_last,
				.argument = &l,
				.copy_size = sizeof(l) };

	EXPECT(sennit_schedule_task_on(l->s, &t) == 0);
}

static void *enqueue_as_thread(void *argument)
{
	enqueue_the_last(argument);
	return NULL;
}

/* The worker may then be asleep, about to sleep, or spinning. */
static void dawdle(uint64_t *random)
{
	const sennit_time end = sennit_now() + random_below(random, 60000);

	while (random_below(random, 4) && sennit_now() < end)
		;
}

static void live(uint32_t workers, uint64_t *random, bool as_thread)
{
	struct short_life l = { .s = NULL };

	l.s = start_with(SENNIT_CONFIG(.workers = workers,
				       .on_shutdown = note_end,
				       .on_shutdown_context = &l,
				       .spin_ns = random_below(random, 2)
							  ? SENNIT_SPIN_NONE
							  : 0));
	dawdle(random);
	if (as_thread) {
		pthread_t t = must_start_thread(enqueue_as_thread, &l);

		pthread_join(t, NULL);
	} else {
		enqueue_the_last(&l);
	}
	EXPECT(sennit_event_wait_until(&l.ended, sennit_after(GIVE_UP)) == 0);
	EXPECT(atomic_load(&l.ends) == 1);
	EXPECT(atomic_load(&l.ran) == 1);
}

TEST_ALONE(a_task_may_release_what_it_was_enqueued_by)
{
	uint64_t random = random_stream(1);
	uint64_t i;

	for (i = scaled(LOAD(1500)); i-- > 0 && !atomic_load(&broken_claims);)
		live(1 + random_below(&random, 3), &random,
		     random_below(&random, 4) == 0);
}

/* On a fiber of another scheduler, whose call counts as from outside, too. */
struct guest {
	uint64_t     random;
	unsigned     rounds;
	sennit_event done;
};

static void live_from_a_fiber(void *argument)
{
	struct guest *g = argument;

	for (; g->rounds && !atomic_load(&broken_claims); g->rounds--)
		live(1 + random_below(&g->random, 2), &g->random, false);
}

TEST_WITH_ONE(also_from_a_fiber_of_another_scheduler)
{
	struct guest g = { .random = random_stream(2),
			   .rounds = (unsigned)scaled(LOAD(500)) };

	in_a_task(live_from_a_fiber, &g);
}
