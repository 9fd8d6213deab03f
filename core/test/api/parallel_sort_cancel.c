/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_sort_cancel.c - nothing is lost when a sort is cancelled or late. */
#include "sort_input.h"

struct quitter {
	atomic_long  left; /* comparisons before the cancel */
	bool         lies; /* the comparison is inconsistent from then on */
	sennit_group g;
};

static int cancel_and_compare(const void *left, const void *right,
			      void *context)
{
	struct quitter *q = context;
	long            n = atomic_fetch_sub(&q->left, 1);

	if (n == 1)
		sennit_group_cancel(&q->g);
	if (q->lies && sennit_check_cancelled())
		return (int)(n % 7 * 3 % 5) - 2;
	return by_key(left, right, NULL);
}

static int sort_until_cancelled(void *argument)
{
	struct quitter               *q = argument;
	const sennit_parallel_options o = { .size = sizeof(o), .grain = 50 };
	unsigned char                *all = make(RANDOM, 4000);
	int err = sennit_parallel_sort(all, 4000, 8, cancel_and_compare, q,
				       NULL, &o, SENNIT_NEVER);

	expect_all_there(all, 4000);
	EXPECT(err == 0 || err == -ECANCELED);
	if (!err)
		expect_sorted(all, 4000);
	free(all);
	return err;
}

static void quit_midway(struct world *w, bool lies)
{
	size_now = 8;
	for (long left = 1; left < 60000; left += left / (lies ? 1 : 3) + 1) {
		struct quitter q = { .left = left, .lies = lies };

		sennit_group_init_on(&q.g, w->s, SENNIT_NEVER, 0);
		EXPECT(sennit_group_spawn(&q.g, sort_until_cancelled, &q) == 0);
		EXPECT(sennit_group_wait(&q.g) ==
		       (atomic_load(&q.left) > 0 ? 0 : -ECANCELED));
	}
}

static void cancel_midway(void *argument)
{
	quit_midway(argument, false);
}

TEST_WITH_WORKERS(cancelled_midway_it_has_lost_nothing)
{
	seed = random_stream(10);
	in_each_place_of(cancel_midway, w);
}

static void cancel_and_lie(void *argument)
{
	quit_midway(argument, true);
}

TEST_WITH_WORKERS(a_comparison_that_has_cancelled_may_say_anything)
{
	seed = random_stream(12);
	in_each_place_of(cancel_and_lie, w);
}

static void run_late(void *argument)
{
	sennit_parallel_options o = on(argument, 50);
	sennit_time             deadline;
	sennit_mutex            m = SENNIT_MUTEX_INIT;
	unsigned char          *all;

	size_now = 8;
	all = make(RANDOM, 4000);
	deadline = 1;
	EXPECT(sennit_parallel_sort(all, 4000, 8, by_key, NULL, NULL, &o,
				    deadline) == -ETIMEDOUT);
	expect_all_there(all, 4000);
	deadline = sennit_after(100 * SENNIT_MICROSECOND);
	EXPECT(sennit_parallel_sort(all, 4000, 8, by_key_waiting, &m, NULL, &o,
				    deadline) == -ETIMEDOUT);
	expect_all_there(all, 4000);
	deadline = sennit_after(GIVE_UP);
	EXPECT(sennit_parallel_sort(all, 4000, 8, by_key, NULL, NULL, &o,
				    deadline) == 0);
	free(all);
}

TEST_WITH_WORKERS(the_deadline_ends_it)
{
	seed = random_stream(11);
	in_each_place_of(run_late, w);
}
