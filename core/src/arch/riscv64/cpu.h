/* SPDX-License-Identifier: Apache-2.0 */
/* riscv64/cpu.h - what is special in 64-bit RISC-V. */
#ifndef SN_RISCV64_CPU_H
#define SN_RISCV64_CPU_H

#include "arch/riscv64/frame.h"

#include <stdbool.h>
#include <stdint.h>

/* Floating-point control of RISC-V: frm, the rounding direction. The
 * processor has no other, and the status flags are in another register. */
#define ARCH_OWN_FP

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

/* The time counter of RISC-V, which is steady by its
 * specification. */
#define ARCH_OWN_TICKS

static inline uint64_t arch_ticks(void)
{
	uint64_t ticks;

	__asm__ volatile("rdtime %0" : "=r"(ticks));
	return ticks;
}

static inline bool arch_ticks_are_steady(void)
{
	return true;
}

#endif
