/* SPDX-License-Identifier: Apache-2.0 */
/* ticks.h - the virtual counter of aarch64, which is steady by its
 * specification. */
#ifndef SN_TICKS_H
#define SN_TICKS_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t arch_ticks(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}

static inline bool arch_ticks_are_steady(void)
{
	return true;
}

#endif
