/* SPDX-License-Identifier: Apache-2.0 */
/* ticks.h - no counter is known: the caller uses the system's clock. */
#ifndef SN_TICKS_H
#define SN_TICKS_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t arch_ticks(void)
{
	return 0;
}

static inline bool arch_ticks_are_steady(void)
{
	return false;
}

#endif
