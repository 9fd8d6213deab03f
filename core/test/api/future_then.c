/* SPDX-License-Identifier: Apache-2.0 */
/* future_then.c - continuations: each runs once, with the outcome, in the right
 * place. */
#include "testing/with_workers.h"
#include "testing/counting_allocator.h"

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
	q->s = sennit_scheduler_current();
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

	set_sequel(&before);
	set_sequel(&after);
	sennit_future_then(&f, &before.c);
	EXPECT(atomic_load(&before.runs) == 0);
	sennit_future_set(&f, &number);
	sennit_future_then(&f, &after.c);
	EXPECT_SOON(atomic_load(&before.runs) && atomic_load(&after.runs));
	EXPECT(before.value == &number && before.error == 0);
	EXPECT(after.value == &number && after.error == 0);
	EXPECT(before.s == sennit_scheduler_current() &&
	       after.s == sennit_scheduler_current());
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
	line.order[line.next++] = (unsigned)(uintptr_t)argument;
}

TEST_WITH_WORKERS(inline_ones_run_in_the_order_in_which_they_came)
{
	sennit_future f = SENNIT_FUTURE_INIT;

	memset(&line, 0, sizeof(line));
	for (unsigned i = 0; i < 8; i++) {
		line.c[i].run = join_line;
		line.c[i].argument = (void *)(uintptr_t)i;
		line.c[i].flags = SENNIT_CONTINUATION_INLINE;
		sennit_future_then(&f, &line.c[i]);
	}
	sennit_future_set(&f, NULL);
	assert_int_equal(line.next, 8);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(line.order[i], i);
}

/* --- chains --------------------------------------------------------------- */

enum { LINKS = 100000 };

/* Continuation i sets future i + 1, in one of several ways. */
struct chain_link {
	sennit_future       future;
	sennit_continuation c;
	struct chain       *chain;
};

struct chain {
	uint32_t          flags;
	unsigned          ran;
	bool              in_order, late, waits;
	struct chain_link links[LINKS + 1];
};

static void pass_on(void *argument, void *value, int error)
{
	struct chain_link *l = argument;
	struct chain      *chain = l->chain;
	const unsigned     i = (unsigned)(l - chain->links);

	if (chain->ran++ != i)
		chain->in_order = false;
	if (chain->waits && i % 1000 == 0)
		sennit_yield();
	if (chain->late) { /* the next future is set already */
		sennit_future_then(&l[1].future, &l[1].c);
		return;
	}
	if (error)
		sennit_future_set_error(&l[1].future, error);
	else if (i % 2)
		sennit_future_set(&l[1].future, value);
	else
		EXPECT(sennit_future_try_set(&l[1].future, value) == 0);
}

static void make_chain(struct chain *chain, uint32_t flags)
{
	memset(chain, 0, sizeof(*chain));
	chain->flags = flags;
	chain->in_order = true;
	for (unsigned i = 0; i <= LINKS; i++) {
		chain->links[i].chain = chain;
		chain->links[i].c.run = pass_on;
		chain->links[i].c.argument = &chain->links[i];
		chain->links[i].c.flags = flags;
	}
}

static void run_chain(void *argument)
{
	struct chain *chain = argument;
	void         *value = NULL;

	chain->links[LINKS].c.run = NULL; /* the end is never attached */
	for (unsigned i = 0; i < LINKS; i++)
		sennit_future_then(&chain->links[i].future, &chain->links[i].c);
	sennit_future_set(&chain->links[0].future, &number);
	EXPECT(chain->ran == LINKS && chain->in_order);
	EXPECT(sennit_future_get_until(&chain->links[LINKS].future, &value,
				       0) == 0);
	EXPECT(value == &number);
}

static void note_end(void *argument, void *value, int error)
{
	EXPECT(value == &number && error == 0);
	((struct chain_link *)argument)->chain->ran++;
}

static void run_late_chain(void *argument)
{
	struct chain *chain = argument;

	chain->late = true;
	chain->links[LINKS].c.run = note_end;
	for (unsigned i = 0; i <= LINKS; i++)
		sennit_future_set(&chain->links[i].future, &number);
	sennit_future_then(&chain->links[0].future, &chain->links[0].c);
	EXPECT(chain->ran == LINKS + 1 && chain->in_order);
}

TEST_IN_EACH_PLACE(a_chain_of_inline_ones_needs_one_frame)
{
	struct chain *chain = calloc(1, sizeof(*chain));

	make_chain(chain, SENNIT_CONTINUATION_INLINE);
	run_chain(chain);
	make_chain(chain, SENNIT_CONTINUATION_INLINE);
	chain->waits = true;
	run_chain(chain);
	make_chain(chain, SENNIT_CONTINUATION_INLINE);
	run_late_chain(chain);
	free(chain);
}

/* Without a scheduler, all are run by the setter. */
static void run_plain_chains(void *argument)
{
	struct chain *chain = calloc(1, sizeof(*chain));

	make_chain(chain, 0);
	run_chain(chain);
	make_chain(chain, 0);
	run_late_chain(chain);
	free(chain);
}

TEST_WITH_WORKERS(a_chain_without_a_scheduler_needs_one_frame)
{
	in_a_thread(run_plain_chains, NULL);
}

/* Continuations 0 to 2 of one future, of which the first one sets another, with
 * 3 to 5. */
struct tree {
	sennit_future       second;
	unsigned            next;
	unsigned            order[6];
	sennit_continuation c[6];
};

static void note_place(void *argument, void *value, int error)
{
	struct tree *t = value;
	unsigned     i = (unsigned)(uintptr_t)argument;

	t->order[t->next++] = i;
	if (i)
		return;
	sennit_future_set(&t->second, t);
	EXPECT(t->next == 1); /* they come later */
}

static void run_tree(void *argument)
{
	sennit_future first = SENNIT_FUTURE_INIT;
	struct tree   t = { .next = 0 };

	for (unsigned i = 0; i < 6; i++) {
		t.c[i].run = note_place;
		t.c[i].argument = (void *)(uintptr_t)i;
		t.c[i].flags = SENNIT_CONTINUATION_INLINE;
		sennit_future_then(i < 3 ? &first : &t.second, &t.c[i]);
	}
	sennit_future_set(&first, &t);
	EXPECT(t.next == 6);
	for (unsigned i = 0; i < 6; i++)
		EXPECT(t.order[i] == i);
}

TEST_WITH_WORKERS(those_set_off_by_one_come_behind_those_that_were_there)
{
	in_each_place(run_tree, NULL);
}

/* A continuation that waits for a task, which may run on its stack, and that
 * sets a future with a continuation of its own. */
static int set_inside(void *argument)
{
	attach_inline(NULL); /* each runs before its call returns */
	return 0;
}

static void wait_for_member(void *argument, void *value, int error)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	EXPECT(sennit_group_spawn(&g, set_inside, NULL) == 0);
	EXPECT(sennit_group_wait(&g) == 0);
	atomic_fetch_add((atomic_uint *)argument, 1);
}

/* Other fibers of the thread set futures while this one waits. */
static void attach_waiting(void *argument)
{
	sennit_future       f = SENNIT_FUTURE_INIT;
	atomic_uint         ran = 0;
	sennit_continuation c[2];

	for (unsigned i = 0; i < 2; i++) {
		c[i] = (sennit_continuation){
			.run = wait_for_member,
			.argument = &ran,
			.flags = SENNIT_CONTINUATION_INLINE,
		};
		sennit_future_then(&f, &c[i]);
	}
	sennit_future_set(&f, NULL);
	EXPECT(atomic_load(&ran) == 2);
}

TEST_WITH_WORKERS(a_task_on_the_stack_of_one_that_waits_is_a_setter_of_its_own)
{
	attach_waiting(NULL);
	for (unsigned i = 0; i < 20; i++)
		must_schedule(attach_waiting, NULL);
	in_a_task(attach_waiting, NULL);
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

	for (unsigned i = 0; i < 100; i++) {
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

	for (unsigned i = 0; i < MANY; i++)
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

	for (unsigned i = 0; i < MANY; i++)
		set_sequel(&q[i]);
	s = start_with(SENNIT_CONFIG(.workers = w->workers, .allocator = &a));
	sennit_thread_unbind();
	assert_int_equal(sennit_thread_bind(s), 0);
	assert_int_equal(sennit_schedule_task(&t), 0);
	sennit_thread_unbind();
	end_scheduler(s);
	assert_int_equal(sennit_thread_bind(w->s), 0);
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(atomic_load(&q[i].runs), 1);
	free(q);
}
