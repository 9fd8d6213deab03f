/* SPDX-License-Identifier: Apache-2.0 */
/* select.c - waits for the first of several things. Workers take urgent jobs
 * and other jobs until `quit` is set, and count how often nothing came for a
 * second.
 */
#include <sennit.h>

#include <stdatomic.h>
#include <stdio.h>

enum { WORKERS = 3, JOBS = 100, URGENT = 10 };

static sennit_channel    jobs = SENNIT_CHANNEL_INIT(sizeof(int));
static sennit_channel    urgent = SENNIT_CHANNEL_INIT(sizeof(int));
static sennit_event      quit = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
static sennit_wait_group workers;
static atomic_int        total, idle;

static void work(void *unused)
{
	int         job = 0;
	sennit_case cases[3];
	size_t      which;

	(void)unused;
	cases[0] = sennit_case_event(&quit);
	cases[1] = sennit_case_receive(&urgent, &job);
	cases[2] = sennit_case_receive(&jobs, &job);
	for (;;) {
		/* Urgent jobs first, without waiting. */
		if (!sennit_channel_receive_until(&urgent, &job, 0)) {
			atomic_fetch_add(&total, job);
			continue;
		}
		if (sennit_select_until(cases, 3, &which,
					sennit_after(SENNIT_SECOND))) {
			atomic_fetch_add(&idle, 1); /* nothing came */
			continue;
		}
		if (which == 0)
			break;
		atomic_fetch_add(&total, job);
	}
	sennit_wait_group_done(&workers);
}

/* Send in the order in which receivers take them. */
static void hand_out(void)
{
	int         job = 1, hurry = 1000, left = JOBS, urgent_left = URGENT;
	sennit_case cases[2];
	size_t      which = 0;

	cases[0] = sennit_case_send(&jobs, &job);
	cases[1] = sennit_case_send(&urgent, &hurry);
	while (left + urgent_left && !sennit_select(cases, 2, &which)) {
		if (which == 0)
			left--;
		else
			urgent_left--;
		if (!left)
			cases[0] = sennit_case_send(NULL, NULL); /* never */
		if (!urgent_left)
			cases[1] = sennit_case_send(NULL, NULL);
	}
}

static int program(void *unused)
{
	int i;

	(void)unused;
	sennit_wait_group_init(&workers, WORKERS);
	for (i = 0; i < WORKERS; i++)
		if (sennit_schedule(work, NULL))
			return 1;
	hand_out();
	sennit_event_set(&quit);
	sennit_wait_group_wait(&workers);
	printf("%d done, idle for a second %d times\n", atomic_load(&total),
	       atomic_load(&idle));
	return atomic_load(&total) == JOBS + 1000 * URGENT ? 0 : 1;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
