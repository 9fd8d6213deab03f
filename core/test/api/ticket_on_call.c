/* SPDX-License-Identifier: Apache-2.0 */
/* ticket_on_call.c - a function that is called when a ticket becomes due. */
#include "testing/with_workers.h"
#include "testing/counting_allocator.h"

#include <errno.h>

enum { CALLS = 500 };

struct calls {
	sennit_ticket_queue q;
	sennit_ticket       tickets[CALLS];
	sennit_wait_group   done;
	unsigned            made; /* accessed in turn */
};

struct blocking_call {
	struct calls *calls;
	unsigned      number;
};

static struct blocking_call call_list[CALLS];

/* The ticket's function: checks its turn, and marks the ticket as done. */
static void make_call(void *argument)
{
	const struct blocking_call *c = argument;
	struct calls               *all = c->calls;

	EXPECT(all->made++ == c->number);
	EXPECT(sennit_scheduler_current() != NULL);
	sennit_ticket_done(&all->tickets[c->number]);
	sennit_wait_group_done(&all->done);
}

static void ask(struct calls *all, unsigned i)
{
	call_list[i] = (struct blocking_call){ all, i };
	EXPECT(sennit_ticket_on_call(&all->tickets[i], make_call,
				     &call_list[i]) == 0);
}

/* The first `held` tickets get no function. */
static void prepare(struct calls *all, unsigned held)
{
	memset(all, 0, sizeof(*all));
	all->made = held;
	sennit_wait_group_init(&all->done, CALLS - held);
	sennit_ticket_queue_take_many(&all->q, all->tickets, CALLS);
	for (unsigned i = CALLS; i > held; i--)
		ask(all, i - 1);
}

static void end(struct calls *all)
{
	sennit_wait_group_wait(&all->done);
	EXPECT(all->made == CALLS);
	sennit_ticket_queue_destroy(&all->q);
}

static struct calls shared;

static void in_turn(void *argument)
{
	prepare(&shared, 0);
	end(&shared);
}

TEST_WITH_WORKERS(functions_are_called_in_turn)
{
	in_turn(NULL);
	in_a_task(in_turn, NULL);
}

static void done_by_an_unbound_thread(void *argument)
{
	sennit_ticket_done(argument);
}

TEST_WITH_WORKERS(an_unbound_thread_may_make_the_first_due)
{
	prepare(&shared, 1);
	sennit_yield();
	assert_int_equal(shared.made, 1);
	in_a_thread(done_by_an_unbound_thread, &shared.tickets[0]);
	end(&shared);
}

TEST_WITH_THREADS(pending_calls_take_no_stacks)
{
	prepare(&shared, 1);
	assert_int_equal(fibers_of(w->s), 0);
	sennit_ticket_done(&shared.tickets[0]);
	end(&shared);
}

/* --- one ticket --------------------------------------------------------- */

struct one {
	sennit_ticket_queue q;
	sennit_ticket       t;
	atomic_bool         called;
	sennit_wait_group   done;
	bool                holds; /* the caller has not returned */
};

static void note_call(void *argument)
{
	struct one *o = argument;

	EXPECT(!o->holds);
	atomic_store(&o->called, true);
	sennit_wait_group_done(&o->done);
}

TEST_WITH_WORKERS(a_ticket_that_is_due_calls_at_once)
{
	struct one o = { .holds = false };

	sennit_ticket_queue_take(&o.q, &o.t);
	for (unsigned i = 0; i < 3; i++) { /* one after the other is allowed */
		sennit_wait_group_init(&o.done, 1);
		atomic_store(&o.called, false);
		assert_int_equal(sennit_ticket_on_call(&o.t, note_call, &o), 0);
		sennit_wait_group_wait(&o.done);
		assert_true(atomic_load(&o.called));
	}
	sennit_ticket_done(&o.t);
	sennit_ticket_queue_destroy(&o.q);
}

/* Without workers, the thread that makes it due must not call it. */
TEST_WITHOUT(nobody_calls_it_on_the_stack_of_done)
{
	struct one    o = { .holds = true };
	sennit_ticket first;

	sennit_wait_group_init(&o.done, 1);
	sennit_ticket_queue_take(&o.q, &first);
	sennit_ticket_queue_take(&o.q, &o.t);
	assert_int_equal(sennit_ticket_on_call(&o.t, note_call, &o), 0);
	sennit_ticket_done(&first);
	assert_false(atomic_load(&o.called));
	o.holds = false;
	sennit_wait_group_wait(&o.done);
	sennit_ticket_done(&o.t);
}

TEST_WITH_WORKERS(no_function_is_refused)
{
	struct one o = { .holds = false };

	sennit_ticket_queue_take(&o.q, &o.t);
	assert_int_equal(sennit_ticket_on_call(&o.t, NULL, &o), -EINVAL);
	sennit_ticket_done(&o.t);
	sennit_ticket_queue_destroy(&o.q);
}

/* --- the end of the scheduler ------------------------------------------- */

/* A pending call keeps the scheduler alive, and the last call lets it end. */
TEST_IN_WORLDS(the_scheduler_ends_after_the_call,
	       IN_WORLD(the_scheduler_ends_after_the_call, "_w1", open_count,
			close_count, 1),
	       IN_WORLD(the_scheduler_ends_after_the_call, "_w8", open_count,
			close_count, 3))
{
	sennit_scheduler *s = start_scheduler(w->workers);
	struct one        o = { .holds = false };
	sennit_ticket     first;

	sennit_wait_group_init(&o.done, 1);
	sennit_ticket_queue_take(&o.q, &first);
	sennit_ticket_queue_take(&o.q, &o.t);
	assert_int_equal(sennit_thread_bind(s), 0);
	assert_int_equal(sennit_ticket_on_call(&o.t, note_call, &o), 0);
	sennit_thread_unbind();
	assert_int_equal(sennit_scheduler_shutdown(
				 s, sennit_after(5 * SENNIT_MILLISECOND)),
			 -ETIMEDOUT);
	sennit_ticket_done(&first);
	end_scheduler(s);
	assert_true(atomic_load(&o.called));
	sennit_ticket_done(&o.t);
}

/* --- without memory ----------------------------------------------------- */

static struct counting_allocator tally;

/* Request calls until one is refused. The accepted calls must happen
 * nevertheless. */
static void ask_until_refused(struct calls *all)
{
	unsigned asked = 1;
	int      err = 0;

	memset(all, 0, sizeof(*all));
	all->made = 1;
	sennit_ticket_queue_take_many(&all->q, all->tickets, CALLS);
	atomic_store(&tally.dry, true);
	while (!err && asked < CALLS) {
		call_list[asked] = (struct blocking_call){ all, asked };
		sennit_wait_group_add(&all->done, 1);
		err = sennit_ticket_on_call(&all->tickets[asked], make_call,
					    &call_list[asked]);
		asked += !err;
	}
	EXPECT(err == -ENOMEM);
	sennit_wait_group_done(&all->done);
	sennit_ticket_done(&all->tickets[0]);
	sennit_wait_group_wait(&all->done);
	atomic_store(&tally.dry, false);
	EXPECT(all->made == asked);
	for (; asked < CALLS; asked++)
		sennit_ticket_done(&all->tickets[asked]);
	sennit_ticket_queue_destroy(&all->q);
}

TEST_WITH_COUNTS(what_was_accepted_needs_no_more_memory)
{
	const sennit_allocator a = COUNTING_ALLOCATOR(&tally);
	sennit_scheduler      *s = start_with(
		     SENNIT_CONFIG(.workers = w->workers, .allocator = &a));

	atomic_store(&tally.dry, false);
	assert_int_equal(sennit_thread_bind(s), 0);
	ask_until_refused(&shared);
	sennit_thread_unbind();
	end_scheduler(s);
}
