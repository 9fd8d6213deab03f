/* SPDX-License-Identifier: Apache-2.0 */
/* x86_64/cpu.h - what is special in x86-64, and what i386, whose own cpu.h
 * includes this, has in common with it. arch/cpu.h includes compiler.h before.
 */
#ifndef SN_X86_64_CPU_H
#define SN_X86_64_CPU_H

#include <cpuid.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __x86_64__
/* GCC's builtin fetches a shared copy unless -march names a newer processor.
 * Every 64-bit processor either executes prefetchw or ignores it. */
#define FETCH_OWN(address) \
	__asm__ volatile("prefetchw %0" ::"m"(*(const char *)(address)))

/* The stack pointer that a signal of Linux has interrupted. */
#define ARCH_LINUX_SP(c) ((uintptr_t)(c)->uc_mcontext.gregs[REG_RSP])
#endif

#define PAUSE() __builtin_ia32_pause()

/* Floating-point control: MXCSR in the low 32 bits, the x87 control word in the
 * high 32 bits. The processor must have SSE. */
#define ARCH_OWN_FP

/* The exception flags of MXCSR and of the x87 status word. The x87 control word
 * has their masks there. In assembler: FP_FLAGS of frame.h. */
#define MXCSR_FLAGS UINT32_C(0x3f)

static inline uint64_t arch_fp_control(void)
{
	uint32_t mxcsr;
	uint16_t x87;

	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	__asm__ volatile("fnstcw %0" : "=m"(x87));
	return (uint64_t)x87 << 32 | (mxcsr & ~MXCSR_FLAGS);
}

/* Clears the exception flags first if one that is set would become unmasked,
 * because the x87 would trap on it. */
static inline void arch_fp_set_x87(uint16_t control)
{
	uint16_t status;

	__asm__ volatile("fnstsw %0" : "=a"(status));
	if (status & ~control & MXCSR_FLAGS)
		__asm__ volatile("fnclex");
	__asm__ volatile("fldcw %0" : : "m"(control));
}

static inline void arch_fp_set_control(uint64_t control)
{
	uint32_t mxcsr = (uint32_t)control;
	uint16_t x87;

	__asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
	__asm__ volatile("fnstcw %0" : "=m"(x87));
	if (unlikely(x87 != (uint16_t)(control >> 32)))
		arch_fp_set_x87((uint16_t)(control >> 32));
}

/* The time-stamp counter of x86-64. */
#define ARCH_OWN_TICKS

static inline uint64_t arch_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

static inline bool arch_ticks_are_steady(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0x80000007u, &a, &b, &c, &d) && d >> 8 & 1;
}

#endif
