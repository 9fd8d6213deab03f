/* SPDX-License-Identifier: Apache-2.0 */
/* tracebuffer.c - readers get the newest events, complete and in order, while
 * more are written. */
#include "observe/recorder.h"

#include "base/memory.h"
#include "os/os.h"

#include "../random.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

enum { CAPACITY = 8, LARGEST = 256 };

/* The state of event n in every test. */
static uint32_t state_of(uint64_t n)
{
	return (uint32_t)(n * UINT64_C(0x9e3779b97f4a7c15) >> 60) & 3;
}

static sennit_time time_of(uint64_t n)
{
	return n << 20 | (n & 0xfffff);
}

static void record(struct tracebuffer *b, uint64_t n)
{
	sn_tracebuffer_record(b, state_of(n), time_of(n));
}

/* Whether out[count] contains consecutive events beginning with number
 * `oldest`. */
static bool are_in_order(const uint64_t out[], uint64_t count, uint64_t oldest)
{
	for (uint64_t i = 0; i < count; i++)
		if (sn_tracebuffer_time(out[i]) != time_of(oldest + i) ||
		    sn_tracebuffer_state(out[i]) != state_of(oldest + i))
			return false;
	return true;
}

static void without_capacity_there_is_no_buffer(void **state)
{
	struct tracebuffer b;

	(void)state;
	assert_int_equal(sn_tracebuffer_init(&b, &sn_memory_libc, 0), 0);
	assert_null(b.events);
	sn_tracebuffer_free(&b, &sn_memory_libc);
}

static void *refuse(void *context, size_t size, size_t alignment)
{
	(void)context;
	(void)size;
	(void)alignment;
	return NULL;
}

static void no_memory_is_told(void **state)
{
	const sennit_allocator none = { refuse, NULL, NULL };
	struct tracebuffer     b;

	(void)state;
	assert_int_equal(sn_tracebuffer_init(&b, &none, CAPACITY), -ENOMEM);
	sn_tracebuffer_free(&b, &none);
}

static void events_come_back_oldest_first(void **state)
{
	struct tracebuffer b;
	uint64_t           out[CAPACITY];

	(void)state;
	assert_int_equal(sn_tracebuffer_init(&b, &sn_memory_libc, CAPACITY), 0);
	for (uint64_t n = 0; n < CAPACITY; n++) {
		assert_int_equal(sn_tracebuffer_copy(&b, out), n);
		assert_true(are_in_order(out, n, 0));
		record(&b, n);
		assert_int_equal(b.state, state_of(n));
	}
	sn_tracebuffer_free(&b, &sn_memory_libc);
}

/* The owner may be writing the oldest slot, so a reader gets one event less
 * than the capacity. */
static void a_full_buffer_keeps_the_newest(void **state)
{
	struct tracebuffer b;
	uint64_t           out[CAPACITY];

	(void)state;
	assert_int_equal(sn_tracebuffer_init(&b, &sn_memory_libc, CAPACITY), 0);
	for (uint64_t n = 0; n < 5 * CAPACITY; n++) {
		record(&b, n);
		if (n < CAPACITY - 1)
			continue;
		assert_int_equal(sn_tracebuffer_copy(&b, out), CAPACITY - 1);
		assert_true(are_in_order(out, CAPACITY - 1, n + 2 - CAPACITY));
	}
	sn_tracebuffer_free(&b, &sn_memory_libc);
}

static void times_and_states_do_not_mix(void **state)
{
	const sennit_time  latest = (UINT64_C(1) << 62) - 1;
	struct tracebuffer b;
	uint64_t           out[CAPACITY];

	(void)state;
	assert_int_equal(sn_tracebuffer_init(&b, &sn_memory_libc, CAPACITY), 0);
	sn_tracebuffer_record(&b, 0, latest);
	sn_tracebuffer_record(&b, 3, 0);
	assert_int_equal(sn_tracebuffer_copy(&b, out), 2);
	assert_int_equal(sn_tracebuffer_time(out[0]), latest);
	assert_int_equal(sn_tracebuffer_state(out[0]), 0);
	assert_int_equal(sn_tracebuffer_time(out[1]), 0);
	assert_int_equal(sn_tracebuffer_state(out[1]), 3);
	sn_tracebuffer_free(&b, &sn_memory_libc);
}

/* --- while it is written ------------------------------------------------- */

struct writer {
	struct tracebuffer buffer;
	uint64_t           events;
	a_u32              done;
};

static void *write_events(void *argument)
{
	struct writer *w = argument;
	uint64_t       random = random_stream(1);

	for (uint64_t n = 0; n < w->events; n++) {
		record(&w->buffer, n);
		/* Bursts of all lengths, so that copies of all lengths
		 * occur. */
		if (random_below(&random, 64) == 0)
			for (uint32_t i = random_below(&random, 256); i; i--)
				a_pause();
	}
	a_store_rel(&w->done, 1);
	return NULL;
}

static bool copy_is_sound(struct tracebuffer *b)
{
	const uint64_t before = a_load_acq(&b->count);
	uint64_t       out[LARGEST];
	const uint64_t count = sn_tracebuffer_copy(b, out);
	const uint64_t after = a_load_acq(&b->count);
	uint64_t       oldest;

	if (count == 0)
		return true; /* overtaken, or the buffer was empty */
	oldest = sn_tracebuffer_time(out[0]) >> 20;
	return count <= b->capacity && are_in_order(out, count, oldest) &&
	       oldest + count >= before && oldest + count <= after;
}

static void copy_while_writing(uint32_t capacity)
{
	struct writer w = { .events = scaled(1000000) };
	pthread_t     thread;
	uint64_t      unsound = 0;

	assert_int_equal(
		sn_tracebuffer_init(&w.buffer, &sn_memory_libc, capacity), 0);
	assert_int_equal(pthread_create(&thread, NULL, write_events, &w), 0);
	while (!a_load_acq(&w.done))
		unsound += !copy_is_sound(&w.buffer);
	pthread_join(thread, NULL);
	assert_int_equal(unsound, 0);
	assert_true(copy_is_sound(&w.buffer));
	sn_tracebuffer_free(&w.buffer, &sn_memory_libc);
}

static void a_copy_is_whole_and_in_order_while_more_is_written(void **state)
{
	(void)state;
	random_stream(0); /* chooses the seed before there are several
			   * threads */
	for (uint32_t capacity = 1; capacity <= LARGEST; capacity *= 4)
		copy_while_writing(capacity);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_capacity_there_is_no_buffer),
		cmocka_unit_test(no_memory_is_told),
		cmocka_unit_test(events_come_back_oldest_first),
		cmocka_unit_test(a_full_buffer_keeps_the_newest),
		cmocka_unit_test(times_and_states_do_not_mix),
		cmocka_unit_test(
			a_copy_is_whole_and_in_order_while_more_is_written),
	};

	return random_report(
		cmocka_run_group_tests_name("tracebuffer", tests, NULL, NULL));
}
