/* SPDX-License-Identifier: Apache-2.0 */
/* s390x/cpu.h - what is special in s390x. */
#ifndef SN_S390X_CPU_H
#define SN_S390X_CPU_H

#include "arch/s390x/frame.h"

#include <stdbool.h>
#include <stdint.h>

/* Floating-point control of s390x: the control bits of FPC. */
#define ARCH_OWN_FP

static inline uint64_t arch_fp_control(void)
{
	uint32_t fpc;

	__asm__ volatile("efpc %0" : "=d"(fpc));
	return fpc & FPC_CONTROL;
}

/* Clears the status flags when it writes. */
static inline void arch_fp_set_control(uint64_t control)
{
	if (unlikely(arch_fp_control() != control))
		__asm__ volatile("sfpc %0" : : "d"((uint32_t)control));
}

/* The time-of-day clock of s390x: steady, and the same in all
 * processors. */
#define ARCH_OWN_TICKS

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

/* The stack pointer that a signal of Linux has interrupted. */
#define ARCH_LINUX_SP(c) ((uintptr_t)(c)->uc_mcontext.gregs[15])

#endif
