/* SPDX-License-Identifier: Apache-2.0 */
/* future_then.c - continuations: each runs once, with the outcome, in the right
 * place. */
#include "with_workers.h"
#include "../counting_allocator.h"

#include <errno.h>

static int number;

/* The arguments of a continuation, and the thread on which it ran. */
struct sequel {
	sennit_continuation c;
	atomic_uint         runs;
	void               *value;
	int                 error;
	sennit_scheduler   *s;
	sennit_fiber       *fiber;
};

static void note(void *argument, void *value, int error)
{
	struct sequel *q = argument;

	q->value = value;
	q->error = error;
	q->s = sennit_current();
	q->fiber = sennit_fiber_current();
	atomic_fetch_add(&q->runs, 1);
}

static void set_sequel(struct sequel *q)
{
	memset(q, 0, sizeof(*q));
	q->c.run = note;
	q->c.argument = q;
}

/* --- when --------------------------------------------------------------- */

/* Tasks and the bound thread: the tasks run while they yield. */
static void attach_and_set(void *argument)
{
	sennit_future f = SENNIT_FUTURE_INIT;
	struct sequel before, after;

	(void)argument;
	set_sequel(&before);
	set_sequel(&after);
	sennit_future_then(&f, &before.c);
	EXPECT(atomic_load(&before.runs) == 0);
	sennit_future_set(&f, &number);
	sennit_future_then(&f, &after.c);
	EXPECT_SOON(atomic_load(&before.runs) && atomic_load(&after.runs));
	EXPECT(before.value == &number && before.error == 0);
	EXPECT(after.value == &number && after.error == 0);
	EXPECT(before.s == sennit_current() && after.s == sennit_current());
	sennit_yield();
	EXPECT(atomic_load(&before.runs) == 1 && atomic_load(&after.runs) == 1);
	sennit_future_destroy(&f);
}

TEST_WITH_WORKERS(it_runs_once_attached_before_or_after)
{
	attach_and_set(NULL);
	in_a_task(attach_and_set, NULL);
}

TEST_WITH_WORKERS(it_gets_the_error)
{
	sennit_future f = SENNIT_FUTURE_INIT;
	struct sequel before, after;

	set_sequel(&before);
	set_sequel(&after);
	sennit_future_then(&f, &before.c);
	sennit_future_set_error(&f, -EPIPE);
	sennit_future_then(&f, &after.c);
	assert_soon(atomic_load(&before.runs) && atomic_load(&after.runs));
	assert_int_equal(before.error, -EPIPE);
	assert_int_equal(after.error, -EPIPE);
	assert_null(before.value);
	assert_null(after.value);
}

/* --- where -------------------------------------------------------------- */

static void attach_inline(void *argument)
{
	sennit_future f = SENNIT_FUTURE_INIT;
	struct sequel before, after;

	(void)argument;
	set_sequel(&before);
	set_sequel(&after);
	before.c.flags = after.c.flags = SENNIT_CONTINUATION_INLINE;
	sennit_future_then(&f, &before.c);
	sennit_future_set(&f, &number);
	EXPECT(atomic_load(&before.runs) == 1);
	sennit_future_then(&f, &after.c);
	EXPECT(atomic_load(&after.runs) == 1);
	EXPECT(before.fiber == sennit_fiber_current());
	EXPECT(after.fiber == sennit_fiber_current());
}

TEST_WITH_WORKERS(an_inline_one_runs_within_the_call)
{
	in_each_place(attach_inline, NULL);
}

static void set_future(void *argument)
{
	sennit_future_set(argument, &number);
}

TEST_WITH_WORKERS(without_a_scheduler_the_setter_runs_it)
{
	sennit_future f = SENNIT_FUTURE_INIT;
	struct sequel q;

	set_sequel(&q);
	sennit_future_then(&f, &q.c);
	in_a_thread(set_future, &f);
	assert_int_equal(atomic_load(&q.runs), 1);
	assert_null(q.s);
}

TEST_WITH_THREADS(one_with_a_scheduler_runs_there)
{
	sennit_future f = SENNIT_FUTURE_INIT;
	struct sequel before, after;

	set_sequel(&before);
	set_sequel(&after);
	before.c.scheduler = after.c.scheduler = w->s;
	sennit_future_then(&f, &before.c);
	in_a_thread(set_future, &f);
	sennit_future_then(&f, &after.c);
	assert_soon(atomic_load(&before.runs) && atomic_load(&after.runs));
	assert_ptr_equal(before.s, w->s);
	assert_ptr_equal(after.s, w->s);
}

/* A continuation keeps its scheduler alive until it has run. */
TEST_WITH_THREADS(a_scheduler_waits_for_a_continuation)
{
	sennit_future     f = SENNIT_FUTURE_INIT;
	struct sequel     q;
	sennit_scheduler *other = start_scheduler(w->workers);
	const sennit_time soon = sennit_after(2 * SENNIT_MILLISECOND);

	set_sequel(&q);
	q.c.scheduler = other;
	sennit_future_then(&f, &q.c);
	assert_int_equal(sennit_scheduler_shutdown(other, soon), -ETIMEDOUT);
	sennit_future_set(&f, &number);
	end_scheduler(other);
	assert_int_equal(atomic_load(&q.runs), 1);
	assert_ptr_equal(q.s, other);
}

/* --- order, memory ------------------------------------------------------ */

struct line {
	unsigned            next;
	unsigned            order[8];
	sennit_continuation c[8];
};

static struct line line;

static void join_line(void *argument, void *value, int error)
{
	(void)value;
	(void)error;
	line.order[line.next++] = (unsigned)(uintptr_t)argument;
}

TEST_WITH_WORKERS(inline_ones_run_in_the_order_in_which_they_came)
{
	sennit_future f = SENNIT_FUTURE_INIT;
	unsigned      i;

	memset(&line, 0, sizeof(line));
	for (i = 0; i < 8; i++) {
		line.c[i].run = join_line;
		line.c[i].argument = (void *)(uintptr_t)i;
		line.c[i].flags = SENNIT_CONTINUATION_INLINE;
		sennit_future_then(&f, &line.c[i]);
	}
	sennit_future_set(&f, NULL);
	assert_int_equal(line.next, 8);
	for (i = 0; i < 8; i++)
		assert_int_equal(line.order[i], i);
}

/* The future and the record share one memory block, which is freed first. */
struct once {
	sennit_future       future;
	sennit_continuation c;
	atomic_uint        *freed;
};

static void free_it(void *argument, void *value, int error)
{
	struct once *o = argument;
	atomic_uint *freed = o->freed;

	EXPECT(value == &number && error == 0);
	memset(o, 0xa5, sizeof(*o));
	free(o);
	atomic_fetch_add(freed, 1);
}

TEST_WITH_WORKERS(it_may_free_its_record_and_the_future)
{
	atomic_uint freed = 0;
	unsigned    i;

	for (i = 0; i < 100; i++) {
		struct once *o = calloc(1, sizeof(*o));

		o->freed = &freed;
		o->c.run = free_it;
		o->c.argument = o;
		o->c.flags = i % 2 ? SENNIT_CONTINUATION_INLINE : 0;
		if (i % 4 < 2)
			sennit_future_then(&o->future, &o->c);
		sennit_future_set(&o->future, &number);
		if (i % 4 >= 2)
			sennit_future_then(&o->future, &o->c);
	}
	assert_soon(atomic_load(&freed) == 100);
}

/* --- no memory for a task ----------------------------------------------- */

static struct counting_allocator tally;

enum { MANY = 20000 };

/* Called in a task that does not wait, so this worker runs nothing that is
 * scheduled here meanwhile. */
static void attach_many(void *argument)
{
	struct sequel *q = argument;
	sennit_future  f = SENNIT_FUTURE_INIT;
	unsigned       i;

	for (i = 0; i < MANY; i++)
		sennit_future_then(&f, &q[i].c);
	atomic_store(&tally.dry, true);
	sennit_future_set(&f, &number);
	atomic_store(&tally.dry, false);
}

TEST_WITH_WORKERS(without_memory_each_still_runs_once)
{
	const sennit_allocator a = COUNTING_ALLOCATOR(&tally);
	struct sequel         *q = calloc(MANY, sizeof(*q));
	const sennit_task      t = { .run = attach_many, .argument = q };
	sennit_scheduler      *s;
	unsigned               i;

	for (i = 0; i < MANY; i++)
		set_sequel(&q[i]);
	s = start_with(SENNIT_CONFIG(.workers = w->workers, .allocator = &a));
	sennit_unbind();
	assert_int_equal(sennit_bind(s), 0);
	assert_int_equal(sennit_schedule_task(&t), 0);
	sennit_unbind();
	end_scheduler(s);
	assert_int_equal(sennit_bind(w->s), 0);
	for (i = 0; i < MANY; i++)
		assert_int_equal(atomic_load(&q[i].runs), 1);
	free(q);
}
