/* SPDX-License-Identifier: Apache-2.0 */
/* arm/cpu.h - what is special in 32-bit ARM with hard floats. */
#ifndef SN_ARM_CPU_H
#define SN_ARM_CPU_H

#include "arch/arm/frame.h"

/* Floating-point control of 32-bit ARM: the control bits of FPSCR. */
#define ARCH_OWN_FP

static inline uint32_t arch_fpscr(void)
{
	uint32_t fpscr;

	__asm__ volatile("vmrs %0, fpscr" : "=r"(fpscr));
	return fpscr;
}

static inline uint64_t arch_fp_control(void)
{
	return arch_fpscr() & FPSCR_CONTROL;
}

/* The status flags stay: no flag that is set traps later. */
static inline void arch_fp_set_control(uint64_t control)
{
	uint32_t now = arch_fpscr();

	if (unlikely((now & FPSCR_CONTROL) != control))
		__asm__ volatile("vmsr fpscr, %0"
				 :
				 : "r"((now & ~(uint32_t)FPSCR_CONTROL) |
				       (uint32_t)control));
}

#endif
