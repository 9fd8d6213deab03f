/* SPDX-License-Identifier: Apache-2.0 */
/* resources_changes.c - the budget, and what each scheduler may have of it, are
 * changed while tasks run. */
#include "budget.h"
#include "sennit/end.h"

#include <errno.h>

static bool settles_at(sennit_resources *r, uint32_t n)
{
	return told_by(r).active == n;
}

TEST_ALONE(the_budget_follows_while_tasks_run)
{
	static const uint32_t budgets[] = { 1, 3, 2, 4, 1, 2 };
	sennit_resources     *r = resources_of(4);
	sennit_scheduler     *s = start_with(SHARING(r, ));
	struct mill           m;

	start_mill(&m, s, turn, 4 * EACH);
	for (size_t i = 0; i < sizeof(budgets) / sizeof(*budgets); i++) {
		assert_int_equal(sennit_resources_set_cpus(r, budgets[i]), 0);
		assert_int_equal(told_by(r).cpus, budgets[i]);
		assert_soon(told_by(r).active <= budgets[i]);
		for (int look = 0; look < 100; look++)
			assert_true(told_by(r).active <= budgets[i]);
	}
	assert_int_equal(sennit_resources_set_cpus(r, EACH), 0);
	assert_soon(settles_at(r, EACH));
	stop_mill(&m);
	end_scheduler(s);
	give_back(r);
}

TEST_ALONE(a_larger_budget_needs_no_safe_point)
{
	sennit_resources *r = resources_of(1);
	sennit_scheduler *s = start_with(SHARING(r, ));
	struct grip       g;

	grip(&g, s, EACH);
	assert_soon(atomic_load(&g.there) == 1);
	for (uint32_t cpus = 2; cpus <= EACH; cpus++) {
		assert_int_equal(sennit_resources_set_cpus(r, cpus), 0);
		assert_soon(atomic_load(&g.there) == cpus);
	}
	let_go(&g);
	end_scheduler(s);
	give_back(r);
}

TEST_ALONE(a_share_follows_while_tasks_run)
{
	sennit_resources            *r = resources_of(3);
	sennit_scheduler            *a = start_with(SHARING(r, ));
	sennit_scheduler            *b = start_with(SHARING(r, ));
	const sennit_resources_share one = { .size = sizeof(one), .max = 1 };
	const sennit_resources_share first = { .size = sizeof(first),
					       .min = 2 };
	const sennit_resources_share all = { .size = sizeof(all),
					     .priority = 3 };
	struct mill                  m;
	struct grip                  g;

	start_mill(&m, a, turn, 4 * EACH);
	assert_soon(stats_of(a).active == 3);
	assert_int_equal(sennit_resources_set_share(a, &one), 0);
	assert_soon(stats_of(a).active <= 1);
	for (int look = 0; look < 100; look++)
		assert_true(stats_of(a).active <= 1);
	assert_int_equal(sennit_resources_set_share(a, &all), 0);
	assert_soon(stats_of(a).active == 3);
	assert_int_equal(sennit_resources_set_share(b, &first), 0);
	assert_int_equal(told_by(r).promised, 2);
	grip(&g, b, 2);
	assert_soon(atomic_load(&g.there) == 2);
	let_go(&g);
	stop_mill(&m);
	end_scheduler(a);
	end_scheduler(b);
	give_back(r);
}

TEST_ALONE(what_cannot_be_is_refused)
{
	sennit_resources *r = resources_of(2);
	sennit_scheduler *s = start_with(SHARING(r, .resources_min = 1));
	sennit_scheduler *alone = start_with(SENNIT_CONFIG(.workers = 1));
	const sennit_resources_share none = { .size = sizeof(none), .min = 0 };
	const sennit_resources_share much = { .size = sizeof(much), .min = 3 };
	const sennit_resources_share wrong = { .size = sizeof(wrong),
					       .min = 2,
					       .max = 1 };
	const sennit_resources_share beyond = { .size = sizeof(beyond),
						.min = EACH + 1 };
	const sennit_resources_share unknown = { .size = sizeof(unknown),
						 .reserved_ = 1 };
	const sennit_resources_share prior = {
		.size = sizeof(prior),
		.priority = SENNIT_RESOURCES_PRIORITY_MAX + 1
	};
	sennit_weak_scheduler *weak = sennit_scheduler_weak(s);

	assert_int_equal(sennit_resources_set_share(s, &much), -EAGAIN);
	assert_int_equal(sennit_resources_set_share(s, &wrong), -EINVAL);
	assert_int_equal(sennit_resources_set_share(s, &beyond), -EINVAL);
	assert_int_equal(sennit_resources_set_share(s, &prior), -EINVAL);
	assert_int_equal(sennit_resources_set_share(s, &unknown), -EINVAL);
	assert_int_equal(sennit_resources_set_share(alone, &none), -EINVAL);
	assert_int_equal(sennit_resources_set_cpus(r, SENNIT_WORKERS_MAX + 1),
			 -EINVAL);
	assert_int_equal(told_by(r).promised, 1);
	assert_int_equal(told_by(r).cpus, 2);
	end_scheduler(alone);
	end_scheduler(s);
	assert_int_equal(sennit_resources_set_share(s, &none), -ESHUTDOWN);
	sennit_weak_scheduler_release(weak);
	assert_int_equal(sennit_resources_set_cpus(r, 0), 0);
	assert_int_equal(told_by(r).cpus, sennit_cpu_count());
	sennit_resources_release(r);
}
