/* SPDX-License-Identifier: Apache-2.0 */
/* switch.S - context switch for i386 (System V psABI for Intel386, section 2.2:
 * registers and the stack frame; arguments are on the stack).
 *
 * Saved: ebx, esi, edi and ebp. The functions whose names do not end in _shared
 * also save MXCSR, which needs a processor with SSE, and the x87 control word.
 *
 * Not saved: vector registers and the x87 status flags (caller-saved), the
 * signal mask, gs (it belongs to the thread).
 *
 * The incoming registers are loaded while esp still points to the outgoing
 * stack. One instruction then changes both the stack and the caller, so the CFI
 * is correct at every instruction.
 */
#include "arch/asm.h"
#include "arch/i386/frame.h"

#ifdef SENNIT_NO_FP_CONTROL
#define FP 0
#else
#define FP 1
#endif

/* Where the arguments lie, behind the frame that SAVE makes. */
#define SAVE_AT     FRAME_RETURN + 4(%esp)
#define OTHER_AT    FRAME_RETURN + 8(%esp) /* resume or top */
#define ENTRY_AT    FRAME_RETURN + 12(%esp)
#define ARGUMENT_AT FRAME_RETURN + 16(%esp)
#define MXCSR_AT    FRAME_RETURN + 20(%esp)
#define X87_AT      FRAME_RETURN + 24(%esp)

	.macro	KEEP register, offset
	mov	%\register, \offset(%esp)
	.cfi_rel_offset %\register, \offset
	.endm

	/* Suspend the running stack and load the other one into edx. Here and
	 * below, fp is 1 to save and restore floating-point control, 0 to
	 * ignore it. */
	.macro	SAVE fp
	sub	$FRAME_RETURN, %esp
	.cfi_adjust_cfa_offset FRAME_RETURN
	mov	SAVE_AT, %eax
	.if	\fp
	stmxcsr	FRAME_MXCSR(%esp)
	fnstcw	FRAME_X87(%esp)
	.endif
	KEEP	ebx, FRAME_EBX
	KEEP	esi, FRAME_ESI
	KEEP	edi, FRAME_EDI
	KEEP	ebp, FRAME_EBP
	mov	%esp, (%eax)
	mov	OTHER_AT, %edx
	.endm

	.macro	CALLERS register
	.cfi_restore %\register
	.endm

	/* Load the floating-point control stored at edx. The current x87 word
	 * is stored at esp. MXCSR is loaded without a comparison: waiting for
	 * the result of stmxcsr would cost more than ldmxcsr. The x87 word is
	 * loaded only if the two differ, by the FP_LOAD of the same name,
	 * because pending exceptions need a check first. */
	.macro	FP_CHANGE name, fp
	.if	\fp
	ldmxcsr	FRAME_MXCSR(%edx)
	movzwl	FRAME_X87(%esp), %eax
	cmp	FRAME_X87(%edx), %ax
	jne	.Lload_\name
.Lloaded_\name:
	.endif
	.endm

	/* Placed behind the function, so that the common path does not branch.
	 * The CFI state must be the one at FP_CHANGE. Changes only eax and
	 * ecx. */
	.macro	FP_LOAD name, fp
	.if	\fp
.Lload_\name:
	/* The x87 traps on any exception flag that is set and unmasked, even
	 * one that another stack raised. Clear such flags first. */
	fnstsw	%ax
	movzwl	FRAME_X87(%edx), %ecx
	not	%ecx
	and	%ecx, %eax
	test	$FP_FLAGS, %al
	jz	.Lharmless_\name
	fnclex
.Lharmless_\name:
	fldcw	FRAME_X87(%edx)
	jmp	.Lloaded_\name
	.endif
	.endm

	/* Resume the stack edx. The current floating-point control is stored at
	 * esp. */
	.macro	RESUME name, fp
	FP_CHANGE \name, \fp
	mov	FRAME_EBX(%edx), %ebx
	mov	FRAME_ESI(%edx), %esi
	mov	FRAME_EDI(%edx), %edi
	mov	FRAME_EBP(%edx), %ebp
	.cfi_remember_state
	lea	FRAME_RETURN(%edx), %esp	/* <-- the stacks change here */
	.cfi_def_cfa_offset 4
	CALLERS	ebx
	CALLERS	esi
	CALLERS	edi
	CALLERS	ebp
	CALLERS	eip
	ret
	.cfi_restore_state
	FP_LOAD	\name, \fp
	.endm

/* void arch_switch(arch_stack *save, arch_stack resume) */
SWITCHES FP

/* void arch_start(arch_stack *save, void *top, arch_entry *entry, void *arg,
 *		   uint64_t control)
 *
 * The code on the fresh stack has no caller: eip is undefined and ebp is 0,
 * which ends the backtraces of debuggers and profilers. The control is stored
 * at the top end of the stack, as in a frame. It is in effect when entry begins
 * and when it returns. Below it stands the argument, where esp is a multiple of
 * 16. entry preserves ebx and esi. */
	.macro	START name, fp
	SAVE	\fp
	mov	ENTRY_AT, %esi
	mov	ARGUMENT_AT, %ebx
	sub	$16, %edx
	.if	\fp
	mov	MXCSR_AT, %eax
	mov	%eax, FRAME_MXCSR(%edx)
	mov	X87_AT, %eax
	mov	%eax, FRAME_X87(%edx)
	.endif
	FP_CHANGE \name, \fp
	.cfi_remember_state
	lea	-16(%edx), %esp		/* <-- the stacks change here */
	.cfi_def_cfa_offset 32
	.cfi_undefined %eip
	xor	%ebp, %ebp
	mov	%ebx, (%esp)
	call	*%esi
	mov	%eax, %edx
	add	$16, %esp
	.cfi_adjust_cfa_offset -16
	RESUME	\name\()_end, \fp
	.cfi_restore_state
	FP_LOAD	\name, \fp
	.endm

STARTS FP
