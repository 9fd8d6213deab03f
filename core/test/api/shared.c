/* SPDX-License-Identifier: Apache-2.0 */
/* shared.c - reference-counted objects: creation, use by several, the last
 * release. */
#include "testing/crowd.h"
#include "testing/counting_allocator.h"

#include <errno.h>

/* --- creating ----------------------------------------------------------- */

TEST_ALONE(an_object_is_zero_and_aligned)
{
	for (size_t size = 1; size <= 4096; size += 37) {
		unsigned char *bytes = sennit_shared_create(size, NULL, NULL);

		assert_non_null(bytes);
		assert_int_equal((uintptr_t)bytes % 16, 0);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(bytes[i], 0);
		sennit_shared_release(bytes);
	}
}

static atomic_uint ended;

static void count_end(void *object)
{
	atomic_fetch_add(&ended, 1);
	assert_int_equal(*(int *)object, 7);
}

TEST_ALONE(an_object_ends_with_its_last_reference)
{
	struct keeping_allocator kept = { .taken = 0 };
	const sennit_allocator   a = keeping(&kept);
	int *object = sennit_shared_create(sizeof(*object), count_end, &a);

	assert_non_null(object);
	*object = 7;
	atomic_store(&ended, 0);
	assert_ptr_equal(sennit_shared_retain(object), object);
	sennit_shared_release(object);
	assert_int_equal(atomic_load(&kept.given), 0);
	assert_int_equal(atomic_load(&ended), 0);
	sennit_shared_release(object);
	assert_int_equal(atomic_load(&ended), 1);
	assert_true(is_given_back(&kept, 1));
}

TEST_ALONE(the_allocator_is_copied)
{
	struct keeping_allocator kept = { .taken = 0 };
	sennit_allocator         a = keeping(&kept);
	sennit_mutex            *m = sennit_shared_create(sizeof(*m), NULL, &a);

	assert_non_null(m);
	memset(&a, 0, sizeof(a));
	sennit_shared_release(m);
	assert_true(is_given_back(&kept, 1));
}

TEST_ALONE(half_an_allocator_and_no_size_are_refused)
{
	const sennit_allocator none = { NULL, NULL, NULL };
	const sennit_allocator no_take = { NULL, keeping_give, NULL };
	const sennit_allocator no_give = { keeping_take, NULL, NULL };

	assert_null(sennit_shared_create(8, NULL, &none));
	assert_null(sennit_shared_create(8, NULL, &no_take));
	assert_null(sennit_shared_create(8, NULL, &no_give));
	assert_null(sennit_shared_create(0, NULL, NULL));
	assert_null(sennit_shared_create(SIZE_MAX, NULL, NULL));
}

TEST_ALONE(no_memory_is_null)
{
	struct keeping_allocator kept = { .empty = true };
	const sennit_allocator   a = keeping(&kept);

	assert_null(sennit_shared_create(8, NULL, &a));
}

static void destroy_channel(void *channel)
{
	sennit_channel_destroy(channel);
}

TEST_ALONE(the_end_frees_what_the_object_owns)
{
	struct counting_allocator tally = { .failing = 0 };
	const sennit_allocator    a = COUNTING_ALLOCATOR(&tally);
	sennit_channel           *c;
	uint64_t                  value = 5;

	c = sennit_shared_create(sizeof(*c), destroy_channel, &a);
	assert_non_null(c);
	assert_int_equal(
		sennit_channel_init(c, SENNIT_CHANNEL_UNBOUNDED, 8, &a), 0);
	assert_int_equal(sennit_channel_send(c, &value), 0);
	assert_int_equal(sennit_channel_send(c, &value), 0);
	sennit_shared_release(c);
	assert_int_equal(atomic_load(&tally.bytes), 0);
}

/* --- sharing ------------------------------------------------------------ */

static void wait_and_release(void *event)
{
	EXPECT(!sennit_event_wait(event));
	sennit_shared_release(event);
}

/* The signaller releases its reference while others wait through theirs. */
TEST_WITH_WORKERS(who_waits_by_its_own_reference_may_be_the_last)
{
	struct keeping_allocator kept = { .taken = 0 };
	const sennit_allocator   a = keeping(&kept);
	sennit_event            *e = sennit_shared_create(sizeof(*e), NULL, &a);

	assert_non_null(e);
	for (int i = 0; i < 3; i++)
		must_schedule(wait_and_release, sennit_shared_retain(e));
	assert_soon(waiting_for(w->s, e) == 3);
	assert_int_equal(atomic_load(&kept.given), 0);
	sennit_event_set(e);
	sennit_shared_release(e);
	assert_soon(is_given_back(&kept, 1));
}

/* What two tasks share without waiting for each other. */
struct box {
	sennit_mutex lock;
	sennit_cond  changed;
	bool         full;
};

static void fill(void *argument)
{
	struct box *b = argument;

	sennit_mutex_lock(&b->lock);
	b->full = true;
	sennit_cond_notify_one(&b->changed);
	sennit_mutex_unlock(&b->lock);
	sennit_shared_release(b);
}

TEST_WITH_WORKERS(a_lock_and_its_condition_are_shared)
{
	struct keeping_allocator kept = { .taken = 0 };
	const sennit_allocator   a = keeping(&kept);
	struct box              *b = sennit_shared_create(sizeof(*b), NULL, &a);

	assert_non_null(b);
	must_schedule(fill, sennit_shared_retain(b));
	sennit_mutex_lock(&b->lock);
	while (!b->full)
		EXPECT(!sennit_cond_wait(&b->changed, &b->lock));
	sennit_mutex_unlock(&b->lock);
	sennit_shared_release(b);
	assert_soon(is_given_back(&kept, 1));
}
