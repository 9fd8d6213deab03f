/* SPDX-License-Identifier: Apache-2.0 */
/* fp.h - floating-point control of aarch64: FPCR. The status flags are in
 * another register, FPSR. */
#ifndef SN_FP_H
#define SN_FP_H

#include "arch/aarch64/frame.h"

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

#endif
