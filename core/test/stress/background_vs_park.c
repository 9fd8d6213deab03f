/* SPDX-License-Identifier: Apache-2.0 */
/* background_vs_park.c - background tasks arrive while workers search, fall
 * asleep, wake, start and retire: none of the tasks waits for ever. */
#include "../api/rendezvous.h"
#include "testing/with_workers.h"
#include "testing/random.h"
#include "bringing.h"

TEST_WITH_THREADS(none_from_outside_waits_for_ever)
{
	bring_to_all(w, (unsigned)scaled(LOAD(2000)), SENNIT_TASK_BACKGROUND);
}

/* Two background tasks arrive at once and need each other: the worker that
 * takes the first must let another take the second. */
TEST_WITH_SEVERAL(two_that_come_together_run_together)
{
	const uint64_t    rounds = scaled(LOAD(1000));
	uint64_t          random = random_stream(2);
	struct rendezvous r;
	const sennit_task t = { .run = meet,
				.argument = &r,
				.flags = SENNIT_TASK_BACKGROUND };

	for (uint64_t i = 0; i < rounds; i++) {
		prepare_rendezvous(&r, 2);
		EXPECT(sennit_schedule_task(&t) == 0);
		EXPECT(sennit_schedule_task(&t) == 0);
		sennit_wait_group_wait(&r.done);
		dawdle(&random);
	}
}

/* --- combined ----------------------------------------------------------- */

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

	assert_int_equal(sennit_thread_bind(s), 0);
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
	sennit_thread_unbind();
	end_scheduler(s);
	assert_int_equal(atomic_load(&l.ran), atomic_load(&l.made));
}

TEST_WITH_COUNTS(none_is_left_when_a_scheduler_ends)
{
	uint64_t random = random_stream(3);

	for (uint64_t i = scaled(LOAD(100)); i > 0; i--)
		live_and_end(w->workers, &random);
}
