/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_ticket.c - misuse of tickets and their queues. */
#include "misuse.h"

static sennit_ticket_queue queue;
static sennit_ticket       tickets[2];

static void do_nothing(void *argument)
{
	(void)argument;
}

static void commit_done_without_take(const struct offence *o)
{
	(void)o;
	sennit_ticket_done(&tickets[0]);
}

TEST_WITH_COUNTS(a_ticket_done_that_was_never_taken)
{
	assert_misuse(w, "sennit_ticket_done", commit_done_without_take);
}

static void commit_done_twice(const struct offence *o)
{
	(void)o;
	sennit_ticket_queue_take_n(&queue, tickets, 2);
	sennit_ticket_done(&tickets[0]);
	sennit_ticket_done(&tickets[0]);
}

TEST_WITH_COUNTS(a_ticket_done_twice)
{
	assert_misuse(w, "sennit_ticket_done", commit_done_twice);
}

static void commit_done_with_copy(const struct offence *o)
{
	sennit_ticket copy;

	(void)o;
	sennit_ticket_queue_take_n(&queue, tickets, 2);
	copy = tickets[1];
	sennit_ticket_done(&copy);
}

TEST_WITH_COUNTS(a_copy_of_a_ticket_done)
{
	assert_misuse(w, "sennit_ticket_done", commit_done_with_copy);
}

static void commit_wait_without_take(const struct offence *o)
{
	(void)o;
	(void)!sennit_ticket_wait(&tickets[0]);
}

TEST_WITH_COUNTS(waiting_for_a_ticket_that_was_never_taken)
{
	assert_misuse(w, "sennit_ticket_wait", commit_wait_without_take);
}

static void commit_call_without_take(const struct offence *o)
{
	(void)o;
	(void)!sennit_ticket_on_call(&tickets[0], do_nothing, NULL);
}

TEST_WITH_COUNTS(a_function_for_a_ticket_that_was_never_taken)
{
	assert_misuse(w, "sennit_ticket_on_call", commit_call_without_take);
}

static void commit_call_after_done(const struct offence *o)
{
	(void)o;
	sennit_ticket_queue_take(&queue, &tickets[0]);
	sennit_ticket_done(&tickets[0]);
	(void)!sennit_ticket_on_call(&tickets[0], do_nothing, NULL);
}

TEST_WITH_COUNTS(a_function_for_a_ticket_that_is_done)
{
	assert_misuse(w, "sennit_ticket_on_call", commit_call_after_done);
}

static void commit_two_functions(const struct offence *o)
{
	(void)o;
	sennit_ticket_queue_take_n(&queue, tickets, 2);
	(void)!sennit_ticket_on_call(&tickets[1], do_nothing, NULL);
	(void)!sennit_ticket_on_call(&tickets[1], do_nothing, NULL);
}

TEST_WITH_COUNTS(two_functions_for_a_ticket)
{
	assert_misuse(w, "sennit_ticket_on_call", commit_two_functions);
}

static void commit_done_before_the_call(const struct offence *o)
{
	(void)o;
	sennit_ticket_queue_take_n(&queue, tickets, 2);
	(void)!sennit_ticket_on_call(&tickets[1], do_nothing, NULL);
	sennit_ticket_done(&tickets[1]);
}

TEST_WITH_COUNTS(a_ticket_done_before_its_function_was_called)
{
	assert_misuse(w, "sennit_ticket_done", commit_done_before_the_call);
}

static void commit_call_unbound(const struct offence *o)
{
	(void)o;
	sennit_ticket_queue_take(&queue, &tickets[0]);
	sennit_unbind();
	(void)!sennit_ticket_on_call(&tickets[0], do_nothing, NULL);
}

TEST_WITH_COUNTS(a_function_with_no_scheduler_bound)
{
	assert_misuse(w, "sennit_ticket_on_call", commit_call_unbound);
}

static void commit_destroy(const struct offence *o)
{
	(void)o;
	sennit_ticket_queue_take(&queue, &tickets[0]);
	sennit_ticket_queue_destroy(&queue);
}

TEST_WITH_COUNTS(destroying_a_queue_with_a_ticket_that_is_not_done)
{
	assert_misuse(w, "sennit_ticket_queue_destroy", commit_destroy);
}

/* --- taken twice -------------------------------------------------------- */

/* Which of the three tickets is taken again. */
static void take_again(unsigned again)
{
	sennit_ticket_queue q = SENNIT_TICKET_QUEUE_INIT;
	sennit_ticket       t[3];

	sennit_ticket_queue_take_n(&q, t, 3);
	sennit_ticket_queue_take(&q, &t[again]);
	sennit_ticket_done(&t[0]);
	sennit_ticket_done(&t[2]);
	sennit_ticket_done(&t[1]);
}

static void commit_take_the_first_again(const struct offence *o)
{
	(void)o;
	take_again(0);
}

static void commit_take_the_last_again(const struct offence *o)
{
	(void)o;
	take_again(2);
}

static void commit_take_one_between_again(const struct offence *o)
{
	(void)o;
	take_again(1);
}

TEST_WITH_COUNTS(a_ticket_taken_twice)
{
	assert_misuse(w, "sennit_ticket_queue_take",
		      commit_take_the_first_again);
	assert_misuse(w, "sennit_ticket_queue_take",
		      commit_take_the_last_again);
}

/* It stands between others, so the misuse is detected when a neighbour is
 * done. */
TEST_WITH_COUNTS(a_ticket_taken_twice_between_others)
{
	assert_misuse(w, "sennit_ticket_done", commit_take_one_between_again);
}
