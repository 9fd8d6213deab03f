/* SPDX-License-Identifier: Apache-2.0 */
/* timer_wheel.c - arms and cancels a timer while a million others are armed.
 * This is the only row that measures a mechanism directly instead of through
 * the library.
 *
 *	last-armed  always the same timer: the cost of a wait that ends in time
 *	any-armed   each of the million in a scattered order, then armed again
 */
#include "harness.h"

#include "queue/timers.h"

#define TIMERS 1000000
#define STRIDE \
	611953 /* coprime to TIMERS: visits all, never two neighbours in
		       * a row */

static struct timers wheel;
static struct timer  timers[TIMERS];

static sennit_time deadline_of(size_t i)
{
	return SENNIT_SECOND + i * 3600 * SENNIT_MICROSECOND;
}

static void prepare(void)
{
	static bool is_armed;

	if (is_armed)
		return;
	is_armed = true;
	sn_timers_init(&wheel, 0);
	for (size_t i = 0; i < TIMERS; i++)
		sn_timers_arm(&wheel, &timers[i], deadline_of(i));
}

static void last_armed(struct bench_run *r)
{
	static struct timer mine;
	sennit_time         begin;

	prepare();
	begin = sennit_now();
	for (uint64_t i = 0; i < r->n; i++) {
		sn_timers_arm(&wheel, &mine, SENNIT_SECOND + i);
		/* Hides the timer from the compiler, as a wait would. */
		__asm__ volatile("" ::: "memory");
		sn_timers_cancel(&wheel, &mine);
	}
	bench_elapsed(r, begin);
	bench_check(wheel.count == TIMERS, "timers: lost some");
}

static void any_armed(struct bench_run *r)
{
	size_t      at = 0;
	sennit_time begin;

	prepare();
	begin = sennit_now();
	for (uint64_t i = 0; i < r->n; i++) {
		at = (at + STRIDE) % TIMERS;
		sn_timers_cancel(&wheel, &timers[at]);
		sn_timers_arm(&wheel, &timers[at], deadline_of(at));
	}
	bench_elapsed(r, begin);
	bench_check(wheel.count == TIMERS, "timers: lost some");
}

const struct bench_row bench_timer_wheel[] = {
	{ .names = { "W13-timeout/wheel-last-armed" },
	  .n = 10000000,
	  .run = last_armed },
	{ .names = { "W13-timeout/wheel-any-armed" },
	  .n = TIMERS,
	  .run = any_armed },
	{ .run = NULL },
};
