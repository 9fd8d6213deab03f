/* SPDX-License-Identifier: Apache-2.0 */
/* support.c - the functions of the harness that rows call during a run. */
#include "harness.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void bench_check(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "sennit-bench: %s\n", what);
	_exit(2);
}

void bench_elapsed(struct bench_run *r, sennit_time begin)
{
	r->value[0] = (double)(sennit_now() - begin) / (double)r->n;
}

static sennit_scheduler *create(uint32_t workers, uint32_t fp)
{
	sennit_scheduler *s = NULL;
	int               err;

	err = sennit_scheduler_create(
		&s, SENNIT_CONFIG(.workers = workers, .fp = fp,
				  .guards = SENNIT_GUARDS_OPTIONAL,
				  .placement = bench_limits.placement,
				  .affinity = bench_limits.affinity));
	bench_check(!err, "no scheduler");
	return s;
}

sennit_scheduler *bench_scheduler(uint32_t workers)
{
	static sennit_scheduler *s;

	if (!s)
		s = create(workers, SENNIT_FP_PER_TASK);
	return s;
}

struct inside {
	bench_fn         *run;
	struct bench_run *r;
};

static void root(void *argument)
{
	struct inside *i = argument;

	i->run(i->r);
}

void bench_inside(bench_fn *run, struct bench_run *r)
{
	sennit_scheduler *s = create(r->workers, r->fp);
	struct inside     inside = { run, r };
	sennit_task       task = { .run = root, .argument = &inside };

	if (r->workers == SENNIT_WORKERS_NONE) {
		bench_check(!sennit_thread_bind(s), "not bound");
		run(r);
		sennit_thread_unbind();
		sennit_scheduler_release(s);
		return;
	}
	bench_check(!sennit_schedule_task_on(s, &task), "no root task");
	bench_check(!sennit_scheduler_shutdown(s, SENNIT_NEVER), "no shutdown");
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

double bench_percentile(uint64_t *values, size_t count, unsigned percent)
{
	qsort(values, count, sizeof(values[0]), by_size);
	return (double)values[(count - 1) * percent / 100];
}

uint64_t bench_resident(void)
{
	FILE              *f = fopen("/proc/self/status", "r");
	char               line[256];
	unsigned long long kib;
	uint64_t           sum = 0;

	bench_check(f, "no /proc/self/status");
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %llu", &kib) == 1 ||
		    sscanf(line, "VmPTE: %llu", &kib) == 1)
			sum += kib * 1024;
	fclose(f);
	return sum;
}

uint64_t bench_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * SENNIT_SECOND + (uint64_t)t.tv_nsec;
}

void bench_pause(uint64_t nanoseconds)
{
	struct timespec t = {
		.tv_sec = (time_t)(nanoseconds / SENNIT_SECOND),
		.tv_nsec = (long)(nanoseconds % SENNIT_SECOND),
	};

	while (nanosleep(&t, &t) < 0)
		continue;
}
