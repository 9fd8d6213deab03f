/* SPDX-License-Identifier: Apache-2.0 */
/* switch.S - context switch for 64-bit RISC-V with double-precision
 * floating-point registers (psABI, lp64d: registers and calling convention).
 *
 * Saved: ra (return address), s0-s11 and fs0-fs11. The functions whose names do
 * not end in _shared also save frm, the rounding direction.
 *
 * Not saved: the other registers, the vector registers with their control, and
 * the status flags fflags (caller-saved), the signal mask, gp and tp (they
 * belong to the program and to the thread).
 *
 * The incoming registers are loaded while sp still points to the outgoing
 * stack. One instruction then changes both the stack and the caller, so the CFI
 * is correct at every instruction.
 */
#include "arch/asm.h"
#include "arch/riscv64/frame.h"

#ifdef SENNIT_NO_FP_CONTROL
#define FP 0
#else
#define FP 1
#endif

#define TO_S11 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11

	/* Suspend the running stack into *a0, and leave frm in t0. Here and
	 * below, fp is 1 to save and restore frm, 0 to ignore it. */
	.macro	SAVE fp
	addi	sp, sp, -FRAME_SIZE
	.cfi_adjust_cfa_offset FRAME_SIZE
	.if	\fp
	frrm	t0
	.endif
	sd	ra, FRAME_RA(sp)
	.cfi_rel_offset ra, FRAME_RA
	.irp	n, TO_S11
	sd	s\n, FRAME_S0 + \n * 8(sp)
	.cfi_rel_offset s\n, FRAME_S0 + \n * 8
	.endr
	.irp	n, TO_S11
	fsd	fs\n, FRAME_FS0 + \n * 8(sp)
	.cfi_rel_offset fs\n, FRAME_FS0 + \n * 8
	.endr
	.if	\fp
	sd	t0, FRAME_FRM(sp)
	.endif
	sd	sp, 0(a0)
	.endm

	/* t0 holds the current frm, the register `wanted` the one to use. If
	 * they differ, branch to the FP_LOAD of the same name. */
	.macro	FP_COMPARE name, wanted, fp
	.if	\fp
	bne	t0, \wanted, .Lload_\name
.Lloaded_\name:
	.endif
	.endm

	/* Placed behind the function, so that the common path does not branch.
	 * The CFI state must be the one at FP_COMPARE. */
	.macro	FP_LOAD name, wanted, fp
	.if	\fp
.Lload_\name:
	fsrm	\wanted
	j	.Lloaded_\name
	.endif
	.endm

	/* Resume the stack a1. t0 holds the current frm. */
	.macro	RESUME name, fp
	.if	\fp
	ld	t1, FRAME_FRM(a1)
	.endif
	FP_COMPARE \name, t1, \fp
	ld	ra, FRAME_RA(a1)
	.irp	n, TO_S11
	ld	s\n, FRAME_S0 + \n * 8(a1)
	.endr
	.irp	n, TO_S11
	fld	fs\n, FRAME_FS0 + \n * 8(a1)
	.endr
	.cfi_remember_state
	addi	sp, a1, FRAME_SIZE		/* <-- the stacks change here */
	.cfi_def_cfa_offset 0
	.cfi_restore ra
	.irp	n, TO_S11
	.cfi_restore s\n
	.cfi_restore fs\n
	.endr
	ret
	.cfi_restore_state
	FP_LOAD	\name, t1, \fp
	.endm

/* void arch_switch(arch_stack *save, arch_stack resume) */
SWITCHES FP

/* void arch_start(arch_stack *save, void *top, arch_entry *entry, void *arg,
 *		   uint64_t control)
 *
 * The code on the fresh stack has no caller: ra is undefined and s0, the frame
 * pointer, is 0, which ends the backtraces of debuggers and profilers. frm is
 * `control` when entry begins and when it returns. entry preserves s1. */
	.macro	START name, fp
	SAVE	\fp
	FP_COMPARE \name, a4, \fp
	.cfi_remember_state
	mv	sp, a1			/* <-- the stacks change here */
	.cfi_def_cfa_offset 0
	.cfi_undefined ra
	li	s0, 0
	mv	s1, a4
	mv	a0, a3
	jalr	a2
	mv	a1, a0
	mv	t0, s1
	RESUME	\name\()_end, \fp
	.cfi_restore_state
	FP_LOAD	\name, a4, \fp
	.endm

STARTS FP
