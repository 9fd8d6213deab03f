/* SPDX-License-Identifier: Apache-2.0 */
/* debugger.h - keeps the descriptor in every program. */
#ifndef SN_DEBUGGER_H
#define SN_DEBUGGER_H

#include "sennit/debugger.h"

/* Nothing reads the descriptor in the process. A use that the compiler cannot
 * see through makes archives, --gc-sections and link-time optimisation keep
 * it. */
static inline void sn_debugger_keep(void)
{
	__asm__ volatile("" : : "r"(&sennit_debug_descriptor));
}

#endif
