/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_ticket.c - misuse of tickets and their queues. */
#include "testing/misuse.h"

static sennit_ticket_queue queue;
static sennit_ticket       tickets[2];

static void do_nothing(void *argument)
{
}

static void call_nothing(sennit_ticket *t)
{
	(void)!sennit_ticket_on_call(t, do_nothing, NULL);
}

/* --- done --------------------------------------------------------------- */

static void take_both(void)
{
	sennit_ticket_queue_take_many(&queue, tickets, 2);
}

MISUSE_TEST(a_copy_of_a_ticket_done, "sennit_ticket_done")
{
	sennit_ticket copy;

	take_both();
	copy = tickets[1];
	sennit_ticket_done(&copy);
}

MISUSE_BY(a_ticket_done_that_was_never_taken, "sennit_ticket_done",
	  sennit_ticket_done(&tickets[0]));
MISUSE_BY(a_ticket_done_twice, "sennit_ticket_done", take_both(),
	  sennit_ticket_done(&tickets[0]), sennit_ticket_done(&tickets[0]));
MISUSE_BY(a_ticket_done_before_its_function_was_called, "sennit_ticket_done",
	  take_both(), call_nothing(&tickets[1]),
	  sennit_ticket_done(&tickets[1]));

/* --- calls -------------------------------------------------------------- */

MISUSE_BY(waiting_for_a_ticket_that_was_never_taken, "sennit_ticket_wait",
	  (void)!sennit_ticket_wait(&tickets[0]));
MISUSE_BY(a_function_for_a_ticket_that_was_never_taken, "sennit_ticket_on_call",
	  call_nothing(&tickets[0]));
MISUSE_BY(a_function_for_a_ticket_that_is_done, "sennit_ticket_on_call",
	  sennit_ticket_queue_take(&queue, &tickets[0]),
	  sennit_ticket_done(&tickets[0]), call_nothing(&tickets[0]));
MISUSE_BY(two_functions_for_a_ticket, "sennit_ticket_on_call", take_both(),
	  call_nothing(&tickets[1]), call_nothing(&tickets[1]));
MISUSE_BY(a_function_with_no_scheduler_bound, "sennit_ticket_on_call",
	  sennit_ticket_queue_take(&queue, &tickets[0]), sennit_thread_unbind(),
	  call_nothing(&tickets[0]));
MISUSE_BY(destroying_a_queue_with_a_ticket_that_is_not_done,
	  "sennit_ticket_queue_destroy",
	  sennit_ticket_queue_take(&queue, &tickets[0]),
	  sennit_ticket_queue_destroy(&queue));

/* --- taken twice -------------------------------------------------------- */

/* Which of the three tickets is taken again. */
static void take_again(unsigned again)
{
	sennit_ticket_queue q = SENNIT_TICKET_QUEUE_INIT;
	sennit_ticket       t[3];

	sennit_ticket_queue_take_many(&q, t, 3);
	sennit_ticket_queue_take(&q, &t[again]);
	sennit_ticket_done(&t[0]);
	sennit_ticket_done(&t[2]);
	sennit_ticket_done(&t[1]);
}

MISUSE_BY(the_first_ticket_taken_twice, "sennit_ticket_queue_take",
	  take_again(0));
MISUSE_BY(the_last_ticket_taken_twice, "sennit_ticket_queue_take",
	  take_again(2));

/* It stands between others, so the misuse is detected when a neighbour is
 * done. */
MISUSE_BY(a_ticket_taken_twice_between_others, "sennit_ticket_done",
	  take_again(1));
