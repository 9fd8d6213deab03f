/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_masks.c - the copy of the masks outlives the caller's masks, in one
 * block. */
#include "sched/cpu_masks.h"
#include "sched/state.h"

#include "base/memory.h"
#include "os/os.h"

#include <errno.h>
#include "testing/test.h"

TEST(masks_of_the_caller_are_needed_no_more)
{
	uint32_t         cpus[] = { 7, 3, 5 };
	sennit_cpu_mask  from[] = { { &cpus[0], 1 }, { &cpus[1], 2 } };
	struct cpu_masks m = { 0 };

	assert_int_equal(sn_cpu_masks_copy(&m, &sn_memory_libc, from, 2), 0);
	cpus[0] = cpus[1] = cpus[2] = 0;
	from[0].count = from[1].count = 0;
	assert_int_equal(sn_cpu_masks_get(&m, 0).count, 1);
	assert_int_equal(sn_cpu_masks_get(&m, 0).cpus[0], 7);
	assert_int_equal(sn_cpu_masks_get(&m, 3).count, 2); /* 3 modulo 2
							     * masks */
	assert_int_equal(sn_cpu_masks_get(&m, 3).cpus[1], 5);
	sn_cpu_masks_free(&m, &sn_memory_libc);
}

TEST(cpus_of_all_masks_lie_one_behind_the_other)
{
	const uint32_t         cpus[] = { 7, 3, 5 };
	const sennit_cpu_mask  from[] = { { &cpus[0], 1 }, { &cpus[1], 2 } };
	const struct cpu_masks none = { 0 };
	struct cpu_masks       m = { 0 };
	sennit_cpu_mask        all;

	assert_int_equal(sn_cpu_masks_copy(&m, &sn_memory_libc, from, 2), 0);
	all = sn_cpu_masks_all(&m);
	assert_int_equal(all.count, 3);
	assert_memory_equal(all.cpus, cpus, sizeof(cpus));
	assert_int_equal(sn_cpu_masks_all(&none).count, 0);
	sn_cpu_masks_free(&m, &sn_memory_libc);
}

TEST(no_mask_is_one_of_all_cpus)
{
	struct cpu_masks m = { 0 };

	assert_int_equal(sn_cpu_masks_copy(&m, &sn_memory_libc, NULL, 0), 0);
	assert_int_equal(sn_cpu_masks_get(&m, 0).count, os_cpu_list(NULL, 0));
	sn_cpu_masks_free(&m, &sn_memory_libc);
}

TEST(more_cpus_than_memory_are_refused)
{
	const uint32_t        cpu = 0;
	const sennit_cpu_mask much[] = { { &cpu, SIZE_MAX / 2 + 1 },
					 { &cpu, SIZE_MAX / 2 + 1 } };
	struct cpu_masks      m = { 0 };

	assert_int_equal(sn_cpu_masks_copy(&m, &sn_memory_libc, much, 2),
			 -ENOMEM); /* the sum wraps */
	assert_int_equal(sn_cpu_masks_copy(&m, &sn_memory_libc, much, 1),
			 -ENOMEM); /* the number of bytes would wrap */
	assert_null(m.masks);
}
