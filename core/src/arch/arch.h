/* SPDX-License-Identifier: Apache-2.0 */
/* arch.h - what the library has of every processor: the context switch, which
 * suspends one stack and resumes or starts another, and, further below, what
 * the processor's cpu.h has not defined. cpu.h includes this; include that.
 *
 *	arch_switch   suspended stack A -> suspended stack B
 *	arch_start    suspended stack A -> call entry on an empty stack S, with
 *	              the floating-point control that the caller names; when
 *	              entry returns, with that control in force, S is empty
 *	              again and the suspended stack that it returned resumes
 *
 * An idle stack therefore holds no context. Starting one costs one save and one
 * call; leaving it costs one return and one restore. Calls and returns stay
 * paired, so the processor's return predictor stays correct.
 *
 * Saved and restored: the callee-saved registers of the ABI and, unless built
 * with SENNIT_FP_CONTROL=OFF, the floating-point control bits. The
 * floating-point status flags are undefined after a switch: they may stay with
 * the stack, stay with the thread, or be lost. No flag traps on a stack that
 * did not raise it. Not saved: the signal mask, the thread pointer,
 * caller-saved vector registers.
 *
 * Reading the floating-point control costs as much as the rest of a switch if
 * an instruction waits for the result. Therefore only the function that
 * suspends a stack reads it, once. On x86-64 MXCSR is loaded without a
 * comparison. When entry returns, the control is known and is not read.
 *
 * A stack resumes on the thread that suspended it. These functions do not
 * inform sanitizers; fiber/fiber does.
 */
#ifndef SN_ARCH_H
#define SN_ARCH_H

#include <stdbool.h>
#include <stdint.h>

/* A suspended stack: its stack pointer, where the registers lie in the layout
 * of frame.h. The portable version uses the address of a ucontext on that
 * stack. */
typedef void *arch_stack;

/* The minimum size of a stack in bytes. The portable version keeps whole
 * contexts there, 5 KiB each on aarch64. The smallest stack size that a
 * scheduler accepts, 16 KiB, leaves more than this after the guard page and the
 * record. */
#define ARCH_STACK_MIN 8192

/* Runs on a fresh stack. Returns the suspended stack to resume; its own stack
 * is then empty. Must return with the floating-point control that it began
 * with. No exception may leave it, because it has no caller. */
typedef arch_stack arch_entry(void *argument);

/* Suspend the running stack into *save and resume the stack `resume`. Returns
 * when *save is resumed. */
void arch_switch(arch_stack *save, arch_stack resume);

/* Suspend the running stack into *save and call entry(argument) on the empty
 * stack that ends at `top`. `top` must be 16-byte aligned with at least
 * ARCH_STACK_MIN bytes below it. `control` is the initial floating-point
 * control, a value of arch_fp_control. Returns when *save is resumed. */
void arch_start(arch_stack *save, void *top, arch_entry *entry, void *argument,
		uint64_t control);

/* The same without floating-point control: it is neither saved nor restored,
 * and `control` is ignored. Only these functions may resume a stack that one of
 * them suspended. */
void arch_switch_shared(arch_stack *save, arch_stack resume);
void arch_start_shared(arch_stack *save, void *top, arch_entry *entry,
		       void *argument, uint64_t control);

/* Where the saved registers of a suspended stack lie, for debuggers. */
struct sennit_debug_context;
extern const struct sennit_debug_context arch_saved;

/* arch_fp_control returns the floating-point control as one word, without
 * status flags. arch_fp_set_control loads such a word; it is cheapest when the
 * word is already loaded, and may clear status flags. Both are inline because
 * the run loop uses them after every task. */
static inline uint64_t arch_fp_control(void);
static inline void     arch_fp_set_control(uint64_t control);

/* arch_note_low(top, low), before arch_start on a stack whose lowest usable
 * byte is known: note it below `top`, for systems that want to know. Its size
 * is at most 32 bytes.
 *
 * arch_ticks, a counter of the processor, for short times: cheaper to read than
 * the clock. It is of use only if arch_ticks_are_steady: then it counts at the
 * same rate in all processors and states of power. Two processors may differ by
 * the time that a cache line travels. */

/* What follows is what the processor's cpu.h has not defined, by properties of
 * the target. */

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
 * 32-bit ARM has unwind tables of another kind: the search ends there without a
 * message, and std::terminate is called, too. */
#ifndef ARCH_BARRIER
#ifdef __ARM_EABI__
#define ARCH_BARRIER() ((void)0)
#else
#define ARCH_BARRIER_REPORTS
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

#ifdef SENNIT_NO_FP_CONTROL
#define arch_fp_control()            ((uint64_t)0)
#define arch_fp_set_control(control) ((void)(control))
#endif

#endif
