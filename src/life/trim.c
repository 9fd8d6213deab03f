/* SPDX-License-Identifier: Apache-2.0 */
#include "life/life.h"

#include "base/torture.h"
#include "os/os.h"
#include "sched/fiber.h"
#include "sched/run_queue.h"
#include "sched/worker.h"
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
static void look_at_shared(struct worker *w, sennit_time now)
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
static void look(struct worker *w, sennit_time now)
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
		look_at_shared(w, now);
}

/* --- doing it ----------------------------------------------------------- */

static bool has_surplus(const struct worker *w)
{
	return w->trim.surplus || w->trim.surplus_shared;
}

/* Finish a trim on request, including the blocks in this worker's cache. */
static void answer(struct worker *w)
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

/* Nothing is left to return. The next period begins. */
static void finish(struct worker *w, sennit_time now)
{
	answer(w);
	w->trim.at = after_period(w->scheduler, now);
}

void sn_trim_attend(struct worker *w, sennit_time now)
{
	/* Relaxed, as in sn_trim_is_due. */
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
		look(w, now);
	else if (!has_surplus(w))
		return w->trim.at < until ? w->trim.at : until;
	while (has_surplus(w)) {
		if (sn_parking_is_claimed(as) || now >= until)
			return until;
		step(w);
		now = os_now();
	}
	finish(w, now);
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

/* --- new ones ----------------------------------------------------------- */

static struct sennit_fiber *make_fiber(struct worker *w, void *low)
{
	struct stacks       *stacks = &w->scheduler->stacks;
	struct sennit_fiber *f;

	f = sn_fiber_make(low, sn_stacks_usable(stacks), stacks->slabs.pitch,
			  &w->home, ++w->roster.last);
	f->canary = sn_stack_has_canary(stacks, low);
	f->in_care = f->canary ||
		     (!w->threaded && sn_stacks_may_be_limited(stacks));
	f->cleanup = sn_worker_cleanup(w);
	if (w->scheduler->depths)
		sn_fiber_measure(f);
	sn_roster_join(&w->roster, f);
	return f;
}

/* How many stacks to take for w, which needs one. Who has many by now will
 * probably need more, and the system finds memory for several at once. */
static uint32_t next_take(const struct worker *w)
{
	return sn_stacks_are_limited(&w->scheduler->stacks) ||
			       sn_roster_count(&w->roster) < STACK_BATCH
		       ? 1
		       : STACK_BATCH;
}

/* The first stack that is refused wakes all who sleep with idle ones, so that
 * they share them. */
bool sn_worker_stacks_add(struct worker *w)
{
	sennit_scheduler *s = w->scheduler;
	const bool        known = sn_stacks_are_limited(&s->stacks);
	struct node      *n = sn_stacks_take(&s->stacks, next_take(w));
	const bool        added = n;

	if (!added && !known)
		sn_worker_wake_all(s);
	for (; n; n = n->next)
		sn_stack_cache_put(&w->idle_stacks,
				   make_fiber(w, sn_stack_of(&s->stacks, n)));
	return added;
}

struct sennit_fiber *sn_worker_stacks_first(struct worker *w)
{
	void *bottom = sn_stack_cache_take_first(&w->idle_stacks);

	if (!bottom) /* stacks left by an earlier thread */
		return sn_stack_cache_take(&w->idle_stacks);
	return make_fiber(w,
			  sn_stacks_take_aside(&w->scheduler->stacks, bottom));
}

/* --- giving back -------------------------------------------------------- */

/* Remove the idle stack of f from w. Returns its lowest address. */
static void *strip(struct worker *w, struct sennit_fiber *f)
{
	void *low = f->low;

	sn_roster_leave(&w->roster, f);
	sn_jumps_forget(&w->waits, f);
	sn_jumps_forget(&w->run.jumps, f);
	sn_worker_drop_alarm(w, f);
	sn_fiber_forget(f, sn_stacks_usable(&w->scheduler->stacks));
	return low;
}

/* Remove up to `most` idle stacks from w, except for the `keep` last used
 * ones. */
static uint32_t take_old(struct worker *w, uint32_t keep, uint32_t most,
			 void *low[STACK_BATCH])
{
	struct sennit_fiber *old[STACK_BATCH];
	uint32_t n = sn_stack_cache_take_old(&w->idle_stacks, keep, old, most);

	for (uint32_t i = 0; i < n; i++)
		low[i] = strip(w, old[i]);
	return n;
}

uint32_t sn_worker_stacks_return(struct worker *w, uint32_t keep, uint32_t most)
{
	void    *low[STACK_BATCH];
	uint32_t n;

	ASSERT_OWNER(w);
	n = take_old(w, keep, most, low);
	if (n)
		sn_stacks_return(&w->scheduler->stacks, low, n);
	return n;
}

/* Give back all idle stacks except the `keep` last used ones, for others to
 * use. */
static void give_all_but(struct worker *w, uint32_t keep)
{
	void    *low[STACK_BATCH];
	uint32_t n;

	do {
		n = take_old(w, keep, STACK_BATCH, low);
		if (n)
			sn_stacks_give(&w->scheduler->stacks, low, n);
	} while (n == STACK_BATCH);
}

void sn_worker_stacks_share(struct worker *w)
{
	if (sn_stacks_are_limited(&w->scheduler->stacks))
		give_all_but(w, 1);
}

void sn_worker_stacks_check(struct worker *w, struct sennit_fiber *f)
{
	sn_stack_check(&w->scheduler->stacks, f->low);
	if (!w->threaded && sn_stacks_are_limited(&w->scheduler->stacks))
		give_all_but(w, 0);
}

void sn_worker_stacks_free(struct worker *w)
{
	give_all_but(w, 0);
	if (sn_stack_cache_take_first(&w->idle_stacks))
		sn_stacks_drop_aside(&w->scheduler->stacks);
}
