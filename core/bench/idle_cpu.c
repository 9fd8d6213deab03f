/* SPDX-License-Identifier: Apache-2.0 */
/* idle_cpu.c - the CPU time that a scheduler uses per second while it has
 * nothing to do, and while the main thread gives it one task every 2 ms.
 * 10,000,000 ns per second are 1 % of a core.
 */
#include "harness.h"

#define IDLE_SECONDS 2
#define GAP          (2 * SENNIT_MILLISECOND)
#define TASKS        500 /* takes one second */

static void nothing(void *unused)
{
	(void)unused;
}

static void idle(struct bench_run *r)
{
	uint64_t cpu;

	(void)bench_scheduler(r->workers);
	bench_pause(100 * SENNIT_MILLISECOND);
	cpu = bench_cpu_ns();
	bench_pause(IDLE_SECONDS * SENNIT_SECOND);
	r->value[0] = (double)(bench_cpu_ns() - cpu) / IDLE_SECONDS;
}

/* Includes the main thread's own CPU time for sleeping and waking. */
static void trickle(struct bench_run *r)
{
	const sennit_task task = { .run = nothing };
	sennit_scheduler *s = bench_scheduler(r->workers);
	sennit_time       begin = sennit_now();
	uint64_t          cpu = bench_cpu_ns();
	uint64_t          used;

	for (unsigned i = 0; i < TASKS; i++) {
		bench_check(!sennit_schedule_task_on(s, &task),
			    "idle: not submitted");
		bench_pause(GAP);
	}
	used = bench_cpu_ns() - cpu;
	r->value[0] = (double)used / (double)(sennit_now() - begin) * 1e9;
}

const struct bench_row bench_idle_cpu[] = {
	{ .names = { "W12-cpu-per-second/idle" },
	  .n = 1,
	  .workers = BENCH_EACH,
	  .place = BENCH_OUTSIDE,
	  .run = idle },
	{ .names = { "W12-cpu-per-second/task-every-2ms" },
	  .n = TASKS,
	  .workers = BENCH_EACH,
	  .place = BENCH_OUTSIDE,
	  .run = trickle },
	{ .run = NULL },
};
