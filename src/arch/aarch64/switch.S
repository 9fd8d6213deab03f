/* SPDX-License-Identifier: Apache-2.0 */
/* switch.S - leave one stack for another, aarch64 (AAPCS64, section 6.1:
 * registers; 6.4.5: the stack).
 *
 * Saved: x19-x28, x29 (frame pointer), x30 (return address), d8-d15, FPCR.
 * Not saved: the other vector registers and the status flags FPSR (the
 * caller's to save), the signal mask, x18 and TPIDR (the thread's).
 *
 * The incoming registers are loaded while the outgoing stack is still the
 * running one, so that one instruction changes stack and caller together and
 * the CFI is right at every instruction.
 */
#include "arch/asm.h"
#include "arch/aarch64/frame.h"

	.macro	FP_READ
#ifndef SENNIT_NO_FP_CONTROL
	mrs	x9, fpcr
#endif
	.endm

	.macro	KEEP first, second, offset
	stp	\first, \second, [sp, \offset]
	.cfi_rel_offset \first, \offset
	.cfi_rel_offset \second, \offset + 8
	.endm

	/* Suspend the running stack into *x0. */
	.macro	SAVE
	sub	sp, sp, FRAME_SIZE
	.cfi_adjust_cfa_offset FRAME_SIZE
	FP_READ
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
#ifndef SENNIT_NO_FP_CONTROL
	str	x9, [sp, FRAME_FPCR]
#endif
	mov	x10, sp
	str	x10, [x0]
	.endm

	.macro	CALLERS first, second
	.cfi_restore \first
	.cfi_restore \second
	.endm

	/* Resume the stack x1. FP_READ has left the control now in force in
	 * x9; writing FPCR costs a pipeline flush on many cores. */
	.macro	RESUME
#ifndef SENNIT_NO_FP_CONTROL
	ldr	x10, [x1, FRAME_FPCR]
	cmp	x9, x10
	b.ne	.Ldiffers\@
.Lsame\@:
#endif
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
#ifndef SENNIT_NO_FP_CONTROL
.Ldiffers\@:
	msr	fpcr, x10
	b	.Lsame\@
#endif
	.endm

/* void arch_switch(arch_stack *save, arch_stack resume) */
FUNC arch_switch
	SAVE
	RESUME
END arch_switch

/* void arch_start(arch_stack *save, void *top, arch_entry *entry, void *arg)
 * Nobody called what runs on the fresh stack: x30 is undefined and x29 zero,
 * where debuggers and profilers end a backtrace. */
FUNC arch_start
	SAVE
	mov	sp, x1			/* <-- the stacks change here */
	.cfi_def_cfa_offset 0
	.cfi_undefined x30
	mov	x29, 0
	mov	x0, x3
	blr	x2
	mov	x1, x0
	FP_READ				/* entry may have changed it */
	RESUME
END arch_start
