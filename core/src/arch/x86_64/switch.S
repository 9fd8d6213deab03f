/* SPDX-License-Identifier: Apache-2.0 */
/* switch.S - context switch for x86-64 (System V psABI, section 3.2: registers
 * and the stack frame; 3.7: CFI).
 *
 * Saved: rbx, rbp and r12-r15. The functions whose names do not end in _shared
 * also save MXCSR and the x87 control word.
 *
 * Not saved: vector registers and the x87 status flags (caller-saved), the
 * signal mask, fs (it belongs to the thread).
 *
 * The incoming registers are loaded while rsp still points to the outgoing
 * stack. One instruction then changes both the stack and the caller, so the CFI
 * is correct at every instruction.
 */
#define PROPERTY_TYPE 0xc0000002 /* GNU_PROPERTY_X86_FEATURE_1_AND */
#define PROPERTY_BITS 1          /* IBT */
#define LANDING_PAD   endbr64
#include "arch/asm.h"
#include "arch/x86_64/frame.h"

#ifdef SENNIT_NO_FP_CONTROL
#define FP 0
#else
#define FP 1
#endif

	.macro	KEEP register, offset
	mov	%\register, \offset(%rsp)
	.cfi_rel_offset %\register, \offset
	.endm

	/* Suspend the running stack into *rdi. Here and below, fp is 1 to save
	 * and restore floating-point control, 0 to ignore it. */
	.macro	SAVE fp
	sub	$FRAME_RETURN, %rsp
	.cfi_adjust_cfa_offset FRAME_RETURN
	.if	\fp
	stmxcsr	FRAME_MXCSR(%rsp)
	fnstcw	FRAME_X87(%rsp)
	.endif
	KEEP	rbx, FRAME_RBX
	KEEP	r12, FRAME_R12
	KEEP	r13, FRAME_R13
	KEEP	r14, FRAME_R14
	KEEP	r15, FRAME_R15
	KEEP	rbp, FRAME_RBP
	mov	%rsp, (%rdi)
	.endm

	.macro	CALLERS register
	.cfi_restore %\register
	.endm

	/* Load the floating-point control stored at rsi. The current one is
	 * stored at rsp. MXCSR is loaded without a comparison: waiting for the
	 * result of stmxcsr would cost more than ldmxcsr. The x87 word is
	 * loaded only if the two differ, by the FP_LOAD of the same name,
	 * because pending exceptions need a check first. */
	.macro	FP_CHANGE name, fp
	.if	\fp
	ldmxcsr	FRAME_MXCSR(%rsi)
	movzwl	FRAME_X87(%rsp), %r9d
	cmp	FRAME_X87(%rsi), %r9w
	jne	.Lload_\name
.Lloaded_\name:
	.endif
	.endm

	/* Placed behind the function, so that the common path does not branch.
	 * The CFI state must be the one at FP_CHANGE. Changes only rax and
	 * r9. */
	.macro	FP_LOAD name, fp
	.if	\fp
.Lload_\name:
	/* The x87 traps on any exception flag that is set and unmasked, even
	 * one that another stack raised. Clear such flags first. */
	fnstsw	%ax
	movzwl	FRAME_X87(%rsi), %r9d
	not	%r9d
	and	%r9d, %eax
	test	$FP_FLAGS, %al
	jz	.Lharmless_\name
	fnclex
.Lharmless_\name:
	fldcw	FRAME_X87(%rsi)
	jmp	.Lloaded_\name
	.endif
	.endm

	/* Resume the stack rsi. The current floating-point control is stored at
	 * rsp. */
	.macro	RESUME name, fp
	FP_CHANGE \name, \fp
	mov	FRAME_RBX(%rsi), %rbx
	mov	FRAME_R12(%rsi), %r12
	mov	FRAME_R13(%rsi), %r13
	mov	FRAME_R14(%rsi), %r14
	mov	FRAME_R15(%rsi), %r15
	mov	FRAME_RBP(%rsi), %rbp
	.cfi_remember_state
	lea	FRAME_RETURN(%rsi), %rsp	/* <-- the stacks change here */
	.cfi_def_cfa_offset 8
	CALLERS	rbx
	CALLERS	r12
	CALLERS	r13
	CALLERS	r14
	CALLERS	r15
	CALLERS	rbp
	CALLERS	rip
	ret
	.cfi_restore_state
	FP_LOAD	\name, \fp
	.endm

/* void arch_switch(arch_stack *save, arch_stack resume) */
SWITCHES FP

/* void arch_start(arch_stack *save, void *top, arch_entry *entry, void *arg,
 *		   uint64_t control)
 *
 * The code on the fresh stack has no caller: rip is undefined and rbp is 0,
 * which ends the backtraces of debuggers and profilers. The control word is
 * stored at the top end of the stack, as in a frame. It is in effect when entry
 * begins and when it returns. */
	.macro	START name, fp
	SAVE	\fp
	sub	$16, %rsi
	.if	\fp
	mov	%r8, FRAME_MXCSR(%rsi)
	.endif
	FP_CHANGE \name, \fp
	.cfi_remember_state
	mov	%rsi, %rsp		/* <-- the stacks change here */
	.cfi_def_cfa_offset 16
	.cfi_undefined %rip
	xor	%ebp, %ebp
	mov	%rcx, %rdi
	call	*%rdx
	mov	%rax, %rsi
	RESUME	\name\()_end, \fp
	.cfi_restore_state
	FP_LOAD	\name, \fp
	.endm

STARTS FP
