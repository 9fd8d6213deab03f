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

	.macro	FP_READ
#ifndef SENNIT_NO_FP_CONTROL
	stmxcsr	FRAME_MXCSR(%rsp)
	fnstcw	FRAME_X87(%rsp)
#endif
	.endm

	.macro	KEEP register, offset
	mov	%\register, \offset(%rsp)
	.cfi_rel_offset %\register, \offset
	.endm

	/* Suspend the running stack into *rdi. */
	.macro	SAVE
	sub	$FRAME_RETURN, %rsp
	.cfi_adjust_cfa_offset FRAME_RETURN
	FP_READ
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

	/* Resume the stack rsi. FP_READ has left the control now in force at
	 * rsp; the two words are compared one by one, as they were stored: one
	 * wide load could not be forwarded from two stores. */
	.macro	RESUME
#ifndef SENNIT_NO_FP_CONTROL
	mov	FRAME_MXCSR(%rsp), %ecx
	xor	FRAME_MXCSR(%rsi), %ecx
	movzwl	FRAME_X87(%rsp), %edx
	xor	FRAME_X87(%rsi), %dx
	and	$~FP_FLAGS, %ecx
	or	%edx, %ecx
	jnz	.Ldiffers\@
.Lsame\@:
#endif
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
#ifndef SENNIT_NO_FP_CONTROL
.Ldiffers\@:
	mov	FRAME_MXCSR(%rsp), %ecx		/* its control, our flags */
	and	$FP_FLAGS, %ecx
	andl	$~FP_FLAGS, FRAME_MXCSR(%rsi)
	or	%ecx, FRAME_MXCSR(%rsi)
	ldmxcsr	FRAME_MXCSR(%rsi)

	/* x87 traps on any flag that is set and not masked, even if another
	 * stack set it: those must go. */
	fnstsw	%ax
	movzwl	FRAME_X87(%rsi), %ecx
	not	%ecx
	and	%eax, %ecx
	test	$FP_FLAGS, %ecx
	jz	.Lharmless\@
	fnclex
.Lharmless\@:
	fldcw	FRAME_X87(%rsi)
	jmp	.Lsame\@
#endif
	.endm

/* void arch_switch(arch_stack *save, arch_stack resume) */
FUNC arch_switch
	SAVE
	RESUME
END arch_switch

/* void arch_start(arch_stack *save, void *top, arch_entry *entry, void *arg)
 * Nobody called what runs on the fresh stack: rip is undefined and rbp zero,
 * where debuggers and profilers end a backtrace. */
FUNC arch_start
	SAVE
	lea	-16(%rsi), %rsp		/* <-- the stacks change here */
	.cfi_def_cfa_offset 16
	.cfi_undefined %rip
	xor	%ebp, %ebp
	mov	%rcx, %rdi
	call	*%rdx
	mov	%rax, %rsi
	FP_READ				/* entry may have changed it */
	RESUME
END arch_start
