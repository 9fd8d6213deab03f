/* SPDX-License-Identifier: Apache-2.0 */
/* switch.S - context switch for s390x (zSeries ELF ABI supplement, section 1.2:
 * registers and the stack frame).
 *
 * Saved: r6-r13, r14 (return address), r15 (stack pointer) and f8-f15. The
 * functions whose names do not end in _shared also save FPC.
 *
 * Not saved: the other registers and the vector registers (caller-saved; f8-f15
 * are parts of these), the signal mask, the access registers (they belong to
 * the thread). The status flags in FPC go with the stack if the control of the
 * two stacks differs, else they stay with the thread.
 *
 * The incoming registers are loaded while r15 still points to the outgoing
 * stack. The last load, of r6-r15, changes both the stack and the caller, so
 * the CFI is correct at every instruction.
 */
#include "arch/asm.h"
#include "arch/s390x/frame.h"

#ifdef SENNIT_NO_FP_CONTROL
#define FP 0
#else
#define FP 1
#endif

#define TO_F15 8, 9, 10, 11, 12, 13, 14, 15
#define TO_R15 6, 7, 8, 9, 10, 11, 12, 13, 14, 15

	/* Suspend the running stack into *r2, and leave FPC in r1. Here and
	 * below, fp is 1 to save and restore FPC, 0 to ignore it. */
	.macro	SAVE fp
	stmg	%r6, %r15, HEADER_R6(%r15)
	.irp	n, TO_R15
	.cfi_rel_offset %r\n, HEADER_R6 + (\n - 6) * 8 - HEADER_SIZE
	.endr
	aghi	%r15, -FRAME_SIZE
	.cfi_adjust_cfa_offset FRAME_SIZE
	.if	\fp
	efpc	%r1
	.endif
	.irp	n, TO_F15
	std	%f\n, FRAME_F8 + (\n - 8) * 8(%r15)
	.cfi_rel_offset %f\n, FRAME_F8 + (\n - 8) * 8
	.endr
	.if	\fp
	st	%r1, FRAME_FPC(%r15)
	.endif
	stg	%r15, 0(%r2)
	.endm

	/* r1 holds the current FPC, the register `wanted` the one to use. If
	 * their control differs, branch to the FP_LOAD of the same name. */
	.macro	FP_COMPARE name, wanted, fp
	.if	\fp
	xr	%r1, \wanted
	nilf	%r1, FPC_CONTROL
	jne	.Lload_\name
.Lloaded_\name:
	.endif
	.endm

	/* Placed behind the function, so that the common path does not branch.
	 * The CFI state must be the one at FP_COMPARE. A flag that is set does
	 * not trap on this processor. */
	.macro	FP_LOAD name, wanted, fp
	.if	\fp
.Lload_\name:
	sfpc	\wanted
	j	.Lloaded_\name
	.endif
	.endm

	/* Resume the stack r3. r1 holds the current FPC. */
	.macro	RESUME name, fp
	.if	\fp
	l	%r0, FRAME_FPC(%r3)
	.endif
	FP_COMPARE \name, %r0, \fp
	.irp	n, TO_F15
	ld	%f\n, FRAME_F8 + (\n - 8) * 8(%r3)
	.endr
	.cfi_remember_state
	lmg	%r6, %r15, FRAME_R6(%r3)	/* <-- the stacks change here */
	.cfi_def_cfa_offset HEADER_SIZE
	.irp	n, TO_R15
	.cfi_restore %r\n
	.endr
	.irp	n, TO_F15
	.cfi_restore %f\n
	.endr
	br	%r14
	.cfi_restore_state
	FP_LOAD	\name, %r0, \fp
	.endm

/* void arch_switch(arch_stack *save, arch_stack resume) */
SWITCHES FP

/* void arch_start(arch_stack *save, void *top, arch_entry *entry, void *arg,
 *		   uint64_t control)
 *
 * The code on the fresh stack has no caller: r14 is undefined and the chain of
 * frames ends with 0, which ends the backtraces of debuggers and profilers. FPC
 * is `control` when entry begins and when it returns. entry preserves r6, in
 * which `control` is passed. */
	.macro	START name, fp
	SAVE	\fp
	FP_COMPARE \name, %r6, \fp
	aghi	%r3, -HEADER_SIZE
	xc	0(8, %r3), 0(%r3)
	lgr	%r2, %r5
	.cfi_remember_state
	lgr	%r15, %r3		/* <-- the stacks change here */
	.cfi_def_cfa_offset HEADER_SIZE
	.cfi_undefined %r14
	basr	%r14, %r4
	lgr	%r3, %r2
	lgr	%r1, %r6
	RESUME	\name\()_end, \fp
	.cfi_restore_state
	FP_LOAD	\name, %r6, \fp
	.endm

STARTS FP
