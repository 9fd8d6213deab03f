/* SPDX-License-Identifier: Apache-2.0 */
/* channel.c - rendezvous, bounded and unbounded channels and one caller, and
 * when a channel may be freed. */
#include "testing/with_workers.h"
#include "testing/counting_allocator.h"

#include <errno.h>

TEST_IN_EACH_PLACE(a_rendezvous_alone_times_out)
{
	sennit_channel    c = SENNIT_CHANNEL_INIT(sizeof(int));
	const sennit_time soon = sennit_after(2 * SENNIT_MILLISECOND);
	int               v = 1;

	EXPECT(sennit_channel_send_until(&c, &v, 0) == -ETIMEDOUT);
	EXPECT(sennit_channel_receive_until(&c, &v, 0) == -ETIMEDOUT);
	EXPECT(sennit_channel_send_until(&c, &v, soon) == -ETIMEDOUT);
	EXPECT(sennit_now() >= soon);
	EXPECT(sennit_channel_receive_until(&c, &v, soon) == -ETIMEDOUT);
	EXPECT(sennit_channel_receive_until(&c, &v, 1) == -ETIMEDOUT);
	EXPECT(v == 1);
	EXPECT(sennit_channel_length(&c) == 0);
	sennit_channel_destroy(&c);
}

TEST_IN_EACH_PLACE(a_bounded_channel_keeps_order_and_capacity)
{
	int            memory[3];
	sennit_channel c = SENNIT_CHANNEL_INIT_ARRAY(memory);
	int            i, v = -1;

	for (i = 0; i < 10; i++) {
		v = 10 * i;
		EXPECT(sennit_channel_send(&c, &v) == 0);
		v++;
		EXPECT(sennit_channel_send_until(&c, &v, 1) == 0);
		v++;
		EXPECT(sennit_channel_send_until(&c, &v, 0) == 0);
		EXPECT(sennit_channel_send_until(&c, &v, 0) == -ETIMEDOUT);
		EXPECT(sennit_channel_send_until(&c, &v, 1) == -ETIMEDOUT);
		EXPECT(sennit_channel_length(&c) == 3);
		EXPECT(sennit_channel_receive(&c, &v) == 0 && v == 10 * i);
		EXPECT(sennit_channel_receive(&c, &v) == 0 && v == 10 * i + 1);
		EXPECT(sennit_channel_receive_until(&c, &v, 0) == 0);
		EXPECT(v == 10 * i + 2);
		EXPECT(sennit_channel_receive_until(&c, &v, 0) == -ETIMEDOUT);
	}
	sennit_channel_destroy(&c);
}

TEST_IN_EACH_PLACE(an_unbounded_channel_gives_its_memory_back)
{
	struct counting_allocator p = { 0 };
	const sennit_allocator    a = COUNTING_ALLOCATOR(&p);
	sennit_channel            c;
	uint64_t                  in = 0, out = 0, v;
	unsigned                  round;

	EXPECT(sennit_channel_init(&c, SENNIT_CHANNEL_UNBOUNDED, sizeof(v),
				   &a) == 0);
	for (round = 0; round < 4; round++) {
		for (; in < 3000 * (round + 1); in++)
			EXPECT(sennit_channel_send_until(&c, &in, 0) == 0);
		EXPECT(sennit_channel_length(&c) == in - out);
		for (; out < in - 700 * (3 - round); out++)
			EXPECT(!sennit_channel_receive_until(&c, &v, 0) &&
			       v == out);
	}
	EXPECT(sennit_channel_receive_until(&c, &v, 0) == -ETIMEDOUT);
	EXPECT(atomic_load(&p.live) <= 2); /* one item, and one spare */
	EXPECT(sennit_channel_send(&c, &in) == 0);
	sennit_channel_destroy(&c);
	EXPECT(atomic_load(&p.bytes) == 0);
	EXPECT(atomic_load(&p.live) == 0);
}

TEST_IN_EACH_PLACE(without_memory_nothing_is_lost)
{
	struct counting_allocator p = { .dry = true };
	const sennit_allocator    a = COUNTING_ALLOCATOR(&p);
	sennit_channel            c, untouched;
	uint64_t                  in, out, v;

	memset(&c, 0x77, sizeof(c));
	memset(&untouched, 0x77, sizeof(untouched));
	EXPECT(sennit_channel_init(&c, 10, 8, &a) == -ENOMEM);
	EXPECT(sennit_channel_init(&c, SIZE_MAX / 4, 8, &a) == -ENOMEM);
	EXPECT(!memcmp(&c, &untouched, sizeof(c)));
	EXPECT(sennit_channel_init(&c, 0, 8, &a) == 0);
	EXPECT(sennit_channel_init(&c, SENNIT_CHANNEL_UNBOUNDED, 8, &a) == 0);
	EXPECT(sennit_channel_send(&c, &v) == -ENOMEM);
	atomic_store(&p.dry, false);
	for (in = 0; in < 5; in++)
		EXPECT(sennit_channel_send(&c, &in) == 0);
	atomic_store(&p.dry, true);
	while (sennit_channel_send(&c, &in) == 0)
		in++;
	EXPECT(sennit_channel_length(&c) == in);
	for (out = 0; out < in; out++)
		EXPECT(!sennit_channel_receive(&c, &v) && v == out);
	sennit_channel_destroy(&c);
	EXPECT(atomic_load(&p.bytes) == 0);
}

TEST_IN_EACH_PLACE(a_closed_channel_is_drained)
{
	int            memory[2], v = 5;
	sennit_channel c = SENNIT_CHANNEL_INIT_ARRAY(memory);

	EXPECT(sennit_channel_send(&c, &v) == 0);
	sennit_channel_close(&c);
	sennit_channel_close(&c);
	EXPECT(sennit_channel_send(&c, &v) == -EPIPE);
	EXPECT(sennit_channel_send_until(&c, &v, 0) == -EPIPE);
	v = 0;
	EXPECT(sennit_channel_receive(&c, &v) == 0);
	EXPECT(v == 5);
	EXPECT(sennit_channel_receive(&c, &v) == -EPIPE);
	EXPECT(sennit_channel_receive_until(&c, &v, 0) == -EPIPE);
	EXPECT(v == 5);
	sennit_channel_destroy(&c);
}

/* Values of no size, of one byte, and larger than a block's usual place. */
static void try_size(uint32_t size, size_t capacity)
{
	static const char origin[20000] = { 1, 2, 3 };
	char              copy[20000];
	sennit_channel    c;

	EXPECT(sennit_channel_init(&c, capacity, size, NULL) == 0);
	for (unsigned i = 0; i < 20; i++)
		EXPECT(sennit_channel_send_until(&c, size ? origin + i : NULL,
						 0) == 0);
	memset(copy, 9, sizeof(copy));
	for (unsigned i = 0; i < 20; i++) {
		EXPECT(sennit_channel_receive(&c, size ? copy : NULL) == 0);
		EXPECT(!memcmp(copy, origin + i, size));
		EXPECT(copy[size] == 9);
	}
	sennit_channel_destroy(&c);
}

TEST_IN_EACH_PLACE(values_of_any_size_arrive_whole)
{
	const uint32_t sizes[] = { 0, 1, 8, 500, 3000, 19000 };

	for (unsigned i = 0; i < 6; i++) {
		try_size(sizes[i], 20);
		try_size(sizes[i], SENNIT_CHANNEL_UNBOUNDED);
	}
}

/* --- memory ------------------------------------------------------------- */

static void send_three(void *argument)
{
	const uint64_t values[] = { 1, 2, 3 };

	for (unsigned i = 0; i < 3; i++)
		EXPECT(sennit_channel_send(argument, &values[i]) == 0);
}

/* The receiver of the last value frees the channel while its sender may still
 * be inside the call. */
static void receive_three_and_free(size_t capacity)
{
	sennit_channel *c = malloc(sizeof(*c));
	uint64_t        i, v = 0;

	EXPECT(sennit_channel_init(c, capacity, sizeof(v), NULL) == 0);
	must_schedule(send_three, c);
	for (i = 1; i <= 3; i++) {
		EXPECT(sennit_channel_receive(c, &v) == 0);
		EXPECT(v == i);
	}
	sennit_channel_destroy(c);
	memset(c, 0xa5, sizeof(*c));
	free(c);
}

static void receive_and_free_often(void *argument)
{
	for (unsigned i = 0; i < 100; i++) {
		receive_three_and_free(0);
		receive_three_and_free(2);
		receive_three_and_free(SENNIT_CHANNEL_UNBOUNDED);
	}
}

TEST_WITH_WORKERS(who_received_the_last_value_may_free_the_channel)
{
	receive_and_free_often(NULL);
	in_a_task(receive_and_free_often, NULL);
}
