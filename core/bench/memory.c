/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - resident bytes, including page tables, above what the process had
 * before: for each of n blocked fibers or queued tasks at the peak, after all
 * have ended, after a trim on request, and after an automatic trim that follows
 * a second peak; and for each idle worker. These rows print bytes instead of
 * nanoseconds.
 */
#include "harness.h"

#define PERIOD_MS 200

struct peak {
	struct bench_run *r;
	sennit_scheduler *s;
	uint64_t          before;
	double            bytes; /* per operation, at the peak */
	sennit_event      gate;
	sennit_wait_group arriving, leaving;
};

static double above(const struct bench_run *r, uint64_t before)
{
	uint64_t now = bench_resident();

	return now > before ? (double)(now - before) / (double)r->n : 0;
}

/* --- peaks -------------------------------------------------------------- */

static void block(void *peak)
{
	struct peak *p = peak;

	sennit_wait_group_done(&p->arriving);
	(void)!sennit_event_wait(&p->gate);
	sennit_wait_group_done(&p->leaving);
}

static void block_all(void *peak)
{
	struct peak *p = peak;

	sennit_event_init(&p->gate, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&p->arriving, (uint32_t)p->r->n);
	sennit_wait_group_init(&p->leaving, (uint32_t)p->r->n);
	for (uint64_t i = 0; i < p->r->n; i++)
		spawn(block, p);
	sennit_wait_group_wait(&p->arriving);
	p->bytes = above(p->r, p->before);
	sennit_event_set(&p->gate);
	sennit_wait_group_wait(&p->leaving);
}

static void leave(void *peak)
{
	sennit_wait_group_done(&((struct peak *)peak)->leaving);
}

/* One worker: no task runs before the last one is queued. */
static void queue_all(void *peak)
{
	struct peak *p = peak;

	sennit_wait_group_init(&p->leaving, (uint32_t)p->r->n);
	for (uint64_t i = 0; i < p->r->n; i++)
		spawn(leave, p);
	p->bytes = above(p->r, p->before);
	sennit_wait_group_wait(&p->leaving);
}

/* --- rows --------------------------------------------------------------- */

static sennit_stats stats_of(sennit_scheduler *s)
{
	sennit_stats stats = { .size = sizeof(stats) };

	sennit_scheduler_get_stats(s, &stats);
	return stats;
}

/* Returns when all tasks have ended. */
static void raise_peak(struct peak *p, sennit_task_fn *run)
{
	const sennit_task t = { .run = run, .argument = p };
	uint64_t          all = stats_of(p->s).tasks + p->r->n + 1;

	bench_check(!sennit_schedule_task_on(p->s, &t),
		    "memory: not submitted");
	while (stats_of(p->s).tasks < all)
		bench_pause(SENNIT_MILLISECOND);
}

static sennit_scheduler *start(uint32_t workers)
{
	const sennit_config config = { .size = sizeof(config),
				       .workers = workers,
				       .guards = SENNIT_GUARDS_OPTIONAL,
				       .trim_ms = PERIOD_MS };
	sennit_scheduler   *s = NULL;

	bench_check(!sennit_scheduler_create(&s, &config),
		    "memory: no scheduler");
	bench_pause(100 * SENNIT_MILLISECOND);
	return s;
}

/* Waits two trim periods, and longer while stacks are still being returned. */
static void await_trim(sennit_scheduler *s)
{
	uint64_t trimmed;

	bench_pause(PERIOD_MS * SENNIT_MILLISECOND);
	do {
		trimmed = stats_of(s).stacks_trimmed;
		bench_pause(2 * PERIOD_MS * SENNIT_MILLISECOND);
	} while (stats_of(s).stacks_trimmed != trimmed);
}

static void measure(struct bench_run *r, sennit_task_fn *run)
{
	struct peak p = { .r = r };

	p.s = start(r->workers);
	p.before = bench_resident();
	raise_peak(&p, run);
	r->value[0] = p.bytes;
	r->value[1] = above(r, p.before);
	sennit_scheduler_trim(p.s);
	while (stats_of(p.s).trims_due)
		bench_pause(SENNIT_MILLISECOND);
	r->value[2] = above(r, p.before);
	raise_peak(&p, run);
	await_trim(p.s);
	r->value[3] = above(r, p.before);
	sennit_scheduler_release(p.s);
}

static void fibers(struct bench_run *r)
{
	measure(r, block_all);
}

static void tasks(struct bench_run *r)
{
	measure(r, queue_all);
}

static void idle_workers(struct bench_run *r)
{
	uint64_t          before = bench_resident();
	sennit_scheduler *s = start((uint32_t)r->n);

	r->value[0] = above(r, before);
	sennit_scheduler_release(s);
	bench_pause(100 * SENNIT_MILLISECOND);
}

const struct bench_row bench_memory[] = {
	{ .names = { "memory/fiber-blocked", "memory/fiber-ended",
		     "memory/fiber-told", "memory/fiber-by-itself" },
	  .n = 100000,
	  .workers = BENCH_EACH,
	  .place = BENCH_OUTSIDE,
	  .run = fibers,
	  .memory = UINT64_C(1) << 30 },
	{ .names = { "memory/task-queued", "memory/task-ended",
		     "memory/task-told", "memory/task-by-itself" },
	  .n = 1000000,
	  .workers = BENCH_ONE,
	  .place = BENCH_OUTSIDE,
	  .run = tasks },
	{ .names = { "memory/worker-idle" },
	  .n = 64,
	  .workers = BENCH_ONE,
	  .place = BENCH_OUTSIDE,
	  .run = idle_workers },
	{ .run = NULL },
};
