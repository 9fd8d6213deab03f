/* SPDX-License-Identifier: Apache-2.0 */
/* mips64el/cpu.h - what is special in 64-bit MIPS, little-endian. */
#ifndef SN_MIPS64EL_CPU_H
#define SN_MIPS64EL_CPU_H

#include "arch/mips64el/frame.h"

/* Floating-point control of MIPS: the control bits of FCSR. */
#define ARCH_OWN_FP

static inline uint64_t arch_fp_control(void)
{
	uint32_t fcsr;

	__asm__ volatile("cfc1 %0, $31" : "=r"(fcsr));
	return fcsr & FCSR_CONTROL;
}

/* Clears the status flags when it writes. */
static inline void arch_fp_set_control(uint64_t control)
{
	if (unlikely(arch_fp_control() != control))
		__asm__ volatile("ctc1 %0, $31" : : "r"((uint32_t)control));
}

/* The stack pointer that a signal of Linux has interrupted. */
#define ARCH_LINUX_SP(c) ((uintptr_t)(c)->uc_mcontext.gregs[29])

#endif
