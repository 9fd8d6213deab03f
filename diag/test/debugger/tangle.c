/* SPDX-License-Identifier: Apache-2.0 */
/* tangle.c - the program that testing/build/debugger_tangle.sh looks at: fibers
 * that wait for each other, two schedulers, and a crowd.
 *
 *	tangle CROWD
 *
 * When nothing changes any more it prints "settled". It runs until it is
 * killed, or for fifteen minutes.
 *
 * Of the crowd each fiber waits for one event, a fifth of them at each of five
 * depths of crowd_calls.
 */
#include <sennit.h>
#include <sennit/workers.h>

#include <alloca.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifdef __clang__
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone))
#endif

enum { DEPTHS = 5 };

static sennit_scheduler *bank, *shop;
static sennit_mutex      first, second, third;
static sennit_rwlock     table;
static sennit_event      never;
static volatile int      after; /* keeps a call from being the last */

/* --- a deadlock of two mutexes ------------------------------------------- */

static APART void take(sennit_mutex *m)
{
	sennit_mutex_lock(m);
	after++;
}

static APART void transfer_task(void *unused)
{
	(void)unused;
	take(&first);
	sennit_sleep(100 * SENNIT_MILLISECOND);
	take(&second);
	after++;
}

static APART void audit_task(void *unused)
{
	(void)unused;
	take(&second);
	sennit_sleep(100 * SENNIT_MILLISECOND);
	take(&first);
	after++;
}

/* --- a group whose member needs its opener's lock ------------------------ */

static APART int member(void *unused)
{
	(void)unused;
	take(&third);
	return after;
}

static APART void opener_task(void *unused)
{
	sennit_group g;

	(void)unused;
	take(&third);
	sennit_group_init(&g, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	if (sennit_group_spawn(&g, member, NULL))
		_exit(1);
	after = sennit_group_wait(&g);
	after++;
}

/* --- readers and a writer ------------------------------------------------- */

static APART void reader_task(void *unused)
{
	(void)unused;
	sennit_rwlock_lock_shared(&table);
	(void)!sennit_event_wait(&never);
	after++;
}

static APART void writer_task(void *unused)
{
	(void)unused;
	sennit_rwlock_lock(&table);
	after++;
}

/* --- many ----------------------------------------------------------------- */

static APART void crowd_calls(uintptr_t depth)
{
	if (depth)
		crowd_calls(depth - 1);
	else
		(void)!sennit_event_wait(&never);
	after++;
}

/* Its frames are of 64 sizes. */
static APART void crowd_task(void *number)
{
	const uintptr_t n = (uintptr_t)number;
	volatile char  *frame = alloca(16 + 16 * (n % 64));

	frame[0] = 1;
	crowd_calls(n % DEPTHS);
	after = frame[0];
}

static void schedule(sennit_scheduler *s, sennit_task_fn *run, void *argument)
{
	const sennit_task t = { .run = run, .argument = argument };

	if (sennit_schedule_task_on(s, &t))
		_exit(1);
}

static void count(void *context, const sennit_report_entry *e)
{
	unsigned *blocked = context;

	*blocked += e->state == SENNIT_REPORT_BLOCKED &&
		    e->waits_for != SENNIT_WAITS_FOR_TIME;
}

static unsigned blocked(sennit_scheduler *s)
{
	unsigned n = 0;

	sennit_report_visit(s, count, &n);
	return n;
}

static void count_awake(void *context, const sennit_worker_view *view)
{
	unsigned *awake = context;

	*awake += view->state != SENNIT_WORKER_ASLEEP &&
		  view->state != SENNIT_WORKER_ABSENT;
}

static bool is_asleep(sennit_scheduler *s)
{
	unsigned awake = 0;

	sennit_workers_visit(s, count_awake, &awake);
	return !awake;
}

/* A fiber is blocked a moment before its worker has left its stack. */
static APART void await(unsigned in_bank)
{
	while (blocked(bank) != in_bank || blocked(shop) != 1 ||
	       !is_asleep(bank) || !is_asleep(shop))
		usleep(100000);
}

int main(int argc, char **argv)
{
	const unsigned crowd = argc > 1 ? (unsigned)atoi(argv[1]) : 0;

	alarm(900);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	if (sennit_scheduler_create(
		    &bank, SENNIT_CONFIG(.workers = 1, .name = "bank")) ||
	    sennit_scheduler_create(
		    &shop, SENNIT_CONFIG(.workers = 1, .name = "shop")))
		return 1;
	schedule(bank, transfer_task, NULL);
	schedule(bank, audit_task, NULL);
	schedule(bank, opener_task, NULL);
	schedule(bank, reader_task, NULL);
	schedule(shop, reader_task, NULL);
	await(5);
	schedule(bank, writer_task, NULL);
	await(6);
	for (uintptr_t i = 0; i < crowd; i++)
		schedule(bank, crowd_task, (void *)i);
	await(6 + crowd);
	printf("settled\n");
	fflush(stdout);
	for (;;)
		pause();
}
