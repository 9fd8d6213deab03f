/* SPDX-License-Identifier: Apache-2.0 */
/* deadlock.c - two tasks that lock two mutexes in opposite orders.
 *
 * A transfer locks the accounts, then the journal. The audit locks the journal,
 * then the accounts. Both hold their first lock while they wait for a disk, and
 * then wait for each other. The shutdown times out, and the program prints the
 * report, which names the deadlock, and the stacks.
 *
 * Cure: every task locks the accounts before the journal.
 */
#include <sennit.h>
#include <sennit/stacks.h>

#include <stdio.h>
#include <unistd.h>

static sennit_mutex accounts = SENNIT_MUTEX_INIT;
static sennit_mutex journal = SENNIT_MUTEX_INIT;

/* Not static: the backtraces show their names. */
void transfer(void *unused);
void audit(void *unused);

void transfer(void *unused)
{
	(void)unused;
	sennit_task_set_name("transfer 1017");
	sennit_mutex_lock(&accounts);
	sennit_sleep(100 * SENNIT_MILLISECOND); /* the disk */
	sennit_mutex_lock(&journal);
	sennit_mutex_unlock(&journal);
	sennit_mutex_unlock(&accounts);
}

void audit(void *unused)
{
	(void)unused;
	sennit_mutex_lock(&journal); /* the fault: the accounts come first */
	sennit_sleep(100 * SENNIT_MILLISECOND);
	sennit_mutex_lock(&accounts);
	sennit_mutex_unlock(&accounts);
	sennit_mutex_unlock(&journal);
}

int main(void)
{
	const sennit_task tasks[] = { { .run = transfer }, { .run = audit } };
	sennit_scheduler *s;

	if (sennit_scheduler_create(
		    &s, SENNIT_CONFIG(.workers = 1, .name = "bank")) ||
	    sennit_schedule_many_on(s, tasks, 2))
		return 1;
	if (!sennit_scheduler_shutdown(s, sennit_after(SENNIT_SECOND / 2)))
		return 0;
	sennit_report_print(s, STDOUT_FILENO);
	return sennit_stacks_print(s, STDOUT_FILENO, SENNIT_STACKS_TEXT) ? 2
									 : 1;
}
