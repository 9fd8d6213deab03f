/* SPDX-License-Identifier: Apache-2.0 */
/* argument.c - memory for arguments that are built in place. */
#include "testing/with_workers.h"
#include "testing/counting_allocator.h"

static struct counting_allocator tally;
static const sennit_allocator    counting = COUNTING_ALLOCATOR(&tally);

struct queued_task {
	sennit_scheduler  *s; /* NULL: the bound one */
	sennit_wait_group *done;
	size_t             size;
	unsigned char      fill[];
};

static struct queued_task *make(sennit_scheduler *s, sennit_wait_group *done,
				size_t size)
{
	struct queued_task *p = sennit_argument_alloc(s, sizeof(*p) + size);

	if (!p)
		abort();
	EXPECT((uintptr_t)p % 16 == 0);
	p->s = s;
	p->done = done;
	p->size = size;
	memset(p->fill, (int)(size & 0xff), size);
	return p;
}

static void open_parcel(void *argument)
{
	struct queued_task *p = argument;
	sennit_wait_group  *done = p->done;

	for (size_t i = 0; i < p->size; i++)
		EXPECT(p->fill[i] == (p->size & 0xff));
	sennit_yield();
	sennit_argument_free(p->s, p, sizeof(*p) + p->size);
	sennit_wait_group_done(done);
}

TEST_WITH_WORKERS(arguments_of_any_size_arrive_whole)
{
	static sennit_wait_group done;
	size_t                   size;

	for (size = 0; size < 2000; size += 1 + size / 16) {
		sennit_wait_group_add(&done, 1);
		must_schedule(open_parcel, make(NULL, &done, size));
	}
	sennit_wait_group_wait(&done);
}

/* --- to another scheduler ----------------------------------------------- */

static void send_parcels(void *argument)
{
	sennit_scheduler *s = argument;
	sennit_wait_group done = SENNIT_WAIT_GROUP_INIT;
	size_t            size;

	for (size = 0; size < 200; size += 8) {
		const sennit_task t = { .run = open_parcel,
					.argument = make(s, &done, size) };

		sennit_wait_group_add(&done, 1);
		EXPECT(sennit_schedule_task_on(s, &t) == 0);
	}
	sennit_wait_group_wait(&done);
}

TEST_WITH_WORKERS(arguments_may_be_another_schedulers)
{
	sennit_scheduler *other =
		start_with(SENNIT_CONFIG(.workers = 2, .allocator = &counting));

	in_each_place(send_parcels, other);
	end_scheduler(other);
	assert_int_equal(atomic_load(&tally.bytes), 0);
}

/* --- the allocator ------------------------------------------------------ */

struct tally {
	unsigned          calls;
	sennit_wait_group done;
};

static void take_and_give(void *argument)
{
	struct tally *t = argument;
	unsigned      before, i;
	void         *small;

	sennit_argument_free(NULL, sennit_argument_alloc(NULL, 1), 1);
	before = atomic_load(&tally.calls);
	for (i = 0; i < 1000; i++) {
		small = sennit_argument_alloc(NULL, SENNIT_COPY_SMALL);
		sennit_argument_free(NULL, small, SENNIT_COPY_SMALL);
	}
	t->calls = atomic_load(&tally.calls) - before;
	sennit_wait_group_done(&t->done);
}

TEST_WITH_COUNTS(small_ones_do_not_go_to_the_allocator)
{
	struct tally      t = { .calls = 0 };
	sennit_scheduler *s = start_with(
		SENNIT_CONFIG(.workers = w->workers, .allocator = &counting));

	assert_int_equal(sennit_thread_bind(s), 0);
	sennit_wait_group_init(&t.done, 1);
	must_schedule(take_and_give, &t);
	sennit_wait_group_wait(&t.done);
	sennit_thread_unbind();
	end_scheduler(s);
	assert_int_equal(t.calls, 0);
	assert_int_equal(atomic_load(&tally.bytes), 0);
}

static void *nothing(void *context, size_t size, size_t alignment)
{
	return size >= 4096 ? NULL : counting_take(context, size, alignment);
}

TEST_ALONE(no_memory_is_a_null)
{
	const sennit_allocator mean = { nothing, counting_give, &tally };
	sennit_scheduler      *s =
		start_with(SENNIT_CONFIG(.workers = SENNIT_WORKERS_NONE,
					 .allocator = &mean));

	assert_null(sennit_argument_alloc(s, 1 << 20));
	end_scheduler(s);
}
