/* SPDX-License-Identifier: Apache-2.0 */
/* slots_state.h - a scheduler's part in a CPU budget: see slots.h. */
#ifndef SN_SLOTS_STATE_H
#define SN_SLOTS_STATE_H

#include "core/shares.h"
#include "sennit/resources.h"

struct slots_state {
	sennit_resources *resources; /* fixed; NULL: none */
	struct sharer     sharer;    /* under resources->lock */
	bool closed; /* under resources->lock: the scheduler has ended, nobody
		      * waits for a slot */
};

#endif
