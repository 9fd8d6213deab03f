/* SPDX-License-Identifier: Apache-2.0 */
/* buffer.c - counted buffers: a copy of the bytes, for any number of users, and
 * freed with the last one. */
#include "testing/misuse.h"
#include "testing/with_workers.h"

#include "sennit/buffer.h"

static sennit_buffer *must_create(const void *bytes, size_t size)
{
	sennit_buffer *b = NULL;

	if (sennit_buffer_create(&b, bytes, size))
		abort();
	return b;
}

TEST_WITH_WORKERS(a_buffer_has_a_copy_of_the_bytes)
{
	char           bytes[] = "0123456789";
	sennit_buffer *b = must_create(bytes, 10);

	(void)w;
	memset(bytes, 'x', sizeof(bytes));
	assert_int_equal(sennit_buffer_size(b), 10);
	assert_memory_equal(sennit_buffer_data(b), "0123456789", 10);
	assert_int_equal((uintptr_t)sennit_buffer_data(b) % 8, 0);
	sennit_buffer_release(b);
	sennit_buffer_release(NULL);
}

TEST_WITH_WORKERS(an_empty_buffer_needs_no_bytes)
{
	sennit_buffer *b = must_create(NULL, 0);

	(void)w;
	assert_int_equal(sennit_buffer_size(b), 0);
	assert_non_null(sennit_buffer_data(b));
	sennit_buffer_release(b);
}

TEST_WITH_WORKERS(a_buffer_that_has_no_room_leaves_the_output)
{
	sennit_buffer *b = (sennit_buffer *)w;

	assert_int_equal(sennit_buffer_create(&b, "x", SIZE_MAX), -ENOMEM);
	assert_int_equal(sennit_buffer_create(&b, "x", SIZE_MAX - 8), -ENOMEM);
	assert_ptr_equal(b, w);
}

/* --- many users ----------------------------------------------------------- */

static int use_buffer(void *argument)
{
	sennit_buffer *b = *(sennit_buffer *const *)argument;
	const char    *bytes = sennit_buffer_data(b);

	for (size_t i = 0; i < sennit_buffer_size(b); i++)
		EXPECT(bytes[i] == (char)i);
	sennit_yield();
	sennit_buffer_release(b);
	return 0;
}

TEST_WITH_WORKERS(the_last_of_many_users_frees_it)
{
	sennit_group   g;
	sennit_buffer *b;
	char           bytes[1000];

	(void)w;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)i;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	b = must_create(bytes, sizeof(bytes));
	for (int i = 0; i < 100; i++) {
		assert_ptr_equal(sennit_buffer_retain(b), b);
		assert_int_equal(
			sennit_group_spawn_copy(&g, use_buffer, &b, sizeof(b)),
			0);
	}
	sennit_buffer_release(b);
	assert_int_equal(sennit_group_wait(&g), 0);
}

static int not_a_buffer[64];

MISUSE_BY(what_is_no_buffer_is_not_retained, "sennit_shared_retain",
	  sennit_buffer_retain((sennit_buffer *)&not_a_buffer[32]));
MISUSE_BY(what_is_no_buffer_is_not_released, "sennit_shared_release",
	  sennit_buffer_release((sennit_buffer *)&not_a_buffer[32]));
