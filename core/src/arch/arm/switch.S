/* SPDX-License-Identifier: Apache-2.0 */
/* switch.S - context switch for 32-bit ARM with floating-point registers
 * (AAPCS, section 6.1: registers; 6.2.1.3: the stack).
 *
 * Saved: r4-r11, lr (return address) and d8-d15. The functions whose names do
 * not end in _shared also save FPSCR.
 *
 * Not saved: the other registers (caller-saved), the signal mask, the thread
 * pointer (it is no general register). The status flags in FPSCR go with the
 * stack if the control of the two stacks differs, else they stay with the
 * thread.
 *
 * The incoming registers are loaded while sp still points to the outgoing
 * stack. One instruction then changes both the stack and the caller, so the CFI
 * is correct at every instruction.
 *
 * Callers may run in Thumb state: the linker and the last instruction change
 * the state.
 */
/* The unwind tables are not CFI. A function is marked there as one that
 * unwinding stops at, and the CFI is for debuggers. */
#define FILE_BEGIN  .cfi_sections .debug_frame; .syntax unified
#define STATE       .arm
#define TABLE_BEGIN .fnstart
#define TABLE_END   .cantunwind; .fnend
#include "arch/asm.h"
#include "arch/arm/frame.h"

#ifdef SENNIT_NO_FP_CONTROL
#define FP 0
#else
#define FP 1
#endif

#define TO_R11 4, 5, 6, 7, 8, 9, 10, 11
#define TO_D15 8, 9, 10, 11, 12, 13, 14, 15

	/* Suspend the running stack into *r0, and leave FPSCR in ip. Here and
	 * below, fp is 1 to save and restore FPSCR, 0 to ignore it. */
	.macro	SAVE fp
	.if	\fp
	vmrs	ip, fpscr
	.endif
	sub	sp, sp, #4
	.cfi_adjust_cfa_offset 4
	push	{r4-r11, lr}
	.cfi_adjust_cfa_offset 36
	.irp	n, TO_R11
	.cfi_rel_offset r\n, (\n - 4) * 4
	.endr
	.cfi_rel_offset lr, 32
	vpush	{d8-d15}
	.cfi_adjust_cfa_offset 64
	.irp	n, TO_D15
	.cfi_rel_offset d\n, (\n - 8) * 8
	.endr
	sub	sp, sp, #8
	.cfi_adjust_cfa_offset 8
	.if	\fp
	str	ip, [sp, #FRAME_FPSCR]
	.endif
	str	sp, [r0]
	.endm

	/* ip holds the current FPSCR, the register `wanted` the one to use. If
	 * their control differs, branch to the FP_LOAD of the same name.
	 * Changes r0; r4 holds the mask. */
	.macro	FP_COMPARE name, wanted, fp
	.if	\fp
	eor	r0, ip, \wanted
	tst	r0, r4
	bne	.Lload_\name
.Lloaded_\name:
	.endif
	.endm

	/* Placed behind the function, so that the common path does not branch.
	 * The CFI state must be the one at FP_COMPARE. A flag that is set does
	 * not trap on this processor. */
	.macro	FP_LOAD name, wanted, fp
	.if	\fp
.Lload_\name:
	vmsr	fpscr, \wanted
	b	.Lloaded_\name
	.endif
	.endm

	.macro	MASK fp
	.if	\fp
	movw	r4, #(FPSCR_CONTROL & 0xffff)
	movt	r4, #(FPSCR_CONTROL >> 16)
	.endif
	.endm

	/* Resume the stack r1. ip holds the current FPSCR. */
	.macro	RESUME name, fp
	.if	\fp
	ldr	r3, [r1, #FRAME_FPSCR]
	.endif
	MASK	\fp
	FP_COMPARE \name, r3, \fp
	add	r1, r1, #FRAME_D8
	vldmia	r1!, {d8-d15}
	ldmia	r1!, {r4-r11, lr}
	.cfi_remember_state
	add	sp, r1, #4		/* <-- the stacks change here */
	.cfi_def_cfa_offset 0
	.irp	n, TO_R11
	.cfi_restore r\n
	.endr
	.irp	n, TO_D15
	.cfi_restore d\n
	.endr
	.cfi_restore lr
	bx	lr
	.cfi_restore_state
	FP_LOAD	\name, r3, \fp
	.endm

/* void arch_switch(arch_stack *save, arch_stack resume) */
SWITCHES FP

/* void arch_start(arch_stack *save, void *top, arch_entry *entry, void *arg,
 *		   uint64_t control)
 *
 * The code on the fresh stack has no caller: lr is undefined and r11, the frame
 * pointer, is 0, which ends the backtraces of debuggers and profilers. FPSCR is
 * `control` when entry begins and when it returns. It lies on the stack, behind
 * the frame. entry preserves r5. */
	.macro	START name, fp
	SAVE	\fp
	.if	\fp
	ldr	r5, [sp, #FRAME_SIZE]
	.endif
	MASK	\fp
	FP_COMPARE \name, r5, \fp
	.cfi_remember_state
	mov	sp, r1			/* <-- the stacks change here */
	.cfi_def_cfa_offset 0
	.cfi_undefined lr
	mov	r11, #0
	mov	r0, r3
	blx	r2
	mov	r1, r0
	.if	\fp
	mov	ip, r5
	.endif
	RESUME	\name\()_end, \fp
	.cfi_restore_state
	FP_LOAD	\name, r5, \fp
	.endm

STARTS FP
