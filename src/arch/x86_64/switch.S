/* SPDX-License-Identifier: Apache-2.0 */
/* switch.S - leave one stack for another, x86-64 (System V psABI, section 3.2:
 * registers and the stack frame; 3.7: CFI).
 *
 * Saved: rbx rbp r12-r15, the control bits of MXCSR, the x87 control word.
 * Not saved: vector registers and status flags (the caller's to save), the
 * signal mask, fs (the thread's).
 *
 * The incoming registers are loaded while the outgoing stack is still the
 * running one, so that one instruction changes stack and caller together and
 * the CFI is right at every instruction.
 */
#include "arch/asm.h"
#include "arch/x86_64/frame.h"

	.macro	KEEP register, offset
	mov	%\register, \offset(%rsp)
	.cfi_rel_offset %\register, \offset
	.endm

	/* Suspend the running stack into *rdi. */
	.macro	SAVE
	sub	$FRAME_RETURN, %rsp
	.cfi_adjust_cfa_offset FRAME_RETURN
#ifndef SENNIT_NO_FP_CONTROL
	stmxcsr	FRAME_MXCSR(%rsp)
	fnstcw	FRAME_X87(%rsp)
#endif
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

	/* The control in force is at rsp, the one wanted at rsi: when they
	 * differ, go to FP_LOAD of the same name. The two words are compared
	 * one by one, as they were stored: one wide load could not be forwarded
	 * from two stores. */
	.macro	FP_COMPARE name
#ifndef SENNIT_NO_FP_CONTROL
	mov	FRAME_MXCSR(%rsp), %eax
	movzwl	FRAME_X87(%rsp), %r9d
	xor	FRAME_MXCSR(%rsi), %eax
	and	$~FP_FLAGS, %eax
	jnz	.Lload_\name
	cmp	FRAME_X87(%rsi), %r9w
	jne	.Lload_\name
.Lloaded_\name:
#endif
	.endm

	/* Out of the way of the common case; the CFI must be FP_COMPARE's.
	 * Touches rax and r9 alone. */
	.macro	FP_LOAD name
#ifndef SENNIT_NO_FP_CONTROL
.Lload_\name:
	stmxcsr	FRAME_MXCSR(%rsp)		/* its control, our flags */
	mov	FRAME_MXCSR(%rsp), %eax
	and	$FP_FLAGS, %eax
	andl	$~FP_FLAGS, FRAME_MXCSR(%rsi)
	or	%eax, FRAME_MXCSR(%rsi)
	ldmxcsr	FRAME_MXCSR(%rsi)

	/* x87 traps on any flag that is set and not masked, even if another
	 * stack set it: those must go. */
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
#endif
	.endm

	/* Resume the stack rsi. The control in force is at rsp. */
	.macro	RESUME name
	FP_COMPARE \name
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
	FP_LOAD	\name
	.endm

/* void arch_switch(arch_stack *save, arch_stack resume) */
FUNC arch_switch
	SAVE
	RESUME	switch
END arch_switch

/* void arch_start(arch_stack *save, void *top, arch_entry *entry, void *arg,
 *		   uint64_t control)
 * Nobody called what runs on the fresh stack: rip is undefined and rbp zero,
 * where debuggers and profilers end a backtrace. The control lies at its
 * bottom, as in a frame, and is in force when entry begins and when it ends. */
FUNC arch_start
	SAVE
	sub	$16, %rsi
#ifndef SENNIT_NO_FP_CONTROL
	mov	%r8, FRAME_MXCSR(%rsi)
#endif
	FP_COMPARE start
	.cfi_remember_state
	mov	%rsi, %rsp		/* <-- the stacks change here */
	.cfi_def_cfa_offset 16
	.cfi_undefined %rip
	xor	%ebp, %ebp
	mov	%rcx, %rdi
	call	*%rdx
	mov	%rax, %rsi
	RESUME	end
	.cfi_restore_state
	FP_LOAD	start
END arch_start
