/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler_list_state.h - a scheduler's place in the list of all: see
 * scheduler_list.h. */
#ifndef SN_SCHEDULER_LIST_STATE_H
#define SN_SCHEDULER_LIST_STATE_H

#include "base/list.h"

#include <stdint.h>

struct scheduler_list_state {
	struct link link;  /* under the list's lock */
	uint32_t    forks; /* fixed: the list's, when it joined */
	bool        ready; /* under the list's lock: created, so that others
			    * than debuggers may look */
};

#endif
