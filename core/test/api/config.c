/* SPDX-License-Identifier: Apache-2.0 */
/* config.c - what create accepts and refuses. */
#include "testing/with_workers.h"

#include <errno.h>

/* An error must leave the output unchanged. */
static int refusal(const sennit_config *config)
{
	sennit_scheduler *untouched = (sennit_scheduler *)(uintptr_t)64;
	sennit_scheduler *s = untouched;
	const int         err = sennit_scheduler_create(&s, config);
	const char       *field = "none";

	assert_int_equal(sennit_config_check(config, &field),
			 err == -EINVAL || err == -E2BIG ? err : 0);
	assert_true(!strcmp(field, "none") ==
		    (err != -EINVAL && err != -E2BIG));

	if (err == 0)
		end_scheduler(s);
	else
		assert_ptr_equal(s, untouched);
	return err;
}

#define assert_refused(...) \
	assert_int_equal(refusal(SENNIT_CONFIG(__VA_ARGS__)), -EINVAL)

#define assert_accepted(...) \
	assert_int_equal(refusal(SENNIT_CONFIG(__VA_ARGS__)), 0)

/* --- values ------------------------------------------------------------- */

TEST_ALONE(values_out_of_range_are_refused)
{
	assert_refused(.workers = SENNIT_WORKERS_MAX + 1);
	assert_refused(.workers = SENNIT_WORKERS_NONE - 1);
	assert_refused(.workers = 1, .placement = SENNIT_PLACEMENT_SPREAD + 1);
	assert_refused(.workers = 1, .placement = UINT32_MAX);
	assert_refused(.workers = 1, .order = SENNIT_ORDER_OLDEST + 1);
	assert_refused(.workers = 1, .order = UINT32_MAX);
	assert_refused(.workers = 1, .affinity = SENNIT_AFFINITY_DISJOINT + 1);
	assert_refused(.workers = 1, .affinity = UINT32_MAX);
	assert_refused(.workers = 1, .start = SENNIT_START_LAZY + 1);
	assert_refused(.workers = 1, .start = UINT32_MAX);
	assert_refused(.workers = 2, .max_workers = 1);
	assert_refused(.workers = 1, .max_workers = SENNIT_WORKERS_MAX + 1);
	assert_refused(.workers = SENNIT_WORKERS_NONE, .max_workers = 1);
	assert_refused(.workers = 1, .min_workers = SENNIT_WORKERS_MAX + 1);
	assert_refused(.workers = 1, .max_workers = 8, .max_fibers = 7);
	assert_refused(.workers = 1, .fp = SENNIT_FP_SHARED + 1);
	assert_refused(.workers = 1, .overflow = SENNIT_OVERFLOW_SILENT + 1);
	assert_refused(.workers = 1, .measure_stacks = 2);
	assert_refused(.workers = 1, .guards = SENNIT_GUARDS_OPTIONAL + 1);
}

static void expect_fault(const sennit_config *config, const char *expected)
{
	const char *field = NULL;

	assert_int_equal(sennit_config_check(config, &field), -EINVAL);
	assert_string_equal(field, expected);
	assert_int_equal(sennit_config_check(config, NULL), -EINVAL);
}

TEST_ALONE(a_refused_config_names_the_field)
{
	const sennit_allocator none = { NULL, NULL, NULL };
	const sennit_cpu_mask  empty = { NULL, 0 };
	const char            *field = NULL;

	assert_int_equal(sennit_config_check(NULL, &field), 0);
	assert_null(field);
	expect_fault(&(const sennit_config){ .size = 1 }, "size");
	expect_fault(SENNIT_CONFIG(.workers = SENNIT_WORKERS_MAX + 1),
		     "workers");
	expect_fault(SENNIT_CONFIG(.max_workers = SENNIT_WORKERS_MAX + 1),
		     "max_workers");
	expect_fault(SENNIT_CONFIG(.workers = 2, .max_workers = 1),
		     "max_workers");
	expect_fault(SENNIT_CONFIG(.stack_size = 1), "stack_size");
	expect_fault(SENNIT_CONFIG(.trace_events = UINT32_MAX), "trace_events");
	expect_fault(SENNIT_CONFIG(.placement = 9), "placement");
	expect_fault(SENNIT_CONFIG(.order = 9), "order");
	expect_fault(SENNIT_CONFIG(.start = 9), "start");
	expect_fault(SENNIT_CONFIG(.fp = 9), "fp");
	expect_fault(SENNIT_CONFIG(.overflow = 9), "overflow");
	expect_fault(SENNIT_CONFIG(.measure_stacks = 2), "measure_stacks");
	expect_fault(SENNIT_CONFIG(.guards = 2), "guards");
	expect_fault(SENNIT_CONFIG(.allocator = &none), "allocator");
	expect_fault(SENNIT_CONFIG(.affinity = 9), "affinity");
	expect_fault(SENNIT_CONFIG(.mask_count = 1), "mask_count");
	expect_fault(SENNIT_CONFIG(.masks = &empty), "masks");
	expect_fault(SENNIT_CONFIG(.affinity = SENNIT_AFFINITY_ANY_OF,
				   .masks = &empty, .mask_count = 1),
		     "masks");
	expect_fault(SENNIT_CONFIG(.workers = 4, .max_fibers = 3),
		     "max_fibers");
}

TEST_ALONE(a_stack_too_large_to_count_is_refused)
{
	const int err =
		refusal(SENNIT_CONFIG(.workers = 1, .stack_size = SIZE_MAX));

	assert_true(err == -EINVAL || err == -ENOMEM);
}

TEST_ALONE(masks_that_make_no_sense_are_refused)
{
	const uint32_t        cpu = 0;
	const sennit_cpu_mask empty = { &cpu, 0 };
	const sennit_cpu_mask absent = { NULL, 1 };

	assert_refused(.workers = 1, .affinity = SENNIT_AFFINITY_MASKS);
	assert_refused(.workers = 1, .affinity = SENNIT_AFFINITY_MASKS,
		       .masks = &empty, .mask_count = 0);
	assert_refused(.workers = 1, .affinity = SENNIT_AFFINITY_MASKS,
		       .masks = &empty, .mask_count = 1);
	assert_refused(.workers = 1, .affinity = SENNIT_AFFINITY_ANY_OF,
		       .masks = &empty, .mask_count = 1);
	assert_refused(.workers = 1, .affinity = SENNIT_AFFINITY_ONE_OF,
		       .masks = &absent, .mask_count = 1);
}

TEST_ALONE(an_allocator_needs_both_functions)
{
	const sennit_allocator none = { .allocate = NULL };

	assert_refused(.workers = 1, .allocator = &none);
}

TEST_WITH_COUNTS(every_named_value_is_accepted)
{
	assert_accepted(.workers = w->workers,
			.placement = SENNIT_PLACEMENT_LOCAL,
			.order = SENNIT_ORDER_NEWEST,
			.spin_ns = SENNIT_SPIN_NONE);
	assert_accepted(.workers = w->workers,
			.placement = SENNIT_PLACEMENT_SPREAD,
			.order = SENNIT_ORDER_OLDEST, .spin_ns = 1);
	assert_accepted(.workers = w->workers, .stack_size = 16384);
	assert_accepted(.workers = w->workers, .stack_size = 16385);
	assert_accepted(.workers = w->workers, .stack_size = 1 << 20);
	assert_accepted(.workers = w->workers, .trace_events = 1);
	assert_accepted(.workers = w->workers, .max_blocking_threads = 1,
			.blocking_idle_ms = 1);
	assert_accepted(.workers = w->workers,
			.max_blocking_threads = UINT32_MAX,
			.blocking_idle_ms = UINT32_MAX);
	assert_accepted(.workers = w->workers, .start = SENNIT_START_NOW);
	assert_accepted(.workers = w->workers, .start = SENNIT_START_LAZY);
	assert_accepted(.workers = 0, .max_workers = 1);
	assert_accepted(.workers = w->workers, .retire_ms = UINT32_MAX,
			.min_workers = SENNIT_WORKERS_MAX);
	assert_accepted(.workers = w->workers, .max_fibers = 1000000);
}

TEST_WITH_COUNTS(the_number_of_workers_is_what_was_asked_for)
{
	sennit_scheduler *s = start_scheduler(w->workers);

	assert_int_equal(sennit_scheduler_workers(s), w->threads);
	end_scheduler(s);
}

TEST_ALONE(there_may_be_very_many_workers)
{
	const uint32_t    many = LOAD(SENNIT_WORKERS_MAX);
	sennit_scheduler *s = start_scheduler(many);

	assert_int_equal(sennit_scheduler_workers(s), many);
	end_scheduler(s);
}

/* --- older and newer callers -------------------------------------------- */

TEST_ALONE(a_size_that_cannot_be_is_refused)
{
	sennit_config c = { .workers = 1 };

	for (c.size = 0; c.size <= sizeof(size_t); c.size++)
		assert_int_equal(refusal(&c), -EINVAL);
}

/* There are no smaller configs until a second release adds fields. */
TEST_ALONE(smaller_than_the_first_releases_is_refused)
{
	sennit_config c = { .size = offsetof(sennit_config, on_shutdown),
			    .workers = 1 };

	assert_int_equal(refusal(&c), -EINVAL);
}

struct newer_config {
	sennit_config known;
	char          later[100];
};

TEST_ALONE(a_newer_larger_struct_is_accepted_if_unused)
{
	struct newer_config c = { .known = { .size = sizeof(c),
					     .workers = 1 } };

	assert_int_equal(refusal(&c.known), 0);
}

TEST_ALONE(a_newer_larger_struct_is_refused_if_used)
{
	struct newer_config c = { .known = { .size = sizeof(c),
					     .workers = 1 } };

	for (size_t i = 0; i < sizeof(c.later); i++) {
		c.later[i] = 1;
		assert_int_equal(refusal(&c.known), -E2BIG);
		c.later[i] = 0;
	}
}
