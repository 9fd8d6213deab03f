/* SPDX-License-Identifier: Apache-2.0 */
/* allocators.c - an allocator that lacks a function is refused wherever one is
 * accepted, and nothing changes. */
#include "testing/counting_allocator.h"
#include "testing/with_workers.h"
#include "sennit/dag.h"

#include <errno.h>

enum { LACKING = 3 };

static struct counting_allocator unused;

/* Each lacks a function. */
static const sennit_allocator lacking[LACKING] = {
	{ .context = &unused },
	{ .allocate = counting_take, .context = &unused },
	{ .release = counting_give, .context = &unused },
};

static bool is_untouched(const void *memory, size_t size)
{
	const unsigned char *bytes = memory;

	while (size--)
		if (bytes[size] != 0x77)
			return false;
	return true;
}

TEST_ALONE(a_channel_with_half_an_allocator_is_refused)
{
	const size_t   capacities[] = { 0, 3, SENNIT_CHANNEL_UNBOUNDED };
	sennit_channel c;
	unsigned       i, k;

	memset(&c, 0x77, sizeof(c));
	for (i = 0; i < LACKING; i++)
		for (k = 0; k < 3; k++)
			assert_int_equal(sennit_channel_init(&c, capacities[k],
							     sizeof(int),
							     &lacking[i]),
					 -EINVAL);
	assert_true(is_untouched(&c, sizeof(c)));
}

TEST_ALONE(a_pool_with_half_an_allocator_is_refused)
{
	sennit_pool p;
	unsigned    i, count;

	memset(&p, 0x77, sizeof(p));
	for (i = 0; i < LACKING; i++) {
		for (count = 0; count < 2; count++) {
			const sennit_pool_config config = {
				.size = sizeof(config),
				.item_size = 8,
				.count = count,
				.allocator = &lacking[i],
			};

			assert_int_equal(sennit_pool_init(&p, &config),
					 -EINVAL);
		}
	}
	assert_true(is_untouched(&p, sizeof(p)));
}

TEST_ALONE(a_dag_builder_with_half_an_allocator_is_refused)
{
	sennit_dag_builder b;

	memset(&b, 0x77, sizeof(b));
	for (unsigned i = 0; i < LACKING; i++)
		assert_int_equal(sennit_dag_builder_init(&b, &lacking[i]),
				 -EINVAL);
	assert_true(is_untouched(&b, sizeof(b)));
	assert_int_equal(sennit_dag_builder_init(&b, NULL), 0);
	sennit_dag_builder_destroy(&b);
}

TEST_ALONE(a_scheduler_with_half_an_allocator_is_refused)
{
	sennit_scheduler *s = (sennit_scheduler *)&unused;

	for (unsigned i = 0; i < LACKING; i++)
		assert_int_equal(
			sennit_scheduler_create(
				&s, SENNIT_CONFIG(.allocator = &lacking[i])),
			-EINVAL);
	assert_ptr_equal(s, &unused);
	assert_int_equal(atomic_load(&unused.calls), 0);
}
