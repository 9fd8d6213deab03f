/* SPDX-License-Identifier: Apache-2.0 */
/* arch.h - what the scheduler asks of a processor: leave one stack for another.
 *
 *	arch_switch   suspended stack A -> suspended stack B
 *	arch_start    suspended stack A -> call entry on an empty stack S, with
 *	              the floating-point control that the caller names; when
 *	              entry returns, with that control in force, S is empty
 *	              again and the suspended stack that it returned resumes
 *
 * An idle stack therefore carries no context at all: starting one is one save
 * and one call, leaving it one return and one restore, and calls and returns
 * stay paired, which keeps the processor's return predictor right.
 *
 * Saved and restored: the callee-saved registers of the ABI and, unless built
 * with SENNIT_FP_CONTROL=OFF, the control bits of floating point. The status
 * flags are nobody's: they may stay with the stack or with the thread, or be
 * lost; none traps on a stack that did not raise it. Not saved: signal mask,
 * thread pointer, caller-saved vector registers.
 *
 * To read the control costs as much as the rest of a switch where the result is
 * waited for. So it is read once, by whoever suspends a stack, and on x86-64
 * loaded without a comparison; when entry returns it is known and nobody reads
 * it.
 *
 * A stack resumes on the thread that suspended it. These functions know nothing
 * of sanitizers; fiber/fiber tells them.
 */
#ifndef SN_ARCH_H
#define SN_ARCH_H

#include "base/compiler.h"

/* A suspended stack: its stack pointer, with the registers at it as frame.h
 * lays them out. The portable fallback stores the address of a ucontext on that
 * stack. */
typedef void *arch_stack;

/* What a stack must have to be started; the portable fallback keeps whole
 * contexts there, 5 KiB each on aarch64. The smallest stack that a scheduler
 * may be given leaves more: 16 KiB less guard page and record. */
#define ARCH_STACK_MIN 8192

/* Runs on a fresh stack; returns the suspended stack to resume, leaving this
 * one empty. Must return with the floating-point control that it began with.
 * An exception must not leave it: there is nobody above. */
typedef arch_stack arch_entry(void *argument);

/* Suspend the running stack into *save and resume the stack `resume`. Returns
 * when somebody resumes *save. */
void arch_switch(arch_stack *save, arch_stack resume);

/* Suspend the running stack into *save and call entry(argument) on the empty
 * stack that ends at `top` (16-byte aligned, ARCH_STACK_MIN bytes or more below
 * it), with the floating-point control `control`, a word of arch_fp_control.
 * Returns when somebody resumes *save. */
void arch_start(arch_stack *save, void *top, arch_entry *entry, void *argument,
		uint64_t control);

/* The same where floating-point control is nobody's: it is neither kept nor
 * looked at, `control` means nothing. A stack suspended by one of these is
 * resumed by them alone. */
void arch_switch_shared(arch_stack *save, arch_stack resume);
void arch_start_shared(arch_stack *save, void *top, arch_entry *entry,
		       void *argument, uint64_t control);

/* Floating-point control as one word, status flags masked out, and the call to
 * put such a word in force, cheapest when it is already (status flags may be
 * cleared). Inline: the run loop does so after every task. */
static inline uint64_t arch_fp_control(void);
static inline void     arch_fp_set_control(uint64_t control);

#if defined(SENNIT_NO_FP_CONTROL)
static inline uint64_t arch_fp_control(void)
{
	return 0;
}

static inline void arch_fp_set_control(uint64_t control)
{
	(void)control;
}
#elif defined(__x86_64__)
#include "arch/x86_64/fp.h"
#elif defined(__aarch64__)
#include "arch/aarch64/fp.h"
#else
#include "arch/portable/fp.h"
#endif

#endif
