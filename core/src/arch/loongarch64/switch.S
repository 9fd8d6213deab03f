/* SPDX-License-Identifier: Apache-2.0 */
/* switch.S - context switch for 64-bit LoongArch with double-precision
 * floating-point registers (psABI, lp64d: registers and the stack frame).
 *
 * Saved: ra (return address), fp (22), s0-s8 (23-31) and fs0-fs7 (24-31). The
 * functions whose names do not end in _shared also save the control bits of
 * FCSR.
 *
 * Not saved: the other registers and the status flags in FCSR (caller-saved),
 * the signal mask, tp (it belongs to the thread).
 *
 * The incoming registers are loaded while sp still points to the outgoing
 * stack. One instruction then changes both the stack and the caller, so the CFI
 * is correct at every instruction.
 */
#include "arch/asm.h"
#include "arch/loongarch64/frame.h"

#ifdef SENNIT_NO_FP_CONTROL
#define FP 0
#else
#define FP 1
#endif

/* Numbers of DWARF. */
#define DW_F0 32
#define DW_RA 1

#define TO_R31 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
#define TO_F31 24, 25, 26, 27, 28, 29, 30, 31

	/* Suspend the running stack into *a0, and leave the control in t0. Here
	 * and below, fp is 1 to save and restore it, 0 to ignore it. */
	.macro	SAVE fp
	addi.d	$sp, $sp, -FRAME_SIZE
	.cfi_adjust_cfa_offset FRAME_SIZE
	.if	\fp
	movfcsr2gr $t0, $fcsr0
	.endif
	st.d	$ra, $sp, FRAME_RA
	.cfi_rel_offset DW_RA, FRAME_RA
	.irp	n, TO_R31
	st.d	$r\n, $sp, FRAME_FP + (\n - 22) * 8
	.cfi_rel_offset \n, FRAME_FP + (\n - 22) * 8
	.endr
	.irp	n, TO_F31
	fst.d	$f\n, $sp, FRAME_FS0 + (\n - 24) * 8
	.cfi_rel_offset DW_F0 + \n, FRAME_FS0 + (\n - 24) * 8
	.endr
	.if	\fp
	andi	$t0, $t0, FCSR_CONTROL
	st.d	$t0, $sp, FRAME_FCSR
	.endif
	st.d	$sp, $a0, 0
	.endm

	/* t0 holds the current control, the register `wanted` the one to use.
	 * If they differ, branch to the FP_LOAD of the same name. */
	.macro	FP_COMPARE name, wanted, fp
	.if	\fp
	bne	$t0, \wanted, .Lload_\name
.Lloaded_\name:
	.endif
	.endm

	/* Placed behind the function, so that the common path does not branch.
	 * The CFI state must be the one at FP_COMPARE. It clears the status
	 * flags. */
	.macro	FP_LOAD name, wanted, fp
	.if	\fp
.Lload_\name:
	movgr2fcsr $fcsr0, \wanted
	b	.Lloaded_\name
	.endif
	.endm

	/* Resume the stack a1. t0 holds the current control. */
	.macro	RESUME name, fp
	.if	\fp
	ld.d	$t1, $a1, FRAME_FCSR
	.endif
	FP_COMPARE \name, $t1, \fp
	ld.d	$ra, $a1, FRAME_RA
	.irp	n, TO_R31
	ld.d	$r\n, $a1, FRAME_FP + (\n - 22) * 8
	.endr
	.irp	n, TO_F31
	fld.d	$f\n, $a1, FRAME_FS0 + (\n - 24) * 8
	.endr
	.cfi_remember_state
	addi.d	$sp, $a1, FRAME_SIZE	/* <-- the stacks change here */
	.cfi_def_cfa_offset 0
	.cfi_restore DW_RA
	.irp	n, TO_R31
	.cfi_restore \n
	.endr
	.irp	n, TO_F31
	.cfi_restore DW_F0 + \n
	.endr
	jr	$ra
	.cfi_restore_state
	FP_LOAD	\name, $t1, \fp
	.endm

/* void arch_switch(arch_stack *save, arch_stack resume) */
SWITCHES FP

/* void arch_start(arch_stack *save, void *top, arch_entry *entry, void *arg,
 *		   uint64_t control)
 *
 * The code on the fresh stack has no caller: ra is undefined and fp is 0, which
 * ends the backtraces of debuggers and profilers. FCSR is `control` when entry
 * begins and when it returns. entry preserves s0. */
	.macro	START name, fp
	SAVE	\fp
	FP_COMPARE \name, $a4, \fp
	.cfi_remember_state
	move	$sp, $a1		/* <-- the stacks change here */
	.cfi_def_cfa_offset 0
	.cfi_undefined DW_RA
	move	$fp, $zero
	move	$s0, $a4
	move	$a0, $a3
	jirl	$ra, $a2, 0
	move	$a1, $a0
	move	$t0, $s0
	RESUME	\name\()_end, \fp
	.cfi_restore_state
	FP_LOAD	\name, $a4, \fp
	.endm

STARTS FP
