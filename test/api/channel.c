/* SPDX-License-Identifier: Apache-2.0 */
/* channel.c - rendezvous, bounded and unbounded channels and one caller. */
#include "with_workers.h"
#include "../counting_allocator.h"

#include <errno.h>

static void try_rendezvous_alone(void *argument)
{
	sennit_channel    c = SENNIT_CHANNEL_INIT(sizeof(int));
	const sennit_time soon = sennit_after(2 * SENNIT_MILLISECOND);
	int               v = 1;

	(void)argument;
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

static void try_bounded_alone(void *argument)
{
	int            memory[3];
	sennit_channel c = SENNIT_CHANNEL_INIT_ARRAY(memory);
	int            i, v = -1;

	(void)argument;
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

static void try_unbounded_alone(void *argument)
{
	struct counting_allocator p = { 0 };
	const sennit_allocator    a = COUNTING_ALLOCATOR(&p);
	sennit_channel            c;
	uint64_t                  in = 0, out = 0, v;
	unsigned                  round;

	(void)argument;
	EXPECT(sennit_channel_init(&c, sizeof(v), SENNIT_CHANNEL_UNBOUNDED,
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

static void try_without_memory(void *argument)
{
	struct counting_allocator p = { .dry = true };
	const sennit_allocator    a = COUNTING_ALLOCATOR(&p);
	sennit_channel            c, untouched;
	uint64_t                  in, out, v;

	(void)argument;
	memset(&c, 0x77, sizeof(c));
	memset(&untouched, 0x77, sizeof(untouched));
	EXPECT(sennit_channel_init(&c, 8, 10, &a) == -ENOMEM);
	EXPECT(sennit_channel_init(&c, 8, SIZE_MAX / 4, &a) == -ENOMEM);
	EXPECT(!memcmp(&c, &untouched, sizeof(c)));
	EXPECT(sennit_channel_init(&c, 8, 0, &a) == 0);
	EXPECT(sennit_channel_init(&c, 8, SENNIT_CHANNEL_UNBOUNDED, &a) == 0);
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

static void try_closed(void *argument)
{
	int            memory[2], v = 5;
	sennit_channel c = SENNIT_CHANNEL_INIT_ARRAY(memory);

	(void)argument;
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
	unsigned          i;

	EXPECT(sennit_channel_init(&c, size, capacity, NULL) == 0);
	for (i = 0; i < 20; i++)
		EXPECT(sennit_channel_send_until(&c, size ? origin + i : NULL,
						 0) == 0);
	memset(copy, 9, sizeof(copy));
	for (i = 0; i < 20; i++) {
		EXPECT(sennit_channel_receive(&c, size ? copy : NULL) == 0);
		EXPECT(!memcmp(copy, origin + i, size));
		EXPECT(copy[size] == 9);
	}
	sennit_channel_destroy(&c);
}

static void try_sizes(void *argument)
{
	const uint32_t sizes[] = { 0, 1, 8, 500, 3000, 19000 };
	unsigned       i;

	(void)argument;
	for (i = 0; i < 6; i++) {
		try_size(sizes[i], 20);
		try_size(sizes[i], SENNIT_CHANNEL_UNBOUNDED);
	}
}

TEST_WITH_WORKERS(a_rendezvous_alone_times_out)
{
	in_each_place(try_rendezvous_alone, NULL);
}

TEST_WITH_WORKERS(a_bounded_channel_keeps_order_and_capacity)
{
	in_each_place(try_bounded_alone, NULL);
}

TEST_WITH_WORKERS(an_unbounded_channel_gives_its_memory_back)
{
	in_each_place(try_unbounded_alone, NULL);
}

TEST_WITH_WORKERS(without_memory_nothing_is_lost)
{
	in_each_place(try_without_memory, NULL);
}

TEST_WITH_WORKERS(a_closed_channel_is_drained)
{
	in_each_place(try_closed, NULL);
}

TEST_WITH_WORKERS(values_of_any_size_arrive_whole)
{
	in_each_place(try_sizes, NULL);
}
