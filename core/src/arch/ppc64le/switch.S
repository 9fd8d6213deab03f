/* SPDX-License-Identifier: Apache-2.0 */
/* switch.S - context switch for 64-bit POWER, little-endian (ELFv2 ABI, section
 * 2.2: registers and the stack frame).
 *
 * Saved: r14-r31, f14-f31, v20-v31, fields 2 to 4 of the condition register,
 * the link register, and r2, which points to the data of the caller's part of
 * the program. The functions whose names do not end in _shared also save FPSCR.
 *
 * The vector registers are saved whatever VRSAVE says. Only 32-bit programs
 * keep it, and libc's swapcontext relies on it.
 *
 * Not saved: the other registers (caller-saved), the signal mask, r13 (it
 * belongs to the thread). The status flags in FPSCR go with the stack if the
 * control of the two stacks differs, else they stay with the thread.
 *
 * The incoming registers are loaded while r1 still points to the outgoing
 * stack. One instruction then changes both the stack and the caller, so the CFI
 * is correct at every instruction.
 *
 * The functions use no data, so they need no r2 and have one entry point.
 */
#define FILE_BEGIN .abiversion 2
#include "arch/asm.h"
#include "arch/ppc64le/frame.h"

#ifdef SENNIT_NO_FP_CONTROL
#define FP 0
#else
#define FP 1
#endif

/* Numbers of DWARF. */
#define DW_F0 32
#define DW_LR 65
#define DW_CR 70 /* its field 2 stands for all */
#define DW_V0 77

#define TO_R31 14, 15, 16, 17, 18, 19, 20, 21, 22, \
	       23, 24, 25, 26, 27, 28, 29, 30, 31
#define TO_V31 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31

	/* Suspend the running stack into *r3, and leave FPSCR in r9. Here and
	 * below, fp is 1 to save and restore FPSCR, 0 to ignore it. */
	.macro	SAVE fp
	mflr	%r0
	mfcr	%r12
	std	%r0, HEADER_LR(%r1)
	.cfi_offset DW_LR, HEADER_LR
	stw	%r12, HEADER_CR(%r1)
	.cfi_offset DW_CR, HEADER_CR
	stdu	%r1, -FRAME_SIZE(%r1)
	.cfi_adjust_cfa_offset FRAME_SIZE
	.if	\fp
	mffs	%f0
	.endif
	.irp	n, TO_R31
	std	\n, FRAME_R14 + (\n - 14) * 8(%r1)
	.cfi_rel_offset \n, FRAME_R14 + (\n - 14) * 8
	.endr
	.irp	n, TO_R31
	stfd	\n, FRAME_F14 + (\n - 14) * 8(%r1)
	.cfi_rel_offset DW_F0 + \n, FRAME_F14 + (\n - 14) * 8
	.endr
	.irp	n, TO_V31
	li	%r0, FRAME_V20 + (\n - 20) * 16
	stvx	\n, %r1, %r0
	.cfi_rel_offset DW_V0 + \n, FRAME_V20 + (\n - 20) * 16
	.endr
	.if	\fp
	stfd	%f0, FRAME_FPSCR(%r1)
	mfvsrd	%r9, %vs0
	.endif
	std	%r2, FRAME_R2(%r1)
	std	%r1, 0(%r3)
	.endm

	/* r9 holds the current FPSCR, the register `wanted` the one to use. If
	 * their control differs, branch to the FP_LOAD of the same name.
	 * Writing FPSCR makes later instructions wait. */
	.macro	FP_COMPARE name, wanted, fp
	.if	\fp
	xor	%r11, %r9, \wanted
	andi.	%r12, %r11, FPSCR_LOW
	bne-	.Lload_\name
	rldicl.	%r12, %r11, 64 - FPSCR_DECIMAL, 61
	bne-	.Lload_\name
.Lloaded_\name:
	.endif
	.endm

	/* Placed behind the function, so that the common path does not branch.
	 * The CFI state must be the one at FP_COMPARE. Flags that trap under
	 * this control have trapped already on the stack that it belongs to. */
	.macro	FP_LOAD name, wanted, fp
	.if	\fp
.Lload_\name:
	mtvsrd	%vs0, \wanted
	mtfsf	0xff, %f0, 1, 0
	b	.Lloaded_\name
	.endif
	.endm

	/* Resume the stack r4. r9 holds the current FPSCR. */
	.macro	RESUME name, fp
	.if	\fp
	ld	%r10, FRAME_FPSCR(%r4)
	.endif
	FP_COMPARE \name, %r10, \fp
	ld	%r0, FRAME_SIZE + HEADER_LR(%r4)
	lwz	%r12, FRAME_SIZE + HEADER_CR(%r4)
	mtlr	%r0
	.irp	n, TO_R31
	ld	\n, FRAME_R14 + (\n - 14) * 8(%r4)
	.endr
	.irp	n, TO_R31
	lfd	\n, FRAME_F14 + (\n - 14) * 8(%r4)
	.endr
	.irp	n, TO_V31
	li	%r0, FRAME_V20 + (\n - 20) * 16
	lvx	\n, %r4, %r0
	.endr
	ld	%r2, FRAME_R2(%r4)
	mtocrf	0x20, %r12
	mtocrf	0x10, %r12
	mtocrf	0x08, %r12
	.cfi_remember_state
	addi	%r1, %r4, FRAME_SIZE	/* <-- the stacks change here */
	.cfi_def_cfa_offset 0
	.irp	n, TO_R31
	.cfi_restore \n
	.cfi_restore DW_F0 + \n
	.endr
	.irp	n, TO_V31
	.cfi_restore DW_V0 + \n
	.endr
	.cfi_restore DW_CR
	.cfi_restore DW_LR
	blr
	.cfi_restore_state
	FP_LOAD	\name, %r10, \fp
	.endm

/* void arch_switch(arch_stack *save, arch_stack resume) */
SWITCHES FP

/* void arch_start(arch_stack *save, void *top, arch_entry *entry, void *arg,
 *		   uint64_t control)
 *
 * The code on the fresh stack has no caller: the link register is undefined and
 * the header of the first frame holds no other, which ends the backtraces of
 * debuggers and profilers. FPSCR is `control` when entry begins and when it
 * returns. entry preserves r14. */
	.macro	START name, fp
	SAVE	\fp
	FP_COMPARE \name, %r7, \fp
	li	%r0, 0
	std	%r0, -HEADER_SIZE(%r4)
	mr	%r12, %r5
	mtctr	%r5
	mr	%r3, %r6
	.cfi_remember_state
	addi	%r1, %r4, -HEADER_SIZE	/* <-- the stacks change here */
	.cfi_def_cfa_offset HEADER_SIZE
	.cfi_undefined DW_LR
	mr	%r14, %r7
	bctrl
	mr	%r4, %r3
	mr	%r9, %r14
	RESUME	\name\()_end, \fp
	.cfi_restore_state
	FP_LOAD	\name, %r7, \fp
	.endm

STARTS FP
