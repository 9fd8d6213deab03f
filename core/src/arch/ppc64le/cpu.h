/* SPDX-License-Identifier: Apache-2.0 */
/* ppc64le/cpu.h - what is special in 64-bit POWER, little-endian. */
#ifndef SN_PPC64LE_CPU_H
#define SN_PPC64LE_CPU_H

#include "arch/ppc64le/frame.h"

#include <stdbool.h>
#include <stdint.h>

/* Floating-point control of 64-bit POWER: the control bits of FPSCR. */
#define ARCH_OWN_FP

/* The words of frames contain the status flags, too. */
#define FPSCR_CONTROL (UINT64_C(7) << FPSCR_DECIMAL | FPSCR_LOW)

static inline uint64_t arch_fp_control(void)
{
	union {
		double   as_read;
		uint64_t word;
	} fpscr;

	__asm__ volatile("mffs %0" : "=d"(fpscr.as_read));
	return fpscr.word & FPSCR_CONTROL;
}

/* Clears the status flags when it writes. So no flag traps that is set. */
static inline void arch_fp_set_control(uint64_t control)
{
	union {
		uint64_t word;
		double   to_write;
	} fpscr = { control };

	if (unlikely(arch_fp_control() != control))
		__asm__ volatile("mtfsf 0xff, %0, 1, 0"
				 :
				 : "d"(fpscr.to_write));
}

/* The time base of POWER, which is steady by its specification. */
#define ARCH_OWN_TICKS

static inline uint64_t arch_ticks(void)
{
	return __builtin_ppc_get_timebase();
}

static inline bool arch_ticks_are_steady(void)
{
	return true;
}

/* The stack pointer that a signal of Linux has interrupted. */
#define ARCH_LINUX_SP(c) ((uintptr_t)(c)->uc_mcontext.gp_regs[1])

#endif
