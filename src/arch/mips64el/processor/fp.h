/* SPDX-License-Identifier: Apache-2.0 */
/* fp.h - floating-point control of MIPS: the control bits of FCSR. */
#ifndef SN_FP_H
#define SN_FP_H

#include "arch/mips64el/frame.h"

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

#endif
