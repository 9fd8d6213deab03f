/* SPDX-License-Identifier: Apache-2.0 */
/* task.c - the arguments of tasks, and what schedule and enqueue refuse. */
#include "testing/with_workers.h"

#include <errno.h>

static void count_one(void *counter)
{
	atomic_fetch_add((atomic_uint *)counter, 1);
}

/* --- copies ------------------------------------------------------------- */

enum { LARGEST = 4096 };

struct queued_task {
	sennit_wait_group *done;
	atomic_uint       *damaged;
	size_t             size;
	unsigned char      fill[LARGEST];
};

static void open_parcel(void *argument)
{
	const struct queued_task *p = argument;
	const size_t              head = offsetof(struct queued_task, fill);

	if ((uintptr_t)p % 16)
		atomic_fetch_add(p->damaged, 1);
	for (size_t i = 0; i < p->size - head; i++)
		if (p->fill[i] != (unsigned char)(p->size * 31 + i))
			atomic_fetch_add(p->damaged, 1);
	sennit_wait_group_done(p->done);
}

static void send_parcel(struct queued_task *p, size_t size)
{
	const size_t head = offsetof(struct queued_task, fill);

	p->size = size;
	for (size_t i = 0; i < size - head; i++)
		p->fill[i] = (unsigned char)(size * 31 + i);
	EXPECT(sennit_schedule_copy(open_parcel, p, size) == 0);
	memset(p->fill, 0xee, size - head); /* the copy has been made */
	p->size = 0;
}

TEST_WITH_WORKERS(a_copy_of_any_size_arrives_whole)
{
	static struct queued_task p;
	sennit_wait_group         done = SENNIT_WAIT_GROUP_INIT;
	atomic_uint               damaged = 0;
	size_t                    size;

	p.done = &done;
	p.damaged = &damaged;
	for (size = offsetof(struct queued_task, fill); size <= LARGEST;
	     size++) {
		sennit_wait_group_add(&done, 1);
		send_parcel(&p, size);
	}
	sennit_wait_group_wait(&done);
	assert_int_equal(atomic_load(&damaged), 0);
}

static struct {
	sennit_wait_group done;
	atomic_uint       sum;
	atomic_uint       unaligned;
} few_bytes;

static void add_bytes(void *argument)
{
	const unsigned char *bytes = argument;

	if ((uintptr_t)argument % 16)
		atomic_fetch_add(&few_bytes.unaligned, 1);
	for (unsigned i = 0; i < bytes[0]; i++)
		atomic_fetch_add(&few_bytes.sum, bytes[i]);
	sennit_wait_group_done(&few_bytes.done);
}

/* Copies smaller than a pointer, from odd addresses. */
TEST_WITH_WORKERS(a_copy_of_few_bytes_arrives_whole)
{
	unsigned char bytes[32];
	unsigned      size, i, expected = 0;

	memset(&few_bytes, 0, sizeof(few_bytes));
	sennit_wait_group_init(&few_bytes.done, 24);
	for (size = 1; size <= 24; size++) {
		bytes[1] = (unsigned char)size;
		for (i = 1; i < size; i++)
			bytes[1 + i] = (unsigned char)(size + i);
		for (i = 0; i < size; i++)
			expected += bytes[1 + i];
		EXPECT(sennit_schedule_copy(add_bytes, bytes + 1, size) == 0);
		memset(bytes, 0xff, sizeof(bytes));
	}
	sennit_wait_group_wait(&few_bytes.done);
	assert_int_equal(atomic_load(&few_bytes.sum), expected);
	assert_int_equal(atomic_load(&few_bytes.unaligned), 0);
}

struct big {
	sennit_wait_group *done;
	atomic_uint       *damaged;
	unsigned char      fill[1 << 20];
};

static void open_big(void *argument)
{
	const struct big *b = argument;
	size_t            i;

	for (i = 0; i < sizeof(b->fill); i++)
		if (b->fill[i] != (unsigned char)(i * 7))
			atomic_fetch_add(b->damaged, 1);
	sennit_yield(); /* the copy outlives waits */
	if (b->fill[sizeof(b->fill) - 1] != (unsigned char)((i - 1) * 7))
		atomic_fetch_add(b->damaged, 1);
	sennit_wait_group_done(b->done);
}

TEST_WITH_WORKERS(a_megabyte_may_be_copied)
{
	static struct big b;
	sennit_wait_group done;
	atomic_uint       damaged = 0;

	b.done = &done;
	b.damaged = &damaged;
	for (size_t i = 0; i < sizeof(b.fill); i++)
		b.fill[i] = (unsigned char)(i * 7);
	sennit_wait_group_init(&done, 4);
	for (size_t i = 0; i < 4; i++)
		EXPECT(sennit_schedule_copy(open_big, &b, sizeof(b)) == 0);
	sennit_wait_group_wait(&done);
	assert_int_equal(atomic_load(&damaged), 0);
}

TEST_WITH_WORKERS(without_a_copy_the_pointer_itself_is_passed)
{
	atomic_uint       ran = 0;
	const sennit_task t = { .run = count_one, .argument = &ran };

	assert_int_equal(sennit_schedule_task(&t), 0);
	assert_soon(atomic_load(&ran) == 1);
}

/* --- the task struct ---------------------------------------------------- */

struct number {
	atomic_uint *sum;
	unsigned     number;
};

static void add_number(void *argument)
{
	const struct number *n = argument;

	atomic_fetch_add(n->sum, n->number);
}

TEST_WITH_WORKERS(the_struct_may_be_used_again_at_once)
{
	atomic_uint   sum = 0;
	struct number n = { &sum, 0 };
	sennit_task   t = { .run = add_number,
			    .argument = &n,
			    .copy_size = sizeof(n) };

	for (n.number = 1; n.number <= 100; n.number++) {
		assert_int_equal(sennit_schedule_task(&t), 0);
		t.flags ^= SENNIT_TASK_SAME_THREAD;
	}
	memset(&t, 0xff, sizeof(t));
	memset(&n, 0xff, sizeof(n));
	assert_soon(atomic_load(&sum) == 5050);
}

TEST_WITH_WORKERS(unknown_flags_are_refused)
{
	atomic_uint ran = 0, last = 0;
	sennit_task t = { .run = count_one, .argument = &ran };
	unsigned    bit;

	for (bit = 2; bit < 32; bit++) {
		t.flags = UINT32_C(1) << bit;
		assert_int_equal(sennit_schedule_task(&t), -EINVAL);
		assert_int_equal(sennit_schedule_task_on(w->s, &t), -EINVAL);
		t.flags |= SENNIT_TASK_SAME_THREAD;
		assert_int_equal(sennit_schedule_task(&t), -EINVAL);
	}
	must_schedule(count_one, &last);
	assert_soon(atomic_load(&last) == 1);
	assert_int_equal(atomic_load(&ran), 0);
}

/* --- to another scheduler ----------------------------------------------- */

struct guest {
	sennit_scheduler *host;
	sennit_wait_group done;
	atomic_uint       strangers;
};

static void look_around(void *argument)
{
	struct guest *g = argument;

	if (sennit_scheduler_current() != g->host)
		atomic_fetch_add(&g->strangers, 1);
	sennit_wait_group_done(&g->done);
}

static void send_guests(void *argument)
{
	struct guest     *g = argument;
	const sennit_task t = { .run = look_around, .argument = g };

	sennit_wait_group_init(&g->done, 100);
	for (unsigned i = 0; i < 100; i++)
		EXPECT(sennit_schedule_task_on(g->host, &t) == 0);
	sennit_wait_group_wait(&g->done);
}

TEST_WITH_WORKERS(a_task_may_be_enqueued_to_another_scheduler)
{
	struct guest g = { .host = start_scheduler(2) };

	in_each_place(send_guests, &g);
	assert_int_equal(atomic_load(&g.strangers), 0);
	end_scheduler(g.host);
}

TEST_WITH_WORKERS(a_task_may_be_enqueued_to_the_own_scheduler)
{
	struct guest g = { .host = w->s };

	send_guests(&g);
	in_a_task(send_guests, &g);
	if (w->threads)
		in_a_thread(send_guests, &g);
	assert_int_equal(atomic_load(&g.strangers), 0);
}
