/* SPDX-License-Identifier: Apache-2.0 */
/* life_cycle.c - create a scheduler with two workers, run one task, end it, n
 * times; and what is left in the process afterwards. For reference: create and
 * join two threads.
 */
#include "harness.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>

#define CYCLES 1000

/* Resources of a process that could be left over. */
struct belongings {
	double threads;
	double fds;
	double mappings;
};

static double entries(const char *path)
{
	DIR   *d = opendir(path);
	double count = 0;

	bench_check(d, path);
	while (readdir(d))
		count++;
	closedir(d);
	return count;
}

static double lines(const char *path)
{
	FILE  *f = fopen(path, "r");
	double count = 0;

	bench_check(f, path);
	for (int c = getc(f); c != EOF; c = getc(f))
		count += c == '\n';
	fclose(f);
	return count;
}

static struct belongings look(void)
{
	return (struct belongings){ .threads = entries("/proc/self/task"),
				    .fds = entries("/proc/self/fd"),
				    .mappings = lines("/proc/self/maps") };
}

static void nothing(void *unused)
{
	(void)unused;
}

static void live_and_die(void)
{
	const sennit_task task = { .run = nothing };
	sennit_scheduler *s = NULL;

	bench_check(!sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 2)),
		    "life: not created");
	bench_check(!sennit_schedule_task_on(s, &task), "life: not submitted");
	bench_check(!sennit_scheduler_shutdown(s, SENNIT_NEVER),
		    "life: no shutdown");
}

static void cycles(struct bench_run *r)
{
	struct belongings before = look();
	struct belongings after;
	sennit_time       begin = sennit_now();

	for (uint64_t i = 0; i < r->n; i++)
		live_and_die();
	bench_elapsed(r, begin);
	after = look();
	r->value[1] = after.threads - before.threads;
	r->value[2] = after.fds - before.fds;
	r->value[3] = after.mappings - before.mappings;
}

static void *return_at_once(void *argument)
{
	return argument;
}

static void threads(struct bench_run *r)
{
	sennit_time begin = sennit_now();
	pthread_t   two[2];

	for (uint64_t i = 0; i < r->n; i++) {
		for (int t = 0; t < 2; t++)
			bench_check(!pthread_create(&two[t], NULL,
						    return_at_once, NULL),
				    "life: no thread");
		for (int t = 0; t < 2; t++)
			pthread_join(two[t], NULL);
	}
	bench_elapsed(r, begin);
}

const struct bench_row bench_life_cycle[] = {
	{ .names = { "W14-life-cycle/two-pthreads" },
	  .n = CYCLES,
	  .run = threads },
	{ .names = { "W14-life-cycle/scheduler", "W14-life-cycle/left-threads",
		     "W14-life-cycle/left-fds",
		     "W14-life-cycle/left-mappings" },
	  .n = CYCLES,
	  .workers = BENCH_TWO,
	  .place = BENCH_OUTSIDE,
	  .run = cycles },
	{ .run = NULL },
};
