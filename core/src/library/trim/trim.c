/* SPDX-License-Identifier: Apache-2.0 */
#include "trim/trim.h"

#include "base/torture.h"
#include "os/os.h"
#include "sched/fiber.h"
#include "sched/run_queue.h"
#include "sched/worker.h"
#include "sched/worker_stacks.h"
#include "stack/stack.h"

/* A busy worker makes BUSY_STEPS steps in a row, and works for BUSY_PAUSE in
 * between. That is about 100 us in each tick of the coarse clock. */
#define BUSY_STEPS 4
#define BUSY_PAUSE (2 * SENNIT_MILLISECOND)

/* Shared stacks and blocks up to these numbers are not worth returning. */
#define STACKS_KEPT TORTURED(1u, 64u)
#define BLOCKS_KEPT TORTURED(4u, 1024u)

static bool is_automatic(const sennit_scheduler *s)
{
	return s->config.trim_ms != SENNIT_TRIM_NEVER;
}

static sennit_time after_period(const sennit_scheduler *s, sennit_time now)
{
	return is_automatic(s) ? now + s->config.trim_ms * SENNIT_MILLISECOND
			       : SENNIT_NEVER;
}

/* --- how much ----------------------------------------------------------- */

/* The work that w has done so far. If it is unchanged, w has done nothing. */
static uint64_t deeds_of(const struct worker *w)
{
	return sn_counters_tasks(&w->counters) +
	       sn_counters_blocks(&w->counters);
}

/* The number of idle stacks that w does not need if at most `need` fibers wait
 * and one runs. */
static uint32_t beyond(const struct worker *w, uint64_t need)
{
	uint64_t stacks = sn_roster_count(&w->roster);

	need += 1 + w->scheduler->config.spare_stacks;
	return stacks > need ? (uint32_t)(stacks - need) : 0;
}

/* Check the depots that workers share. The first worker in each period does
 * it. */
static void plan_shared_trim(struct worker *w, sennit_time now)
{
	sennit_scheduler *s = w->scheduler;
	sennit_time       at = a_load_rlx(&s->trim.at); /* relaxed: the CAS
							 * decides */

	if (now < at || !a_cas_rlx(&s->trim.at, &at, after_period(s, now)))
		return;
	w->trim.surplus_shared = sn_stacks_unused(&s->stacks);
	if (sn_pool_unused(&s->pool) > BLOCKS_KEPT)
		sn_pool_trim(&s->pool);
	sn_backlog_trim(&s->backlog);
}

static void trim_queues(struct worker *w)
{
	sn_run_queue_trim(&w->run);
	sn_pool_cache_drain(&w->cache);
	if (!w->threaded)
		sn_backlog_trim(&w->own);
}

/* A period is over, or w was told to trim. */
static void plan_trim(struct worker *w, sennit_time now)
{
	uint64_t blocked = sn_counters_blocked(&w->counters);
	/* <- trim.tell */
	uint32_t trims = a_load_acq(&w->scheduler->trim.told);

	if (trims != w->trim.seen)
		w->trim.busiest = blocked;
	w->trim.seen = trims;
	w->trim.surplus = beyond(w, w->trim.busiest > blocked ? w->trim.busiest
							      : blocked);
	w->trim.expects_more = w->trim.busiest > blocked;
	w->trim.busiest = blocked;
	w->trim.work_done = deeds_of(w);
	trim_queues(w);
	if (is_automatic(w->scheduler))
		plan_shared_trim(w, now);
}

/* --- doing it ----------------------------------------------------------- */

static bool has_surplus(const struct worker *w)
{
	return w->trim.surplus || w->trim.surplus_shared;
}

/* Finish a trim on request, including the blocks in this worker's cache. */
static void complete_requested_trim(struct worker *w)
{
	if (a_load_rlx(&w->trim.done) == w->trim.seen) /* not raced: only the
						        * owner writes */
		return;
	sn_pool_cache_drain(&w->cache); /* including alarms of fibers */
	sn_pool_trim(&w->scheduler->pool);
	a_store_rel(&w->trim.done, w->trim.seen); /* -> trim.done: all of the
						   * trim */
}

/* Return a few stacks. w may now need more than when it looked. */
static void step_trim(struct worker *w)
{
	sennit_scheduler *s = w->scheduler;
	uint32_t          most = beyond(w, w->trim.busiest);
	uint32_t          n;

	if (most < w->trim.surplus)
		w->trim.surplus = most;
	if (w->trim.surplus) {
		most = w->trim.surplus < STACK_BATCH ? w->trim.surplus
						     : STACK_BATCH;
		n = sn_worker_stacks_return(w, s->config.spare_stacks, most);
		w->trim.surplus = n == most ? w->trim.surplus - n : 0;
	} else if (w->trim.surplus_shared) {
		n = sn_stacks_trim(&s->stacks, w->trim.surplus_shared);
		w->trim.surplus_shared = n ? w->trim.surplus_shared - n : 0;
	}
}

/* Nothing is left to return. The next period begins. */
static void finish_trim(struct worker *w, sennit_time now)
{
	complete_requested_trim(w);
	w->trim.at = after_period(w->scheduler, now);
}

void sn_trim_attend(struct worker *w, sennit_time now)
{
	/* Relaxed, as in sn_trim_is_due. */
	bool told = a_load_rlx(&w->scheduler->trim.told) != w->trim.seen;

	if (!has_surplus(w) || told)
		plan_trim(w, now);
	for (int i = 0; i < BUSY_STEPS && has_surplus(w); i++)
		step_trim(w);
	if (has_surplus(w))
		w->trim.at = now + BUSY_PAUSE;
	else
		finish_trim(w, now);
}

/* --- before a sleep ----------------------------------------------------- */

static bool is_shared_large(sennit_scheduler *s)
{
	return sn_stacks_count(&s->stacks).resting > STACKS_KEPT ||
	       sn_pool_idle(&s->pool) > BLOCKS_KEPT;
}

/* Whether there may be something to return at the end of the period: w has
 * worked since the last look, or that look saw a peak. */
static bool may_have_surplus(struct worker *w)
{
	sennit_scheduler *s = w->scheduler;

	if (!is_automatic(s) ||
	    (!w->trim.expects_more && w->trim.work_done == deeds_of(w)))
		return false;
	return beyond(w, sn_counters_blocked(&w->counters)) ||
	       sn_run_queue_is_large(&w->run) || is_shared_large(s);
}

sennit_time sn_trim_asleep(struct worker *w, struct sleeper *as,
			   sennit_time until)
{
	sennit_time now;
	/* A request after this wakes w, because w has announced its sleep. */
	bool told = a_load_rlx(&w->scheduler->trim.told) != w->trim.seen;

	sn_worker_stacks_share(w); /* so does the first refusal of a stack */
	if (!told && !has_surplus(w) && !may_have_surplus(w))
		return until;
	now = os_now();
	if (told || (!has_surplus(w) && now >= w->trim.at))
		plan_trim(w, now);
	else if (!has_surplus(w))
		return w->trim.at < until ? w->trim.at : until;
	while (has_surplus(w)) {
		if (sn_parking_is_claimed(as) || now >= until)
			return until;
		step_trim(w);
		now = os_now();
	}
	finish_trim(w, now);
	return may_have_surplus(w) && w->trim.at < until ? w->trim.at : until;
}

/* --- on request --------------------------------------------------------- */

void sn_trim_leave(struct worker *w, uint32_t keep)
{
	/* Of a single stack it keeps 1 in any case, without the lock. */
	if (keep > 1 && sn_roster_count(&w->roster) > 1 &&
	    sn_stacks_count(&w->scheduler->stacks).resting > STACKS_KEPT)
		keep = 1;
	while (sn_roster_count(&w->roster) > keep &&
	       sn_worker_stacks_return(w, keep, STACK_BATCH))
		continue;
	w->trim.surplus = 0;
	if (w->threaded) /* else w is about to be freed */
		trim_queues(w);
}

void sn_trim_tell(sennit_scheduler *s)
{
	uint32_t resting = sn_stacks_count(&s->stacks).resting;
	uint32_t n = 1;

	a_add_rel(&s->trim.told, 1); /* -> trim.tell: what came before */
	TORTURE_POINT();
	sn_worker_wake_all(s);
	for (; resting && n; resting -= n)
		n = sn_stacks_trim(&s->stacks, resting);
	sn_pool_trim(&s->pool);
	sn_backlog_trim(&s->backlog);
	sn_worker_free_spare(s);
	sn_kept_slab_drop();
}
