/* SPDX-License-Identifier: Apache-2.0 */
/* switch.S - leave one stack for another, x86-64 (System V psABI, section 3.2:
 * registers and the stack frame; 3.7: CFI).
 *
 * Saved: rbx rbp r12-r15; by the functions whose name does not end in _shared
 * also MXCSR and the x87 control word.
 * Not saved: vector registers and the x87 status flags (the caller's to save),
 * the signal mask, fs (the thread's).
 *
 * The incoming registers are loaded while the outgoing stack is still the
 * running one, so that one instruction changes stack and caller together and
 * the CFI is right at every instruction.
 */
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

	/* Suspend the running stack into *rdi. fp, here and below: 1 to take
	 * care of floating-point control, 0 to leave it alone. */
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

	/* Put the control at rsi in force; the one in force is at rsp. MXCSR is
	 * loaded without a look: to wait for what stmxcsr stores would cost
	 * more than ldmxcsr. The x87 word, where they differ, by FP_LOAD of the
	 * same name: loading it may take care. */
	.macro	FP_CHANGE name, fp
	.if	\fp
	ldmxcsr	FRAME_MXCSR(%rsi)
	movzwl	FRAME_X87(%rsp), %r9d
	cmp	FRAME_X87(%rsi), %r9w
	jne	.Lload_\name
.Lloaded_\name:
	.endif
	.endm

	/* Out of the way of the common case; the CFI must be FP_CHANGE's.
	 * Touches rax and r9 alone. */
	.macro	FP_LOAD name, fp
	.if	\fp
.Lload_\name:
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
	.endif
	.endm

	/* Resume the stack rsi. The control in force is at rsp. */
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
FUNC arch_switch
	SAVE	FP
	RESUME	switch, FP
END arch_switch

FUNC arch_switch_shared
	SAVE	0
	RESUME	switch_shared, 0
END arch_switch_shared

/* void arch_start(arch_stack *save, void *top, arch_entry *entry, void *arg,
 *		   uint64_t control)
 * Nobody called what runs on the fresh stack: rip is undefined and rbp zero,
 * where debuggers and profilers end a backtrace. The control lies at its
 * bottom, as in a frame, and is in force when entry begins and when it ends. */
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

FUNC arch_start
	START	start, FP
END arch_start

FUNC arch_start_shared
	START	start_shared, 0
END arch_start_shared
