/* SPDX-License-Identifier: Apache-2.0 */
/* counters.h - what a worker has done, in numbers.
 *
 * The worker writes its own counters with plain stores; any thread may read
 * them. Fibers that wait or are ready: blocks - resumes.
 */
#ifndef SN_COUNTERS_H
#define SN_COUNTERS_H

#include "base/atomic.h"

#include <stdint.h>

struct counters { /* the owner writes */
	a_u64 tasks, steals, parks, blocks, resumes, blocked_peak;
};

/* What several workers have done together. */
struct counters_sum {
	uint64_t tasks, steals, parks, blocks, fibers_peak;
};

static inline uint64_t sn_counters_tasks(const struct counters *c)
{
	return a_load_rlx(&c->tasks);
}

static inline uint64_t sn_counters_blocks(const struct counters *c)
{
	return a_load_rlx(&c->blocks);
}

/* Fibers that wait or are ready; by another thread, as many or some more: it
 * sees the block of each resume that it sees, so never fewer than none. (The
 * sweep of finalise.c sees both as they are: the worker is out of the gate.)
 * Checked by test/model/counts.pml. */
static inline uint64_t sn_counters_blocked(const struct counters *c)
{
	uint64_t resumes = a_load_acq(&c->resumes); /* <- counters.resume */

	return a_load_rlx(&c->blocks) - resumes;
}

/* --- the owner's -------------------------------------------------------- */

static inline void sn_counters_count_task(struct counters *c)
{
	a_bump_owner(&c->tasks);
}

static inline void sn_counters_count_steals(struct counters *c, uint32_t n)
{
	a_store_rlx(&c->steals, a_load_rlx(&c->steals) + n);
}

static inline void sn_counters_count_park(struct counters *c)
{
	a_bump_owner(&c->parks);
}

/* A fiber begins to wait. */
static inline void sn_counters_count_block(struct counters *c)
{
	a_bump_owner(&c->blocks);
}

/* A wait that was counted as a block is over. */
static inline void sn_counters_count_resume(struct counters *c)
{
	uint64_t resumes = a_load_rlx(&c->resumes); /* only the owner writes */

	a_store_rel(&c->resumes, resumes + 1); /* -> counters.resume: block */
}

/* So many fibers wait now. */
static inline void sn_counters_note_blocked(struct counters *c,
					    uint64_t         blocked)
{
	if (blocked > a_load_rlx(&c->blocked_peak))
		a_store_rlx(&c->blocked_peak, blocked);
}

/* --- sums --------------------------------------------------------------- */

/* Read while the owner counts: see sennit_stats. */
static inline void sn_counters_add(struct counters_sum   *sum,
				   const struct counters *c)
{
	sum->tasks += a_load_rlx(&c->tasks);
	sum->steals += a_load_rlx(&c->steals);
	sum->parks += a_load_rlx(&c->parks);
	sum->blocks += a_load_rlx(&c->blocks);
	sum->fibers_peak += a_load_rlx(&c->blocked_peak);
}

static inline void sn_counters_join(struct counters_sum       *sum,
				    const struct counters_sum *more)
{
	sum->tasks += more->tasks;
	sum->steals += more->steals;
	sum->parks += more->parks;
	sum->blocks += more->blocks;
	sum->fibers_peak += more->fibers_peak;
}

#endif
