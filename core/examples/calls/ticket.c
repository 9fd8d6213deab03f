/* SPDX-License-Identifier: Apache-2.0 */
/* ticket.c - several turns in a row, and a wait for one. */
#include "calls.h"

static void show(sennit_scheduler *s)
{
	sennit_ticket_queue q;
	sennit_ticket       turns[3];

	(void)s;
	sennit_ticket_queue_init(&q); /* or all bytes zero */
	sennit_ticket_queue_take_many(&q, turns, 3);
	CHECK(sennit_ticket_is_due(&turns[0]));
	CHECK(sennit_ticket_wait_until(&turns[1], 0) == -ETIMEDOUT);
	sennit_ticket_done(&turns[0]);
	CHECK(sennit_ticket_wait_until(&turns[1], soon()) == 0);
	sennit_ticket_done(&turns[2]); /* before it is due */
	sennit_ticket_done(&turns[1]);
	sennit_ticket_queue_destroy(&q);
}

int main(void)
{
	return run(show);
}
