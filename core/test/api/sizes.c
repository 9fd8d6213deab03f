/* SPDX-License-Identifier: Apache-2.0 */
/* sizes.c - sizes and counts at the limits of their types are refused, or fail
 * for lack of memory. No sum or product may overflow to a small value. */
#include "testing/misuse.h"

#include <errno.h>

/* No allocation may be larger than this. */
#define ENOUGH ((size_t)1 << (sizeof(size_t) == 8 ? 32 : 28))

static const size_t large[] = {
	SIZE_MAX,         SIZE_MAX - 1,          SIZE_MAX - 63,
	SIZE_MAX / 2 + 1, SIZE_MAX / 2,          SIZE_MAX / 4 + 1,
	SIZE_MAX / 3 + 1,
#if SIZE_MAX > UINT32_MAX
	SIZE_MAX / 8 + 1, SIZE_MAX / 16 + 1,     SIZE_MAX / 64 + 1,
	(size_t)1 << 48,  ((size_t)1 << 48) + 1,
#endif
};

enum { LARGE = sizeof(large) / sizeof(large[0]) };

/* Bytes allocated in spite of the limit: less than was asked for. */
static atomic_size_t had;

static void *refuse_much(void *unused, size_t size, size_t alignment)
{
	void *memory;

	if (size > ENOUGH || alignment > ENOUGH)
		return NULL;
	atomic_fetch_add(&had, 1);
	if (alignment < sizeof(void *))
		alignment = sizeof(void *);
	return posix_memalign(&memory, alignment, size) ? NULL : memory;
}

static void release(void *unused, void *memory, size_t size)
{
	free(memory);
}

static const sennit_allocator strict = { refuse_much, release, NULL };

static void do_nothing(void *unused)
{
}

TEST_WITH_COUNTS(the_size_of_stacks_is_told)
{
	sennit_scheduler *s = start_with(
		SENNIT_CONFIG(.workers = w->workers, .stack_size = 256 * 1024));

	assert_int_equal(sennit_scheduler_stack_size(s), 256 * 1024);
	end_scheduler(s);
	s = start_with(SENNIT_CONFIG(.workers = w->workers));
	assert_true(sennit_scheduler_stack_size(s) >= 64 * 1024);
	end_scheduler(s);
}

TEST_WITH_COUNTS(a_copy_of_too_much_is_refused)
{
	static const char bytes[16];
	sennit_scheduler *s = start_with(
		SENNIT_CONFIG(.workers = w->workers, .allocator = &strict));
	size_t before;

	assert_int_equal(sennit_thread_bind(s), 0);
	before = atomic_load(&had);
	for (unsigned i = 0; i < LARGE; i++) {
		const sennit_task t = { .run = do_nothing,
					.argument = (void *)(uintptr_t)bytes,
					.copy_size = large[i] };

		assert_int_equal(
			sennit_schedule_copy(do_nothing, bytes, large[i]),
			-ENOMEM);
		assert_int_equal(sennit_schedule_task(&t), -ENOMEM);
		assert_int_equal(sennit_schedule_task_on(s, &t), -ENOMEM);
	}
	assert_int_equal(atomic_load(&had), before);
	sennit_thread_unbind();
	end_scheduler(s);
}

TEST_ALONE(a_channel_of_too_much_is_refused)
{
	static const uint32_t sizes[] = { 1, 2, 3, 64, UINT32_MAX };
	sennit_channel        c;

	atomic_store(&had, 0);
	for (unsigned i = 0; i < LARGE; i++)
		for (unsigned k = 0; k < 5; k++)
			if (large[i] < SENNIT_CHANNEL_UNBOUNDED)
				assert_int_equal(
					sennit_channel_init(&c, large[i],
							    sizes[k], &strict),
					-ENOMEM);
	assert_int_equal(atomic_load(&had), 0);
}

static int init_pool(size_t item, size_t alignment, size_t count)
{
	const sennit_pool_config config = { .size = sizeof(config),
					    .item_size = item,
					    .alignment = alignment,
					    .count = count,
					    .allocator = &strict };
	sennit_pool              p;

	return sennit_pool_init(&p, &config);
}

TEST_ALONE(a_pool_of_too_much_is_refused)
{
	atomic_store(&had, 0);
	for (unsigned i = 0; i < LARGE; i++) {
		assert_int_equal(init_pool(large[i], 0, 1), -ENOMEM);
		assert_int_equal(init_pool(16, 0, large[i]), -ENOMEM);
		for (unsigned k = 0; k < LARGE; k++)
			assert_int_equal(init_pool(large[i], 0, large[k]),
					 -ENOMEM);
	}
	assert_int_equal(init_pool(1, SIZE_MAX / 2 + 1, 1), -ENOMEM);
	assert_int_equal(init_pool(1, SIZE_MAX / 2 + 1, 2), -ENOMEM);
	assert_int_equal(init_pool(1, SIZE_MAX, 2), -EINVAL);
	assert_int_equal(atomic_load(&had), 0);
}

TEST_WITH_COUNTS(stacks_of_too_much_are_refused)
{
	sennit_scheduler *s = NULL;

	for (unsigned i = 0; i < LARGE; i++)
		assert_int_equal(
			sennit_scheduler_create(
				&s, SENNIT_CONFIG(.workers = w->workers,
						  .stack_size = large[i])),
			-EINVAL);
	assert_null(s);
}

TEST_WITH_COUNTS(masks_of_too_much_are_refused)
{
	static const uint32_t cpu = 0;
	const sennit_cpu_mask masks[] = { { &cpu, SIZE_MAX / 2 + 1 },
					  { &cpu, SIZE_MAX / 2 + 2 } };
	sennit_scheduler     *s = NULL;

	if (!w->threads)
		return; /* masks need worker threads */
	for (size_t n = 1; n <= 2; n++)
		assert_int_equal(
			sennit_scheduler_create(
				&s,
				SENNIT_CONFIG(.workers = w->workers,
					      .affinity = SENNIT_AFFINITY_MASKS,
					      .masks = masks, .mask_count = n)),
			-ENOMEM);
	assert_null(s);
}

static sennit_wait_group group;
static sennit_semaphore  semaphore;

MISUSE_BY(a_wait_group_does_not_come_round, "sennit_wait_group_add",
	  sennit_wait_group_init(&group, SENNIT_WAIT_GROUP_MAX),
	  sennit_wait_group_add(&group, UINT32_MAX));
MISUSE_BY(a_semaphore_does_not_come_round, "sennit_semaphore_release",
	  sennit_semaphore_init(&semaphore, SENNIT_SEMAPHORE_MAX),
	  sennit_semaphore_release(&semaphore, UINT32_MAX));

TEST_ALONE(far_deadlines_are_never)
{
	assert_true(sennit_after(UINT64_MAX) == SENNIT_NEVER);
	assert_true(sennit_after(UINT64_MAX - 1) == SENNIT_NEVER);
}
