/* SPDX-License-Identifier: Apache-2.0 */
/* loop_state.h - what a worker records for parallel.h. */
#ifndef SN_LOOP_STATE_H
#define SN_LOOP_STATE_H

#include "sennit/base.h"

#include <stddef.h>

struct sennit_group;

/* Where a worker ended its last range of a loop, and how large the next piece
 * would have been. All: owner. */
struct loop_state {
	const struct sennit_group *group; /* of the loop; NULL: none yet */
	sennit_time                ended;
	size_t                     end;
	size_t                     piece;
	size_t                     calm;
};

#endif
