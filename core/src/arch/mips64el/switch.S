/* SPDX-License-Identifier: Apache-2.0 */
/* switch.S - context switch for 64-bit MIPS, little-endian, with floating-point
 * registers (n64 ABI: registers and the stack frame).
 *
 * Saved: s0-s7 ($16-$23), gp ($28), fp ($30), ra ($31, return address) and
 * $f24-$f31. The functions whose names do not end in _shared also save the
 * control bits of FCSR.
 *
 * Not saved: the other registers and the status flags in FCSR (caller-saved),
 * the signal mask, the thread pointer (it is no general register).
 *
 * The incoming registers are loaded while sp ($29) still points to the outgoing
 * stack. One instruction then changes both the stack and the caller, so the CFI
 * is correct at every instruction. For that reason the delay slots are filled
 * by hand.
 *
 * The functions use no data, so they set up no gp.
 */
#include "arch/asm.h"
#include "arch/mips64el/frame.h"

#ifdef SENNIT_NO_FP_CONTROL
#define FP 0
#else
#define FP 1
#endif

/* Numbers of DWARF. */
#define DW_F0 32
#define DW_RA 31

#define TO_S7  16, 17, 18, 19, 20, 21, 22, 23
#define TO_F31 24, 25, 26, 27, 28, 29, 30, 31

	.set	push
	.set	noreorder

	.macro	KEEP register, offset
	sd	$\register, \offset($29)
	.cfi_rel_offset \register, \offset
	.endm

	/* Suspend the running stack into *$4, and leave the control in $12.
	 * Here and below, fp is 1 to save and restore it, 0 to ignore it. */
	.macro	SAVE fp
	daddiu	$29, $29, -FRAME_SIZE
	.cfi_adjust_cfa_offset FRAME_SIZE
	.if	\fp
	cfc1	$12, $31
	.endif
	.irp	n, TO_S7
	KEEP	\n, FRAME_S0 + (\n - 16) * 8
	.endr
	KEEP	28, FRAME_GP
	KEEP	30, FRAME_FP
	KEEP	31, FRAME_RA
	.irp	n, TO_F31
	sdc1	$f\n, FRAME_F24 + (\n - 24) * 8($29)
	.cfi_rel_offset DW_F0 + \n, FRAME_F24 + (\n - 24) * 8
	.endr
	.if	\fp
	lui	$13, FCSR_CONTROL >> 16
	ori	$13, $13, FCSR_CONTROL & 0xffff
	and	$12, $12, $13
	sd	$12, FRAME_FCSR($29)
	.endif
	sd	$29, 0($4)
	.endm

	/* $12 holds the current control, the register `wanted` the one to use.
	 * If they differ, branch to the FP_LOAD of the same name. */
	.macro	FP_COMPARE name, wanted, fp
	.if	\fp
	bne	$12, \wanted, .Lload_\name
	nop
.Lloaded_\name:
	.endif
	.endm

	/* Placed behind the function, so that the common path does not branch.
	 * The CFI state must be the one at FP_COMPARE. It clears the status
	 * flags. */
	.macro	FP_LOAD name, wanted, fp
	.if	\fp
.Lload_\name:
	b	.Lloaded_\name
	ctc1	\wanted, $31
	.endif
	.endm

	/* Resume the stack $5. $12 holds the current control. */
	.macro	RESUME name, fp
	.if	\fp
	ld	$13, FRAME_FCSR($5)
	.endif
	FP_COMPARE \name, $13, \fp
	.irp	n, TO_S7
	ld	$\n, FRAME_S0 + (\n - 16) * 8($5)
	.endr
	ld	$28, FRAME_GP($5)
	ld	$30, FRAME_FP($5)
	ld	$31, FRAME_RA($5)
	.irp	n, TO_F31
	ldc1	$f\n, FRAME_F24 + (\n - 24) * 8($5)
	.endr
	.cfi_remember_state
	daddiu	$29, $5, FRAME_SIZE	/* <-- the stacks change here */
	.cfi_def_cfa_offset 0
	.irp	n, TO_S7
	.cfi_restore \n
	.endr
	.irp	n, TO_F31
	.cfi_restore DW_F0 + \n
	.endr
	.cfi_restore 28
	.cfi_restore 30
	.cfi_restore DW_RA
	jr	$31
	nop
	.cfi_restore_state
	FP_LOAD	\name, $13, \fp
	.endm

/* void arch_switch(arch_stack *save, arch_stack resume) */
SWITCHES FP

/* void arch_start(arch_stack *save, void *top, arch_entry *entry, void *arg,
 *		   uint64_t control)
 *
 * The code on the fresh stack has no caller: ra is undefined and fp is 0, which
 * ends the backtraces of debuggers and profilers. FCSR is `control` when entry
 * begins and when it returns. entry preserves s0. A function that is called by
 * a pointer finds its own address in $25. */
	.macro	START name, fp
	SAVE	\fp
	FP_COMPARE \name, $8, \fp
	move	$25, $6
	move	$16, $8
	move	$4, $7
	.cfi_remember_state
	move	$29, $5			/* <-- the stacks change here */
	.cfi_def_cfa_offset 0
	.cfi_undefined DW_RA
	jalr	$25
	move	$30, $0
	move	$5, $2
	move	$12, $16
	RESUME	\name\()_end, \fp
	.cfi_restore_state
	FP_LOAD	\name, $8, \fp
	.endm

STARTS FP

	.set	pop
