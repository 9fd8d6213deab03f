/* SPDX-License-Identifier: Apache-2.0 */
/* loongarch64/cpu.h - what is special in 64-bit LoongArch. */
#ifndef SN_LOONGARCH64_CPU_H
#define SN_LOONGARCH64_CPU_H

#include "arch/loongarch64/frame.h"

#include <stdbool.h>
#include <stdint.h>

/* Floating-point control of LoongArch: the control bits of FCSR. */
#define ARCH_OWN_FP

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

/* The stable counter of LoongArch. */
#define ARCH_OWN_TICKS

static inline uint64_t arch_ticks(void)
{
	uint64_t ticks;

	__asm__ volatile("rdtime.d %0, $zero" : "=r"(ticks));
	return ticks;
}

static inline bool arch_ticks_are_steady(void)
{
	return true;
}

/* The stack pointer that a signal of Linux has interrupted. */
#define ARCH_LINUX_SP(c) ((uintptr_t)(c)->uc_mcontext.__gregs[3])

#endif
