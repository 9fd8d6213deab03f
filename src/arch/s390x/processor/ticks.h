/* SPDX-License-Identifier: Apache-2.0 */
/* ticks.h - the time-of-day clock of s390x: steady, and the same in all
 * processors. */
#ifndef SN_TICKS_H
#define SN_TICKS_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t arch_ticks(void)
{
	uint64_t ticks;

	__asm__ volatile("stckf %0" : "=Q"(ticks) : : "cc");
	return ticks;
}

static inline bool arch_ticks_are_steady(void)
{
	return true;
}

#endif
