/* SPDX-License-Identifier: Apache-2.0 */
/* arch.h - the context switch: suspends one stack and resumes or starts
 * another.
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

#include "arch/cpu.h"
#include "base/compiler.h"

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
#ifdef SENNIT_NO_FP_CONTROL
#define arch_fp_control()            ((uint64_t)0)
#define arch_fp_set_control(control) ((void)(control))
#endif

/* arch_note_low(top, low), before arch_start on a stack whose lowest usable
 * byte is known: note it below `top`, for systems that want to know. Its size
 * is at most 32 bytes.
 *
 * arch_ticks, a counter of the processor, for short times: cheaper to read than
 * the clock. It is of use only if arch_ticks_are_steady: then it counts at the
 * same rate in all processors and states of power. Two processors may differ by
 * the time that a cache line travels. */

#endif
