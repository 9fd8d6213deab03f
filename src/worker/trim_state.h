/* SPDX-License-Identifier: Apache-2.0 */
/* trim_state.h - what a worker remembers of its need of memory: see trim.h. */
#ifndef SN_TRIM_STATE_H
#define SN_TRIM_STATE_H

#include "base/atomic.h"
#include "sennit/base.h"

#include <stdbool.h>

struct trim_state {
	sennit_time at;             /* owner: the next look, or step */
	uint64_t    busiest;        /* owner: most fibers that waited at once,
				     * since the last look */
	uint64_t    work_done;      /* owner: what it had done by then */
	uint32_t    surplus;        /* owner: idle stacks to be given back */
	uint32_t    surplus_shared; /* owner: the same of the depot's */
	uint32_t    seen;           /* owner: how often, as far as seen */
	bool        expects_more;   /* owner: the last look saw a peak */
	a_u32       done; /* owner writes: the last trim that was done */
};

/* A scheduler's. */
struct trim_shared {
	a_u32 told; /* any: times all were told to */
	a_u64 at;   /* any: the next look at what workers share */
};

/* A new worker has nothing of before. */
static inline void sn_trim_init(struct trim_state        *t,
				const struct trim_shared *shared)
{
	t->seen = a_load_rlx(&shared->told); /* what it was told before */
	a_init(&t->done, t->seen);
}

/* So many fibers of the owner wait now. */
static inline void sn_trim_note_blocked(struct trim_state *t, uint64_t blocked)
{
	if (blocked > t->busiest)
		t->busiest = blocked;
}

#endif
