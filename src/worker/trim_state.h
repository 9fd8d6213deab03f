/* SPDX-License-Identifier: Apache-2.0 */
/* trim_state.h - what a worker records about its need of memory: see trim.h. */
#ifndef SN_TRIM_STATE_H
#define SN_TRIM_STATE_H

#include "base/atomic.h"
#include "sennit/base.h"

#include <stdbool.h>

struct trim_state {
	sennit_time at;             /* owner: time of the next look, or step */
	uint64_t    busiest;        /* owner: most fibers that waited at once
				     * since the last look */
	uint64_t    work_done;      /* owner: work done until the last look */
	uint32_t    surplus;        /* owner: idle stacks to return */
	uint32_t    surplus_shared; /* owner: the same for the depot */
	uint32_t    seen;           /* owner: number of requests that it has
				     * seen */
	bool        expects_more;   /* owner: the last look saw a peak */
	a_u32       done; /* owner writes: the last request that it has
			   * finished */
};

/* The part of a scheduler. */
struct trim_shared {
	a_u32 told; /* any: number of requests to trim */
	a_u64 at;   /* any: time of the next look at what workers share */
};

/* A new worker ignores earlier requests. */
static inline void sn_trim_init(struct trim_state        *t,
				const struct trim_shared *shared)
{
	t->seen = a_load_rlx(&shared->told); /* the requests so far */
	a_init(&t->done, t->seen);
}

/* Record the number of the owner's fibers that wait now. */
static inline void sn_trim_note_blocked(struct trim_state *t, uint64_t blocked)
{
	if (blocked > t->busiest)
		t->busiest = blocked;
}

#endif
