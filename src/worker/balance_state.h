/* SPDX-License-Identifier: Apache-2.0 */
/* balance_state.h - whether a worker's tasks wait or end: see balance.h. */
#ifndef SN_BALANCE_STATE_H
#define SN_BALANCE_STATE_H

#include <stdint.h>

struct balance_state {         /* all: owner */
	uint64_t seen_blocked; /* fibers that waited at the last count */
	uint64_t seen_tasks;   /* tasks that had ended at the last count */
	uint64_t dealt_at;     /* `blocks` when it last dealt */
	uint32_t pile;         /* the waits that have begun recently, weighted:
			        * at most SHARE_PILE_MAX */
	uint32_t waits;        /* recent tasks that began to wait */
	uint32_t tasks;        /* recent tasks: these, and those that ended */
};

#endif
