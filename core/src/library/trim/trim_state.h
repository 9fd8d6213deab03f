/* SPDX-License-Identifier: Apache-2.0 */
/* trim_state.h - what workers and schedulers record for trim.h. */
#ifndef SN_TRIM_STATE_H
#define SN_TRIM_STATE_H

#include "base/atomic.h"
#include "sennit/base.h"

#include <stdbool.h>
#include <stdint.h>

/* What a worker records about its need of memory: see trim.h. */

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

#endif
