/* SPDX-License-Identifier: Apache-2.0 */
/* fp.h - floating-point control of 64-bit POWER: the control bits of FPSCR. */
#ifndef SN_FP_H
#define SN_FP_H

#include "arch/ppc64le/frame.h"

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

#endif
