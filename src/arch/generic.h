/* SPDX-License-Identifier: Apache-2.0 */
/* generic.h - what the processor's cpu.h has not defined, by properties of the
 * target. */
#ifndef SN_GENERIC_H
#define SN_GENERIC_H

#include "base/compiler.h"

#include <stdbool.h>
#include <stdint.h>

/* --- hints ---------------------------------------------------------------- */

/* This is a spin loop. Without an instruction for it, the compiler must still
 * read memory anew. */
#ifndef PAUSE
#ifdef __ARM_EABI__
#define PAUSE() __asm__ volatile("yield" ::: "memory")
#else
#define PAUSE() atomic_signal_fence(memory_order_seq_cst)
#endif
#endif

/* The caller is about to write a cache line. */
#ifndef FETCH_OWN
#define FETCH_OWN(address) __builtin_prefetch(address, 1)
#endif

/* --- memory --------------------------------------------------------------- */

/* The memory orders of compare-and-set, as base/atomic.h names them. GCC before
 * 14 compiles one for RISC-V without the release, unless its order on failure
 * would release, too. */
#if defined(__riscv) && !defined(__clang__) && __GNUC__ < 14
#define RELEASE_      memory_order_seq_cst
#define ACQREL_       memory_order_seq_cst
#define ELSE_RELAXED_ memory_order_seq_cst
#define ELSE_ACQUIRE_ memory_order_seq_cst
#else
#define RELEASE_      memory_order_release
#define ACQREL_       memory_order_acq_rel
#define ELSE_RELAXED_ memory_order_relaxed
#define ELSE_ACQUIRE_ memory_order_acquire
#endif

/* HALVES declares two members that are the halves of one 64-bit word, in the
 * order of the processor's bytes. The address of the low half is LOW_HALF_AT
 * bytes above that of the word. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define HALVES(low_type, low, high_type, high) \
	high_type high;                        \
	low_type  low
#define LOW_HALF_AT 4
#else
#define HALVES(low_type, low, high_type, high) \
	low_type  low;                         \
	high_type high
#define LOW_HALF_AT 0
#endif

/* --- numbers -------------------------------------------------------------- */

/* Return the low 64 bits of a * b / 2^32. */
static inline uint64_t product_32(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
	__extension__ typedef unsigned __int128 wide;

	return (uint64_t)((wide)a * b >> 32);
#else
	return (a >> 32) * b + (uint32_t)a * (b >> 32) +
	       ((uint64_t)(uint32_t)a * (uint32_t)b >> 32);
#endif
}

/* Floating-point control: the rounding direction, the only part that standard C
 * can set. */
#ifndef ARCH_OWN_FP
#include <fenv.h>

static inline uint64_t arch_fp_control(void)
{
	return (uint64_t)fegetround();
}

static inline void arch_fp_set_control(uint64_t control)
{
	if (unlikely(arch_fp_control() != control))
		fesetround((int)control);
}
#endif

/* No counter is known: the caller uses the system's clock. */
#ifndef ARCH_OWN_TICKS
static inline uint64_t arch_ticks(void)
{
	return 0;
}

static inline bool arch_ticks_are_steady(void)
{
	return false;
}
#endif

/* --- stacks --------------------------------------------------------------- */

/* How much of a stack of that size a task leaves free that is called on the
 * stack of a waiting fiber. */
#ifndef ARCH_LEAVE
#define ARCH_LEAVE(size) ((size) / 2)
#endif

/* Most switches do not need the low end of a stack. */
#ifndef ARCH_OWN_LOW
#define arch_note_low(top, low) ((void)0)
#endif

/* The stack pointer that a signal of Linux has interrupted; 0: not known. */
#ifndef ARCH_LINUX_SP
#if defined(__ARM_EABI__)
#define ARCH_LINUX_SP(c) ((uintptr_t)(c)->uc_mcontext.arm_sp)
#elif defined(__riscv)
#define ARCH_LINUX_SP(c) ((uintptr_t)(c)->uc_mcontext.__gregs[2])
#else
#define ARCH_LINUX_SP(c) ((void)(c), (uintptr_t)0)
#endif
#endif

/* --- exceptions of C++ ---------------------------------------------------- */

/* ARCH_BARRIER() is for a function through which no exception may pass. It
 * prints which task the exception left and stops the search for a handler, so
 * that std::terminate is called before any frame is unwound.
 *
 * The directive adds a personality routine (os/posix/cxx_exceptions.c) to the
 * compiler's unwind information of the function. 0x1b is the encoding of its
 * address: 4 bytes, relative to their own position.
 *
 * On macOS nothing stops the search: an exception that leaves a task ends the
 * process where the frames of the stack end. 32-bit ARM has unwind tables of
 * another kind: the search ends there without a message, and std::terminate is
 * called, too. */
#ifndef ARCH_BARRIER
#if defined(__APPLE__) || defined(__ARM_EABI__)
#define ARCH_BARRIER() ((void)0)
#else
#define ARCH_BARRIER_SPEAKS
#define ARCH_BARRIER() \
	__asm__ volatile(".cfi_personality 0x1b, sn_cxx_personality")
#endif
#endif

/* What the C++ runtime keeps for each thread (Itanium C++ ABI, 2.2.2:
 * __cxa_eh_globals). On 32-bit ARM also the exceptions whose unwinding runs
 * destructors. What follows the destructors takes the exception from there
 * (Exception Handling ABI for the Arm Architecture: __cxa_begin_cleanup,
 * __cxa_end_cleanup). An exception of another language is only there. */
struct cxx_globals {
	void    *caught;   /* a stack: the exceptions that are being handled */
	unsigned uncaught; /* how many are thrown and not yet caught */
#ifdef __ARM_EABI__
	void *propagating; /* a stack: those whose destructors run */
#endif
};

static inline bool cxx_globals_used(const struct cxx_globals *g)
{
#ifdef __ARM_EABI__
	if (g->propagating)
		return true;
#endif
	return g->caught || g->uncaught;
}

#endif
