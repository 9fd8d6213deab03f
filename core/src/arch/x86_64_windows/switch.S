/* SPDX-License-Identifier: Apache-2.0 */
/* switch.S - context switch for x86-64 Windows (x64 software conventions: "x64
 * calling convention", "x64 exception handling").
 *
 * Saved: rbx, rbp, rdi, rsi, r12-r15, xmm6-xmm15, and the words of the TEB that
 * belong to the stack. The functions whose names do not end in _shared also
 * save MXCSR and the x87 control word.
 *
 * Not saved: the other vector registers, the upper halves of all of them, the
 * x87 status flags (caller-saved).
 *
 * The unwind information is that of the outgoing stack up to the instruction
 * that changes the stack. Where a stack is resumed, that one is followed by
 * `ret`, which unwinders read as the end of a function. A fresh stack runs
 * `begin`, whose caller is 0: there backtraces end.
 */
#include "arch/x86_64_windows/frame.h"

#ifdef SENNIT_NO_FP_CONTROL
#define FP 0
#else
#define FP 1
#endif

	.macro	FUNC name
	.text
	.p2align 6
	.globl	\name
	.def	\name; .scl 2; .type 32; .endef
	.seh_proc \name
\name:
	.endm

	.macro	END name
	.seh_endproc
	.endm

	.macro	KEEP register, offset
	mov	%\register, \offset(%rsp)
	.seh_savereg %\register, \offset
	.endm

	.macro	KEEP_TEB at, offset
	mov	%gs:\at, %rax
	mov	%rax, \offset(%rsp)
	.endm

	/* Suspend the running stack into *rcx. Here and below, fp is 1 to save
	 * and restore floating-point control, 0 to ignore it. */
	.macro	SAVE fp
	sub	$FRAME_RETURN, %rsp
	.seh_stackalloc FRAME_RETURN
	KEEP	rbx, FRAME_RBX
	KEEP	rdi, FRAME_RDI
	KEEP	rsi, FRAME_RSI
	KEEP	r12, FRAME_R12
	KEEP	r13, FRAME_R13
	KEEP	r14, FRAME_R14
	KEEP	r15, FRAME_R15
	KEEP	rbp, FRAME_RBP
	.irp	n, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movaps	%xmm\n, FRAME_XMM6 + 16 * (\n - 6)(%rsp)
	.seh_savexmm %xmm\n, FRAME_XMM6 + 16 * (\n - 6)
	.endr
	.seh_endprologue
	.if	\fp
	stmxcsr	FRAME_MXCSR(%rsp)
	fnstcw	FRAME_X87(%rsp)
	.endif
	KEEP_TEB TEB_LIST, FRAME_LIST
	KEEP_TEB TEB_BASE, FRAME_BASE
	KEEP_TEB TEB_LIMIT, FRAME_LIMIT
	KEEP_TEB TEB_LOW, FRAME_LOW
	KEEP_TEB TEB_FIBER_DATA, FRAME_FIBER_DATA
	mov	%gs:TEB_GUARANTEED, %eax
	mov	%eax, FRAME_GUARANTEED(%rsp)
	mov	%rsp, (%rcx)
	.endm

	/* Load the floating-point control stored at offset(%from). The one in
	 * force is stored at now(%rsp). As for System V, MXCSR is loaded
	 * without a comparison, the x87 word only if the two differ. Changes
	 * rax and r10. */
	.macro	FP_CHANGE name, fp, from, offset, now
	.if	\fp
	ldmxcsr	FRAME_MXCSR + \offset(%\from)
	movzwl	FRAME_X87 + \now(%rsp), %r10d
	cmp	FRAME_X87 + \offset(%\from), %r10w
	je	.Lloaded_\name
	/* The x87 traps on any exception flag that is set and unmasked, even
	 * one that another stack raised. Clear such flags first. */
	fnstsw	%ax
	movzwl	FRAME_X87 + \offset(%\from), %r10d
	not	%r10d
	and	%r10d, %eax
	test	$FP_FLAGS, %al
	jz	.Lharmless_\name
	fnclex
.Lharmless_\name:
	fldcw	FRAME_X87 + \offset(%\from)
.Lloaded_\name:
	.endif
	.endm

	.macro	LOAD_TEB at, offset
	mov	\offset(%rdx), %rax
	mov	%rax, %gs:\at
	.endm

	/* Resume the stack rdx, whose floating-point control is in force. */
	.macro	RESUME
	.irp	n, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movaps	FRAME_XMM6 + 16 * (\n - 6)(%rdx), %xmm\n
	.endr
	mov	FRAME_RBX(%rdx), %rbx
	mov	FRAME_RDI(%rdx), %rdi
	mov	FRAME_RSI(%rdx), %rsi
	mov	FRAME_R12(%rdx), %r12
	mov	FRAME_R13(%rdx), %r13
	mov	FRAME_R14(%rdx), %r14
	mov	FRAME_R15(%rdx), %r15
	mov	FRAME_RBP(%rdx), %rbp
	LOAD_TEB TEB_LIST, FRAME_LIST
	LOAD_TEB TEB_BASE, FRAME_BASE
	LOAD_TEB TEB_LIMIT, FRAME_LIMIT
	LOAD_TEB TEB_LOW, FRAME_LOW
	LOAD_TEB TEB_FIBER_DATA, FRAME_FIBER_DATA
	mov	FRAME_GUARANTEED(%rdx), %eax
	mov	%eax, %gs:TEB_GUARANTEED
	lea	FRAME_RETURN(%rdx), %rsp	/* <-- the stacks change here */
	ret
	.endm

/* void arch_switch(arch_stack *save, arch_stack resume) */
FUNC arch_switch
	SAVE	FP
	FP_CHANGE switch, FP, rdx, 0, 0
	RESUME
END arch_switch

FUNC arch_switch_shared
	SAVE	0
	RESUME
END arch_switch_shared

	/* On the fresh stack: call r8(r9), then resume the stack that it
	 * returns. The control word lies where TOP_CONTROL says. */
	.macro	BEGIN name, fp
	.seh_proc begin_\name
begin_\name:
	.seh_stackalloc TOP_RETURN - TOP_STACK
	.seh_endprologue
	xor	%ebp, %ebp
	mov	%r9, %rcx
	call	*%r8
	mov	%rax, %rdx
	FP_CHANGE \name\()_end, \fp, rdx, 0, TOP_CONTROL-TOP_STACK
	RESUME
	.seh_endproc
	.endm

	/* The stack's bounds, from its note: see cpu.h. Without one they are
	 * 0. */
	.macro	ENTER_BOUNDS
	mov	TOP_NOTE(%rdx), %rax
	mov	TOP_NOTE_NOT(%rdx), %r10
	not	%r10
	xor	%r11d, %r11d
	cmp	%rax, %r10
	cmovne	%r11, %rax
	lea	-GUARD_BYTES(%rax), %r10
	cmovne	%r11, %r10
	movq	$-1, %gs:TEB_LIST
	mov	%rdx, %gs:TEB_BASE
	mov	%rax, %gs:TEB_LIMIT
	mov	%r10, %gs:TEB_LOW
	mov	%r11d, %gs:TEB_GUARANTEED
	.endm

/* void arch_start(arch_stack *save, void *top, arch_entry *entry, void *arg,
 *		   uint64_t control), whose fifth argument lies above the room
 * that each caller leaves for the first four. */
	.macro	START name, fp
	SAVE	\fp
	.if	\fp
	mov	FRAME_RETURN + 40(%rsp), %rax
	mov	%rax, TOP_CONTROL(%rdx)
	.endif
	FP_CHANGE \name, \fp, rdx, TOP_CONTROL, 0
	ENTER_BOUNDS
	movq	$0, TOP_RETURN(%rdx)
	lea	TOP_STACK(%rdx), %rsp		/* <-- the stacks change here */
	jmp	begin_\name
	.endm

FUNC arch_start
	START	start, FP
END arch_start
	BEGIN	start, FP

FUNC arch_start_shared
	START	start_shared, 0
END arch_start_shared
	BEGIN	start_shared, 0
