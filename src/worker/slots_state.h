/* SPDX-License-Identifier: Apache-2.0 */
/* slots_state.h - a scheduler's part in a budget of CPUs: see slots.h. */
#ifndef SN_SLOTS_STATE_H
#define SN_SLOTS_STATE_H

#include "core/shares.h"
#include "sennit/resources.h"

struct slots_state {
	sennit_resources *resources; /* fixed; NULL: none */
	struct sharer     sharer;    /* under its lock */
	bool closed; /* the same: the end is reached, no slot is waited for */
};

#endif
