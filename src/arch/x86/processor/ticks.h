/* SPDX-License-Identifier: Apache-2.0 */
/* ticks.h - the time-stamp counter of x86-64. */
#ifndef SN_TICKS_H
#define SN_TICKS_H

#include <cpuid.h>
#include <stdbool.h>
#include <stdint.h>

static inline uint64_t arch_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

static inline bool arch_ticks_are_steady(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007u, &a, &b, &c, &d) && d >> 8 & 1;
}

#endif
