/* SPDX-License-Identifier: Apache-2.0 */
/* switch.S - context switch for aarch64 (AAPCS64, section 6.1: registers;
 * 6.4.5: the stack).
 *
 * Saved: x19-x28, x29 (frame pointer), x30 (return address) and d8-d15. The
 * functions whose names do not end in _shared also save FPCR.
 *
 * Not saved: the other vector registers and the status flags FPSR
 * (caller-saved), the signal mask, x18 and TPIDR (they belong to the thread).
 *
 * The incoming registers are loaded while sp still points to the outgoing
 * stack. One instruction then changes both the stack and the caller, so the CFI
 * is correct at every instruction.
 */
#define PROPERTY_TYPE 0xc0000000 /* GNU_PROPERTY_AARCH64_FEATURE_1_AND */
#define PROPERTY_BITS 1          /* BTI */
#define LANDING_PAD   hint 34    /* bti c, in a form that old assemblers
				  * accept */
#include "arch/asm.h"
#include "arch/aarch64/frame.h"

#ifdef SENNIT_NO_FP_CONTROL
#define FP 0
#else
#define FP 1
#endif

	.macro	KEEP first, second, offset
	stp	\first, \second, [sp, \offset]
	.cfi_rel_offset \first, \offset
	.cfi_rel_offset \second, \offset + 8
	.endm

	/* Suspend the running stack into *x0, and leave FPCR in x9. Here and
	 * below, fp is 1 to save and restore FPCR, 0 to ignore it. */
	.macro	SAVE fp
	sub	sp, sp, FRAME_SIZE
	.cfi_adjust_cfa_offset FRAME_SIZE
	.if	\fp
	mrs	x9, fpcr
	.endif
	KEEP	x19, x20, FRAME_X19
	KEEP	x21, x22, FRAME_X21
	KEEP	x23, x24, FRAME_X23
	KEEP	x25, x26, FRAME_X25
	KEEP	x27, x28, FRAME_X27
	KEEP	x29, x30, FRAME_X29
	KEEP	d8, d9, FRAME_D8
	KEEP	d10, d11, FRAME_D10
	KEEP	d12, d13, FRAME_D12
	KEEP	d14, d15, FRAME_D14
	.if	\fp
	str	x9, [sp, FRAME_FPCR]
	.endif
	mov	x10, sp
	str	x10, [x0]
	.endm

	.macro	CALLERS first, second
	.cfi_restore \first
	.cfi_restore \second
	.endm

	/* x9 holds the current FPCR, the register `wanted` the one to use. If
	 * they differ, branch to the FP_LOAD of the same name. Writing FPCR
	 * flushes the pipeline on many cores. */
	.macro	FP_COMPARE name, wanted, fp
	.if	\fp
	cmp	x9, \wanted
	b.ne	.Lload_\name
.Lloaded_\name:
	.endif
	.endm

	/* Placed behind the function, so that the common path does not branch.
	 * The CFI state must be the one at FP_COMPARE. */
	.macro	FP_LOAD name, wanted, fp
	.if	\fp
.Lload_\name:
	msr	fpcr, \wanted
	b	.Lloaded_\name
	.endif
	.endm

	/* Resume the stack x1. x9 holds the current FPCR. */
	.macro	RESUME name, fp
	.if	\fp
	ldr	x10, [x1, FRAME_FPCR]
	.endif
	FP_COMPARE \name, x10, \fp
	ldp	x19, x20, [x1, FRAME_X19]
	ldp	x21, x22, [x1, FRAME_X21]
	ldp	x23, x24, [x1, FRAME_X23]
	ldp	x25, x26, [x1, FRAME_X25]
	ldp	x27, x28, [x1, FRAME_X27]
	ldp	x29, x30, [x1, FRAME_X29]
	ldp	d8, d9, [x1, FRAME_D8]
	ldp	d10, d11, [x1, FRAME_D10]
	ldp	d12, d13, [x1, FRAME_D12]
	ldp	d14, d15, [x1, FRAME_D14]
	.cfi_remember_state
	add	sp, x1, FRAME_SIZE		/* <-- the stacks change here */
	.cfi_def_cfa_offset 0
	CALLERS	x19, x20
	CALLERS	x21, x22
	CALLERS	x23, x24
	CALLERS	x25, x26
	CALLERS	x27, x28
	CALLERS	x29, x30
	CALLERS	d8, d9
	CALLERS	d10, d11
	CALLERS	d12, d13
	CALLERS	d14, d15
	ret
	.cfi_restore_state
	FP_LOAD	\name, x10, \fp
	.endm

/* void arch_switch(arch_stack *save, arch_stack resume) */
SWITCHES FP

/* void arch_start(arch_stack *save, void *top, arch_entry *entry, void *arg,
 *		   uint64_t control)
 *
 * The code on the fresh stack has no caller: x30 is undefined and x29 is 0,
 * which ends the backtraces of debuggers and profilers. FPCR is `control` when
 * entry begins and when it returns. entry preserves x19. */
	.macro	START name, fp
	SAVE	\fp
	FP_COMPARE \name, x4, \fp
	.cfi_remember_state
	mov	sp, x1			/* <-- the stacks change here */
	.cfi_def_cfa_offset 0
	.cfi_undefined x30
	mov	x29, 0
	mov	x19, x4
	mov	x0, x3
	blr	x2
	mov	x1, x0
	mov	x9, x19
	RESUME	\name\()_end, \fp
	.cfi_restore_state
	FP_LOAD	\name, x4, \fp
	.endm

STARTS FP
