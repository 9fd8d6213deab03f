/* SPDX-License-Identifier: Apache-2.0 */
/* cancelled_waits.c - cancelling a scope ends the waits inside it, including
 * waits for one of several objects, and unlinks them from every queue.
 */
#include "../api/with_workers.h"
#include "wait/cancel.h"

#include "sched/fiber.h"
#include "wait/wait.h"

#include <errno.h>

/* The objects of the waits. None of them is ever signalled. */
struct scene {
	struct sennit_cancel_scope outer, inner;
	sennit_event               events[10];
	sennit_event              *all[10];
	sennit_channel             channel, full;
	int                        memory[1];
	sennit_wait_group          done;
	atomic_uint                cancelled, late;
};

enum { ANY, ANY_OF_MANY, ALL_OF, RECEIVE, SEND, SELECT, KINDS };

static void set_scene(struct scene *c)
{
	const sennit_channel empty = SENNIT_CHANNEL_INIT(sizeof(int));
	const sennit_channel bounded = SENNIT_CHANNEL_INIT_ARRAY(c->memory);
	const int            v = 1;
	unsigned             i;

	memset(c, 0, sizeof(*c));
	sn_cancel_scope_open(&c->outer, NULL, SENNIT_NEVER);
	sn_cancel_scope_open(&c->inner, &c->outer, SENNIT_NEVER);
	for (i = 0; i < 10; i++) {
		sennit_event_init(&c->events[i], i % 2, false);
		c->all[i] = &c->events[i];
	}
	c->channel = empty;
	c->full = bounded;
	assert_int_equal(sennit_channel_send(&c->full, &v), 0);
}

static int select_in_scene(struct scene *c, sennit_time deadline)
{
	int         v = 2;
	size_t      which;
	sennit_case cases[3];

	cases[0] = sennit_case_receive(&c->channel, &v);
	cases[1] = sennit_case_send(&c->full, &v);
	cases[2] = sennit_case_event(&c->events[1]);
	return sennit_select_until(cases, 3, &which, deadline);
}

static int wait_in_scene(struct scene *c, unsigned kind, sennit_time deadline)
{
	size_t which;
	int    v = 3;

	switch (kind) {
	case ANY:
		return sennit_event_wait_any_until(c->all, 4, &which, deadline);
	case ANY_OF_MANY:
		return sennit_event_wait_any_until(c->all, 10, &which,
						   deadline);
	case ALL_OF:
		return sennit_event_wait_all_until(c->all, 10, deadline);
	case RECEIVE:
		return sennit_channel_receive_until(&c->channel, &v, deadline);
	case SEND:
		return sennit_channel_send_until(&c->full, &v, deadline);
	default:
		return select_in_scene(c, deadline);
	}
}

static void check_scene(struct scene *c)
{
	unsigned i;

	for (i = 0; i < 10; i++)
		sennit_event_destroy(&c->events[i]);
	sennit_channel_destroy(&c->channel);
	sennit_channel_destroy(&c->full);
}

struct visitor {
	struct scene *c;
	unsigned      kind;
	sennit_time   deadline;
};

static void visit(void *argument)
{
	const struct visitor *v = argument;
	struct scene         *c = v->c;
	sennit_fiber         *self = sennit_fiber_current();
	int                   err;

	sn_fiber_set_scope(self, &c->inner);
	err = wait_in_scene(c, v->kind, v->deadline);
	sn_fiber_set_scope(self, NULL);
	EXPECT(err == -ECANCELED || err == -ETIMEDOUT);
	atomic_fetch_add(err == -ECANCELED ? &c->cancelled : &c->late, 1);
	sennit_wait_group_done(&c->done);
}

static void start_visits(struct scene *c, unsigned each, sennit_time deadline)
{
	struct visitor v = { .c = c, .deadline = deadline };
	unsigned       i;

	sennit_wait_group_init(&c->done, each * KINDS);
	for (i = 0; i < each * KINDS; i++) {
		v.kind = i % KINDS;
		assert_int_equal(sennit_schedule_copy(visit, &v, sizeof(v)), 0);
	}
}

TEST_WITH_WORKERS(a_cancel_ends_every_kind_of_wait)
{
	struct scene c;

	set_scene(&c);
	start_visits(&c, 10, SENNIT_NEVER);
	assert_soon(fibers_of(w->s) == 10 * KINDS);
	assert_true(sn_wake_cancelled(&c.outer));
	sennit_wait_group_wait(&c.done);
	assert_int_equal(atomic_load(&c.cancelled), 10 * KINDS);
	check_scene(&c);
}

TEST_WITH_WORKERS(a_wait_in_a_cancelled_scope_does_not_begin)
{
	struct scene c;

	set_scene(&c);
	assert_true(sn_wake_cancelled(&c.inner));
	start_visits(&c, 10, SENNIT_NEVER);
	sennit_wait_group_wait(&c.done);
	assert_int_equal(atomic_load(&c.cancelled), 10 * KINDS);
	check_scene(&c);
}

TEST_WITH_WORKERS(the_deadline_of_the_scope_ends_every_kind_of_wait)
{
	struct scene c;

	set_scene(&c);
	c.inner.deadline_ = sennit_after(2 * SENNIT_MILLISECOND);
	start_visits(&c, 10, SENNIT_NEVER);
	sennit_wait_group_wait(&c.done);
	assert_int_equal(atomic_load(&c.late), 10 * KINDS);
	check_scene(&c);
}

TEST_WITH_WORKERS(cancels_and_deadlines_may_come_at_once)
{
	struct scene c;
	unsigned     i;

	for (i = 0; i < 20; i++) {
		set_scene(&c);
		start_visits(&c, 5,
			     sennit_after(i * 10 * SENNIT_MICROSECOND + 1));
		assert_true(sn_wake_cancelled(&c.outer));
		sennit_wait_group_wait(&c.done);
		assert_int_equal(atomic_load(&c.late) +
					 atomic_load(&c.cancelled),
				 5 * KINDS);
		check_scene(&c);
	}
}

/* --- what a cancel does not end ----------------------------------------- */

struct calm {
	struct scene      c;
	sennit_wait_group done;
};

static void wait_uncancelled(void *argument)
{
	struct calm      *k = argument;
	sennit_fiber     *self = sennit_fiber_current();
	sennit_case       event = sennit_case_event(&k->c.events[2]);
	const sennit_time never = SENNIT_UNCANCELLED;
	size_t            which = 9;
	int               v = 0;

	sn_fiber_set_scope(self, &k->c.inner);
	EXPECT(!sennit_event_wait_any_until(k->c.all, 9, &which, never));
	EXPECT(which == 0);
	EXPECT(!sennit_channel_receive_until(&k->c.channel, &v, never));
	EXPECT(v == 5);
	EXPECT(!sennit_select_until(&event, 1, &which, never));
	EXPECT(!sennit_event_wait_all_until(k->c.all + 1, 1, never));
	sn_fiber_set_scope(self, NULL);
	sennit_wait_group_done(&k->done);
}

TEST_WITH_WORKERS(uncancelled_waits_go_on)
{
	struct calm *k = calloc(1, sizeof(*k));
	const int    v = 5;

	set_scene(&k->c);
	sennit_wait_group_init(&k->done, 1);
	sn_wake_cancelled(&k->c.outer);
	must_schedule(wait_uncancelled, k);
	sennit_yield();
	sennit_event_set(&k->c.events[0]);
	assert_int_equal(sennit_channel_send(&k->c.channel, &v), 0);
	sennit_event_set(&k->c.events[2]);
	sennit_event_set(&k->c.events[1]);
	sennit_wait_group_wait(&k->done);
	check_scene(&k->c);
	free(k);
}

/* --- reports ------------------------------------------------------------ */

static void count_running_errands(void *context, const sennit_report_entry *e)
{
	unsigned *count = context;

	*count += e->task == run_errand && e->state == SENNIT_REPORT_RUNNING;
}

/* A wait whose scope was cancelled before it slept must not stay in reports,
 * either. */
static void wait_and_look(void *argument)
{
	struct scene *c = argument;
	sennit_fiber *self = sennit_fiber_current();
	unsigned      kind;

	sn_fiber_set_scope(self, &c->inner);
	for (kind = 0; kind < KINDS; kind++) {
		unsigned count = 0;

		EXPECT(wait_in_scene(c, kind, SENNIT_NEVER) == -ECANCELED);
		sennit_scheduler_report(sennit_current(), count_running_errands,
					&count);
		EXPECT(count == 1);
	}
	sn_fiber_set_scope(self, NULL);
}

TEST_WITH_WORKERS(a_wait_that_did_not_begin_is_not_reported)
{
	struct scene c;

	set_scene(&c);
	sn_wake_cancelled(&c.inner);
	in_a_task(wait_and_look, &c);
	check_scene(&c);
}
