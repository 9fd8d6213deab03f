/* SPDX-License-Identifier: Apache-2.0 */
/* lost_work.c - work that is never finished.
 *
 * The day is closed when ten orders are done. An order without an address is
 * refused, and its task returns early, without sennit_wait_group_done(). So the
 * count stays 1, and the day is never closed. No task runs, and no fiber but
 * the waiting one is left.
 *
 * Cure: call sennit_wait_group_done() on every way out of the task, or use a
 * group (sennit/group.h), whose wait ends when its members have ended.
 */
#include <sennit.h>
#include <sennit/stacks.h>

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#define ORDERS 10

struct order {
	bool has_address;
};

static struct order      orders[ORDERS];
static sennit_wait_group done;

/* Not static: the backtraces show their names. */
void ship_order(void *order);
void close_day(void *unused);

void ship_order(void *argument)
{
	const struct order *o = argument;

	if (!o->has_address)
		return; /* the fault */
	sennit_sleep(10 * SENNIT_MILLISECOND);
	sennit_wait_group_done(&done);
}

void close_day(void *unused)
{
	(void)unused;
	sennit_wait_group_init(&done, ORDERS);
	for (int i = 0; i < ORDERS; i++) {
		orders[i].has_address = i != 6;
		if (sennit_schedule(ship_order, &orders[i]))
			sennit_wait_group_done(&done); /* no memory */
	}
	sennit_wait_group_wait(&done);
	puts("the day is closed");
}

int main(void)
{
	const sennit_task task = { .run = close_day };
	sennit_scheduler *s;

	if (sennit_scheduler_create(
		    &s, SENNIT_CONFIG(.workers = 2, .name = "shop")) ||
	    sennit_schedule_task_on(s, &task))
		return 1;
	if (!sennit_scheduler_shutdown(s, sennit_after(SENNIT_SECOND / 2)))
		return 0;
	sennit_report_print(s, STDOUT_FILENO);
	return sennit_stacks_print(s, STDOUT_FILENO, SENNIT_STACKS_TEXT) ? 2
									 : 1;
}
