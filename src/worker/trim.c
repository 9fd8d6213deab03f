/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/trim.h"

#include "base/torture.h"
#include "os/os.h"
#include "worker/worker_stacks.h"

/* Steps in a row of who is busy, and how long it works between two of these:
 * 100 us or so in each tick of the coarse clock. */
#define BUSY_STEPS 4
#define BUSY_PAUSE (2 * SENNIT_MILLISECOND)

/* What is too little to be given back of what workers share. */
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

/* What w has done so far: as before, it has done nothing. */
static uint64_t deeds_of(const struct worker *w)
{
	return sn_counters_tasks(&w->counters) +
	       sn_counters_blocks(&w->counters);
}

/* Idle stacks that w would not miss if no more fibers wait than `need`, and one
 * runs. */
static uint32_t beyond(const struct worker *w, uint64_t need)
{
	uint64_t stacks = sn_roster_count(&w->roster);

	need += 1 + w->scheduler->config.spare_stacks;
	return stacks > need ? (uint32_t)(stacks - need) : 0;
}

/* The depots that workers share, once a period, whoever comes first. */
static void look_at_shared(struct worker *w, sennit_time now)
{
	sennit_scheduler *s = w->scheduler;
	sennit_time       at = a_load_rlx(&s->trim.at); /* the CAS decides */

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

/* A period is over, or w was told. */
static void look(struct worker *w, sennit_time now)
{
	uint64_t blocked = sn_worker_blocked(w);
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
		look_at_shared(w, now);
}

/* --- doing it ----------------------------------------------------------- */

static bool has_surplus(const struct worker *w)
{
	return w->trim.surplus || w->trim.surplus_shared;
}

/* What was told is done. Blocks that were in our cache, too. */
static void answer(struct worker *w)
{
	if (a_load_rlx(&w->trim.done) == w->trim.seen) /* only we change it */
		return;
	sn_pool_cache_drain(&w->cache); /* alarms of fibers among them */
	sn_pool_trim(&w->scheduler->pool);
	a_store_rel(&w->trim.done, w->trim.seen); /* -> trim.done: all of it */
}

/* A few stacks. w may need more by now than when it looked. */
static void step(struct worker *w)
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

/* Nothing is left to give back; the next period begins. */
static void finish(struct worker *w, sennit_time now)
{
	answer(w);
	w->trim.at = after_period(w->scheduler, now);
}

void sn_trim_attend(struct worker *w, sennit_time now)
{
	/* As in sn_trim_is_due. */
	bool told = a_load_rlx(&w->scheduler->trim.told) != w->trim.seen;

	if (!has_surplus(w) || told)
		look(w, now);
	for (int i = 0; i < BUSY_STEPS && has_surplus(w); i++)
		step(w);
	if (has_surplus(w))
		w->trim.at = now + BUSY_PAUSE;
	else
		finish(w, now);
}

/* --- before sleep ------------------------------------------------------- */

static bool is_shared_large(sennit_scheduler *s)
{
	return sn_stacks_count(&s->stacks).resting > STACKS_KEPT ||
	       sn_pool_idle(&s->pool) > BLOCKS_KEPT;
}

/* Whether there may be something to give back at the end of the period: w has
 * done something since the last look, or that saw a peak. */
static bool may_have_surplus(struct worker *w)
{
	sennit_scheduler *s = w->scheduler;

	if (!is_automatic(s) ||
	    (!w->trim.expects_more && w->trim.work_done == deeds_of(w)))
		return false;
	return beyond(w, sn_worker_blocked(w)) ||
	       sn_run_queue_is_large(&w->run) || is_shared_large(s);
}

sennit_time sn_trim_asleep(struct worker *w, struct sleeper *as,
			   sennit_time until)
{
	sennit_time now;
	/* Told after this it is woken, as it has announced its sleep. */
	bool told = a_load_rlx(&w->scheduler->trim.told) != w->trim.seen;

	if (!told && !has_surplus(w) && !may_have_surplus(w))
		return until;
	now = os_now();
	if (told || (!has_surplus(w) && now >= w->trim.at))
		look(w, now);
	else if (!has_surplus(w))
		return w->trim.at < until ? w->trim.at : until;
	while (has_surplus(w)) {
		if (sn_parking_is_told(as) || now >= until)
			return until;
		step(w);
		now = os_now();
	}
	finish(w, now);
	return may_have_surplus(w) && w->trim.at < until ? w->trim.at : until;
}

/* --- told --------------------------------------------------------------- */

void sn_trim_leave(struct worker *w, uint32_t keep)
{
	if (keep &&
	    sn_stacks_count(&w->scheduler->stacks).resting > STACKS_KEPT)
		keep = 1;
	while (sn_worker_stacks_return(w, keep, STACK_BATCH))
		;
	w->trim.surplus = 0;
	trim_queues(w);
}

static void wake_bound(sennit_scheduler *s)
{
	struct binding *b = NULL;

	sn_bound_lock(&s->bound);
	while ((b = sn_bound_next(&s->bound, b)))
		sn_worker_wake(sn_worker_bound(b));
	sn_bound_unlock(&s->bound);
}

void sn_trim_tell(sennit_scheduler *s)
{
	uint32_t resting = sn_stacks_count(&s->stacks).resting;
	uint32_t n = 1;

	a_add_rel(&s->trim.told, 1); /* -> trim.tell: what came before */
	TORTURE_POINT();
	for (uint32_t i = 0; i < s->capacity; i++)
		sn_worker_wake(s->workers[i]);
	wake_bound(s);
	for (; resting && n; resting -= n)
		n = sn_stacks_trim(&s->stacks, resting);
	sn_pool_trim(&s->pool);
	sn_backlog_trim(&s->backlog);
}
