/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/worker_stacks.h"

#include "sched/fiber.h"
#include "sched/hooks.h"
#include "stack/stack.h"

/* --- new ones ----------------------------------------------------------- */

static struct sennit_fiber *make_fiber(struct worker *w, void *low)
{
	struct stacks       *stacks = &w->scheduler->stacks;
	struct sennit_fiber *f;

	f = sn_fiber_make(low, sn_stacks_usable(stacks), stacks->slabs.pitch,
			  &w->home, ++w->roster.last);
	f->canary = sn_stack_has_canary(stacks, low);
	f->check_at_end = f->canary ||
			  (!w->threaded && sn_stacks_may_be_limited(stacks));
	f->cleanup = sn_worker_cleanup(w);
	sn_hook_fiber(w->scheduler, f);
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
