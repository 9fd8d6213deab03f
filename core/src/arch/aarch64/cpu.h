/* SPDX-License-Identifier: Apache-2.0 */
/* aarch64/cpu.h - what is special in 64-bit ARM. */
#ifndef SN_AARCH64_CPU_H
#define SN_AARCH64_CPU_H

#include "arch/aarch64/frame.h"

#include <stdbool.h>
#include <stdint.h>

#define PAUSE() __asm__ volatile("yield" ::: "memory")

/* Floating-point control of aarch64: FPCR. The status flags are in
 * another register, FPSR. */
#define ARCH_OWN_FP

static inline uint64_t arch_fp_control(void)
{
	uint64_t fpcr;

	__asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
	return fpcr;
}

static inline void arch_fp_set_control(uint64_t control)
{
	if (unlikely(arch_fp_control() != control))
		__asm__ volatile("msr fpcr, %0" : : "r"(control));
}

/* The virtual counter of aarch64, which is steady by its
 * specification. */
#define ARCH_OWN_TICKS

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

/* The stack pointer that a signal of Linux has interrupted. */
#define ARCH_LINUX_SP(c) ((uintptr_t)(c)->uc_mcontext.sp)

#endif
