/* SPDX-License-Identifier: Apache-2.0 */
/* ticks.h - the time base of POWER, which is steady by its specification. */
#ifndef SN_TICKS_H
#define SN_TICKS_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t arch_ticks(void)
{
	return __builtin_ppc_get_timebase();
}

static inline bool arch_ticks_are_steady(void)
{
	return true;
}

#endif
