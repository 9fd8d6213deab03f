/* SPDX-License-Identifier: Apache-2.0 */
/* fp.h - floating-point control of s390x: the control bits of FPC. */
#ifndef SN_FP_H
#define SN_FP_H

#include "arch/s390x/frame.h"

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

#endif
