/* SPDX-License-Identifier: Apache-2.0 */
/* foreign_submit.c - the unbound main thread wakes a scheduler that has been
 * idle for 2 ms, by submitting a task, or by setting the event that a fiber
 * waits for: the time until the task or fiber runs. Or it submits many tasks,
 * one by one or a hundred per call: the time per task until each has run.
 */
#include "harness.h"

#include <stdatomic.h>

#define SAMPLES 500
#define GAP     (2 * SENNIT_MILLISECOND)

/* The time at which the woken task or fiber ran; 0: not yet. */
static _Atomic(sennit_time) ran;
static sennit_event         bell;

static void note_time(void *unused)
{
	(void)unused;
	ran = sennit_now();
}

static void answer_bell(void *unused)
{
	(void)unused;
	for (;;) {
		(void)!sennit_event_wait(&bell);
		ran = sennit_now();
	}
}

static void submit(sennit_scheduler *s)
{
	const sennit_task task = { .run = note_time };

	bench_check(!sennit_schedule_task_on(s, &task),
		    "foreign: not submitted");
}

static void ring_bell(sennit_scheduler *s)
{
	(void)s;
	sennit_event_set(&bell);
}

static uint64_t latency(sennit_scheduler *s, void (*wake)(sennit_scheduler *))
{
	sennit_time begin;

	ran = 0;
	bench_pause(GAP);
	begin = sennit_now();
	wake(s);
	while (!ran)
		bench_pause(GAP);
	return ran - begin;
}

static void sample(struct bench_run *r, void (*wake)(sennit_scheduler *))
{
	static uint64_t   samples[SAMPLES];
	sennit_scheduler *s = bench_scheduler(r->workers);

	for (size_t i = 0; i < SAMPLES; i++)
		samples[i] = latency(s, wake);
	r->value[0] = bench_percentile(samples, SAMPLES, 50);
	r->value[1] = bench_percentile(samples, SAMPLES, 99);
}

/* --- many tasks, while the workers are busy ----------------------------- */

enum { AT_ONCE = 100 };

static sennit_wait_group left;

static void nothing(void *unused)
{
	(void)unused;
	sennit_wait_group_done(&left);
}

static void send(struct bench_run *r, uint64_t at_once)
{
	sennit_scheduler  *s = bench_scheduler(r->workers);
	static sennit_task tasks[AT_ONCE];
	sennit_time        begin;
	int                err = 0;

	for (size_t i = 0; i < AT_ONCE; i++)
		tasks[i] = (sennit_task){ .run = nothing };
	sennit_wait_group_init(&left, (uint32_t)r->n);
	begin = sennit_now();
	for (uint64_t i = 0; i < r->n && !err; i += at_once)
		err = at_once == 1 ? sennit_schedule_task_on(s, tasks)
				   : sennit_schedule_many_on(s, tasks, at_once);
	bench_check(!err, "foreign: not submitted");
	sennit_wait_group_wait(&left);
	bench_elapsed(r, begin);
}

static void sends_singly(struct bench_run *r)
{
	send(r, 1);
}

static void sends_many(struct bench_run *r)
{
	send(r, AT_ONCE);
}

/* --- one task, while they are idle -------------------------------------- */

static void submits(struct bench_run *r)
{
	sample(r, submit);
}

static void wakes(struct bench_run *r)
{
	static bool       has_fiber;
	const sennit_task task = { .run = answer_bell };

	if (!has_fiber) {
		sennit_event_init(&bell, SENNIT_EVENT_AUTO);
		bench_check(!sennit_schedule_task_on(
				    bench_scheduler(r->workers), &task),
			    "foreign: no fiber");
		has_fiber = true;
	}
	sample(r, ring_bell);
}

const struct bench_row bench_foreign_submit[] = {
	{ .names = { "W11a-submit/p50", "W11a-submit/p99" },
	  .n = SAMPLES,
	  .workers = BENCH_EACH,
	  .place = BENCH_OUTSIDE,
	  .run = submits },
	{ .names = { "W11b-wake-fiber/p50", "W11b-wake-fiber/p99" },
	  .n = SAMPLES,
	  .workers = BENCH_EACH,
	  .place = BENCH_OUTSIDE,
	  .run = wakes },
	{ .names = { "W11c-bulk/singly" },
	  .n = 200000,
	  .workers = BENCH_EACH,
	  .place = BENCH_OUTSIDE,
	  .run = sends_singly },
	{ .names = { "W11c-bulk/many-100" },
	  .n = 200000,
	  .workers = BENCH_EACH,
	  .place = BENCH_OUTSIDE,
	  .run = sends_many },
	{ .run = NULL },
};
