/* SPDX-License-Identifier: Apache-2.0 */
/* let_others_run.h - gives way to other threads where there may be fewer CPUs
 * than threads. */
#ifndef SN_TEST_LET_OTHERS_RUN_H
#define SN_TEST_LET_OTHERS_RUN_H

#include "../api/with_workers.h"

/* There may be fewer CPUs than threads. */
static inline void let_others_run(void)
{
	sennit_yield();
	sched_yield();
}

#endif
