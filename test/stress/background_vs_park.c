/* SPDX-License-Identifier: Apache-2.0 */
/* background_vs_park.c - background tasks that arrive while workers search,
 * fall asleep, wake, come and go: none of them waits for ever. */
#include "../api/with_workers.h"
#include "../random.h"

/* Long enough, at random, for a worker to be anywhere on its way to sleep. */
static void dawdle(uint64_t *random)
{
	const sennit_time end = sennit_now() + random_below(random, 40000);

	while (random_below(random, 8) && sennit_now() < end)
		;
}

static void raise_flag(void *flag)
{
	atomic_store((atomic_bool *)flag, true);
}

/* One task at a time: whoever sleeps through it keeps us here. */
static void bring_one_by_one(sennit_scheduler *s, unsigned count)
{
	uint64_t          random = random_stream(1);
	atomic_bool       flag;
	const sennit_task t = { .run = raise_flag,
				.argument = &flag,
				.flags = SENNIT_TASK_BACKGROUND };

	for (unsigned i = 0; i < count; i++) {
		atomic_init(&flag, false);
		EXPECT(sennit_enqueue(s, &t) == 0);
		EXPECT(SOON(atomic_load(&flag)));
		dawdle(&random);
	}
}

static void none_from_outside_waits_for_ever(void **state)
{
	struct world     *w = *state;
	sennit_scheduler *eager =
		start_with(SENNIT_CONFIG(.workers = w->workers,
					 .spin_ns = SENNIT_SPIN_NONE));

	bring_one_by_one(w->s, (unsigned)scaled(LOAD(2000)));
	bring_one_by_one(eager, (unsigned)scaled(LOAD(2000)));
	end_scheduler(eager);
}

/* Two background tasks at once that need each other: whoever takes the first
 * sees to it that somebody takes the second. */
struct pair {
	atomic_bool       here[2];
	atomic_uint       next;
	sennit_wait_group done;
};

static void meet(void *argument)
{
	struct pair      *p = argument;
	const unsigned    me = atomic_fetch_add(&p->next, 1);
	const sennit_time give_up = sennit_after(GIVE_UP);

	atomic_store(&p->here[me], true);
	while (!atomic_load(&p->here[!me]) && sennit_now() < give_up)
		sched_yield();
	EXPECT(atomic_load(&p->here[!me]));
	sennit_wait_group_done(&p->done);
}

static void two_that_come_together_run_together(void **state)
{
	const uint64_t    rounds = scaled(LOAD(1000));
	uint64_t          random = random_stream(2);
	struct pair       p;
	const sennit_task t = { .run = meet,
				.argument = &p,
				.flags = SENNIT_TASK_BACKGROUND };

	(void)state;
	for (uint64_t i = 0; i < rounds; i++) {
		memset(&p, 0, sizeof(p));
		sennit_wait_group_init(&p.done, 2);
		EXPECT(sennit_schedule_task(&t) == 0);
		EXPECT(sennit_schedule_task(&t) == 0);
		sennit_wait_group_wait(&p.done);
		dawdle(&random);
	}
}

/* --- everything at once ------------------------------------------------- */

struct life {
	atomic_uint made, ran;
};

static void live(void *argument)
{
	struct life *l = argument;
	uint64_t     random = random_stream(atomic_load(&l->made));
	uint32_t     n = random_below(&random, 16);

	for (; n > 12; n--) {
		const sennit_task t = { .run = live,
					.argument = l,
					.flags = n % 2 ? SENNIT_TASK_BACKGROUND
						       : 0 };

		atomic_fetch_add(&l->made, 1);
		EXPECT(sennit_schedule_task(&t) == 0);
	}
	if (n == 1)
		sennit_yield();
	if (n == 2)
		sennit_sleep(20 * SENNIT_MICROSECOND);
	atomic_fetch_add(&l->ran, 1);
}

static void live_and_end(uint32_t workers, uint64_t *random)
{
	sennit_scheduler *s = start_scheduler(workers);
	struct life       l = { .made = 0 };
	bool              resizes = workers != SENNIT_WORKERS_NONE;

	assert_int_equal(sennit_bind(s), 0);
	for (unsigned i = 0; i < 50; i++) {
		const sennit_task t = { .run = live,
					.argument = &l,
					.flags =
						random_below(random, 3)
							? SENNIT_TASK_BACKGROUND
							: 0 };

		atomic_fetch_add(&l.made, 1);
		EXPECT(sennit_schedule_task(&t) == 0);
		if (resizes && !random_below(random, 8))
			EXPECT(sennit_scheduler_set_workers(
				       s, 1 + random_below(random, workers)) ==
			       0);
		if (!random_below(random, 4))
			dawdle(random);
	}
	sennit_unbind();
	end_scheduler(s);
	assert_int_equal(atomic_load(&l.ran), atomic_load(&l.made));
}

static void none_is_left_when_a_scheduler_ends(void **state)
{
	const struct world *w = *state;
	uint64_t            random = random_stream(3);

	for (uint64_t i = scaled(LOAD(100)); i > 0; i--)
		live_and_end(w->workers, &random);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_THREADS(none_from_outside_waits_for_ever),
		WITH_SEVERAL(two_that_come_together_run_together),
		WITH_COUNTS(none_is_left_when_a_scheduler_ends),
	};

	(void)random_stream(0); /* chooses the seed while there is one thread */
	return random_report(cmocka_run_group_tests_name(
		"stress/background_vs_park", tests, NULL, NULL));
}
