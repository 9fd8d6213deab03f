/* SPDX-License-Identifier: Apache-2.0 */
/* start.h - bringing a scheduler to life. */
#ifndef SN_START_H
#define SN_START_H

#include "worker/scheduler.h"

/* A scheduler as *config says, every default filled in. Returns what
 * sennit_scheduler_create does; on error nothing is left. */
SENNIT_MUST_USE int sn_start(sennit_scheduler   **out,
			     const sennit_config *config);

#endif
