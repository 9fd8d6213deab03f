/* SPDX-License-Identifier: Apache-2.0 */
/* fp.h - floating-point control of LoongArch: the control bits of FCSR. */
#ifndef SN_FP_H
#define SN_FP_H

#include "arch/loongarch64/frame.h"

static inline uint64_t arch_fp_control(void)
{
	uint32_t fcsr;

	__asm__ volatile("movfcsr2gr %0, $fcsr0" : "=r"(fcsr));
	return fcsr & FCSR_CONTROL;
}

/* Clears the status flags when it writes. */
static inline void arch_fp_set_control(uint64_t control)
{
	if (unlikely(arch_fp_control() != control))
		__asm__ volatile("movgr2fcsr $fcsr0, %0"
				 :
				 : "r"((uint32_t)control));
}

#endif
