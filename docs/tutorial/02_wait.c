/* SPDX-License-Identifier: Apache-2.0 */
/* 02_wait.c - a thousand tasks wait for a bank to open, then each pays in. */
#include <sennit.h>

#include <stdio.h>

enum { CUSTOMERS = 1000 };

static sennit_event      open_doors = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
static sennit_mutex      lock = SENNIT_MUTEX_INIT;
static sennit_wait_group inside;
static int               balance; /* under lock */

static void pay_in(void *amount)
{
	if (!sennit_event_wait(&open_doors)) {
		sennit_mutex_lock(&lock);
		balance += *(const int *)amount;
		sennit_yield(); /* a lock may be held across a wait */
		sennit_mutex_unlock(&lock);
	}
	sennit_wait_group_done(&inside);
}

static int program(void *unused)
{
	(void)unused;
	sennit_wait_group_init(&inside, CUSTOMERS);
	for (int i = 1; i <= CUSTOMERS; i++)
		if (sennit_schedule_copy(pay_in, &i, sizeof(i)))
			return 1;
	sennit_event_set(&open_doors);
	sennit_wait_group_wait(&inside);
	printf("balance: %d\n", balance);
	return balance == CUSTOMERS * (CUSTOMERS + 1) / 2 ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
