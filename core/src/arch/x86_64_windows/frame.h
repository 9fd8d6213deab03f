/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h - what is stored on a suspended stack, x86-64 Windows.
 *
 *	high	return address of arch_switch or arch_start
 *		the thread's block: the list of exception frames
 *		rbp r15 r14 r13 r12 rsi rdi rbx
 *		xmm15 ... xmm6
 *		five words of the thread's block: its stack's bounds
 *	low	x87 control word, MXCSR		<- arch_stack points here
 *
 * The list is used by wine alone: it searches it beside the frames of a stack
 * that lies above the list's. On Windows, 64-bit programs have none.
 *
 * The five words are those of the Thread Environment Block (TEB) that describe
 * the running stack. The system reads them when it dispatches an exception and
 * when a guard page is touched.
 */
#ifndef SN_FRAME_WINDOWS_H
#define SN_FRAME_WINDOWS_H

#define FRAME_MXCSR      0
#define FRAME_X87        4
#define FRAME_BASE       8
#define FRAME_LIMIT      16
#define FRAME_LOW        24
#define FRAME_FIBER_DATA 32
#define FRAME_GUARANTEED 40
#define FRAME_XMM6       48
#define FRAME_RBX        208
#define FRAME_RDI        216
#define FRAME_RSI        224
#define FRAME_R12        232
#define FRAME_R13        240
#define FRAME_R14        248
#define FRAME_R15        256
#define FRAME_RBP        264
#define FRAME_LIST       272
#define FRAME_RETURN     280

/* Offsets in the TEB, from gs. */
#define TEB_LIST       0x0    /* NT_TIB.ExceptionList; -1: empty */
#define TEB_BASE       0x8    /* NT_TIB.StackBase: above the highest byte */
#define TEB_LIMIT      0x10   /* NT_TIB.StackLimit: the lowest byte in use */
#define TEB_FIBER_DATA 0x20   /* NT_TIB.FiberData: of a Windows fiber */
#define TEB_LOW        0x1478 /* DeallocationStack: the lowest byte */
#define TEB_GUARANTEED 0x1748 /* GuaranteedStackBytes: 32 bits */

/* What arch_start keeps at the top end of a fresh stack. */
#define TOP_RETURN   (-8)  /* 0, which ends backtraces */
#define TOP_CONTROL  (-16) /* as the lowest word of a frame */
#define TOP_NOTE     (-24) /* see cpu.h */
#define TOP_NOTE_NOT (-32)
#define TOP_STACK    (-64) /* and from here on room for the callee's words */

/* The guard below a stack ends with pages that the system hands out when they
 * are touched, so that a handler can run: see os/windows/pages.c. */
#define GUARD_BYTES 12288

/* The exception flags of MXCSR: see arch/x86_64/frame.h. */
#define FP_FLAGS 0x3f

#endif
