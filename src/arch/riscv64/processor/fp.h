/* SPDX-License-Identifier: Apache-2.0 */
/* fp.h - floating-point control of RISC-V: frm, the rounding direction. The
 * processor has no other, and the status flags are in another register. */
#ifndef SN_FP_H
#define SN_FP_H

#include "arch/riscv64/frame.h"

static inline uint64_t arch_fp_control(void)
{
	uint64_t frm;

	__asm__ volatile("frrm %0" : "=r"(frm));
	return frm;
}

static inline void arch_fp_set_control(uint64_t control)
{
	if (unlikely(arch_fp_control() != control))
		__asm__ volatile("fsrm %0" : : "r"(control));
}

#endif
