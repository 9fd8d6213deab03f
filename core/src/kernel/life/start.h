/* SPDX-License-Identifier: Apache-2.0 */
/* start.h - creates a scheduler and its threads. */
#ifndef SN_START_H
#define SN_START_H

#include "sched/state.h"

/* Create a scheduler from *config, in which all defaults are filled in. Returns
 * what sennit_scheduler_create returns. On an error nothing remains. */
SENNIT_MUST_USE int sn_start(sennit_scheduler   **out,
			     const sennit_config *config);

#endif
