/* SPDX-License-Identifier: Apache-2.0 */
/* counters.h - the counters of a worker.
 *
 * The worker writes its own counters with plain stores, and any thread may read
 * them. The number of fibers that wait or are ready is blocks - resumes.
 */
#ifndef SN_COUNTERS_H
#define SN_COUNTERS_H

#include "base/atomic.h"

#include <stdint.h>

struct counters { /* all: owner writes */
	a_u64 tasks, steals, parks, blocks, resumes, blocked_peak;
};

/* The sums over several workers. */
struct counters_sum {
	uint64_t tasks, steals, parks, blocks, resumes, fibers_peak;
};

static inline uint64_t sn_counters_tasks(const struct counters *c)
{
	return a_load_rlx(&c->tasks);
}

static inline uint64_t sn_counters_blocks(const struct counters *c)
{
	return a_load_rlx(&c->blocks);
}

/* The number of fibers that wait or are ready. Another thread may get a higher
 * number, but never a negative one: it sees the block of each resume that it
 * sees. (The sweep of finalise.c gets exact values, because the worker is out
 * of the gate.) Checked by test/model/counts.pml. */
static inline uint64_t sn_counters_blocked(const struct counters *c)
{
	uint64_t resumes = a_load_acq(&c->resumes); /* <- counters.resume */

	return a_load_rlx(&c->blocks) - resumes;
}

/* --- owner only --------------------------------------------------------- */

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

/* A wait that was counted as a block has ended. */
static inline void sn_counters_count_resume(struct counters *c)
{
	uint64_t resumes = a_load_rlx(&c->resumes); /* not raced: only the owner
						     * writes */

	a_store_rel(&c->resumes, resumes + 1); /* -> counters.resume: block */
}

/* Record the number of fibers that wait now. */
static inline void sn_counters_note_blocked(struct counters *c,
					    uint64_t         blocked)
{
	if (blocked > a_load_rlx(&c->blocked_peak))
		a_store_rlx(&c->blocked_peak, blocked);
}

/* --- sums --------------------------------------------------------------- */

/* Reads counters while the owner writes them: see sennit_stats. */
static inline void sn_counters_add(struct counters_sum   *sum,
				   const struct counters *c)
{
	sum->tasks += a_load_rlx(&c->tasks);
	sum->steals += a_load_rlx(&c->steals);
	sum->parks += a_load_rlx(&c->parks);
	sum->resumes += a_load_rlx(&c->resumes);
	sum->blocks += a_load_rlx(&c->blocks);
	sum->fibers_peak += a_load_rlx(&c->blocked_peak);
}

static inline void sn_counters_join(struct counters_sum       *sum,
				    const struct counters_sum *more)
{
	sum->tasks += more->tasks;
	sum->steals += more->steals;
	sum->parks += more->parks;
	sum->resumes += more->resumes;
	sum->blocks += more->blocks;
	sum->fibers_peak += more->fibers_peak;
}

#endif
