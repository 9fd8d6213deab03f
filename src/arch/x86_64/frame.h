/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h - what a suspended stack holds, x86-64 System V.
 *
 *	high	return address of arch_switch or arch_start
 *		rbp r15 r14 r13 r12 rbx
 *	low	x87 control word, MXCSR		<- arch_stack points here
 *
 * One layout for every build: with SENNIT_NO_FP_CONTROL the lowest word is
 * there and nobody looks at it. It is laid out as arch_fp_control() returns it,
 * but for MXCSR's flags, which stay with the stack, and two bytes of padding.
 */
#ifndef SN_FRAME_H
#define SN_FRAME_H

#define FRAME_MXCSR  0
#define FRAME_X87    4
#define FRAME_RBX    8
#define FRAME_R12    16
#define FRAME_R13    24
#define FRAME_R14    32
#define FRAME_R15    40
#define FRAME_RBP    48
#define FRAME_RETURN 56

/* The exceptions that happened; everything else in MXCSR is control. The x87
 * status word has them in the same places, its control word the masks. */
#define FP_FLAGS 0x3f

#ifndef __ASSEMBLER__

#include "base/compiler.h"

struct arch_frame {
	uint32_t mxcsr;
	uint16_t x87;
	uint64_t rbx;
	uint64_t r12;
	uint64_t r13;
	uint64_t r14;
	uint64_t r15;
	uint64_t rbp;
	void    *return_address;
};

_Static_assert(offsetof(struct arch_frame, mxcsr) == FRAME_MXCSR, "frame");
_Static_assert(offsetof(struct arch_frame, x87) == FRAME_X87, "frame");
_Static_assert(offsetof(struct arch_frame, rbx) == FRAME_RBX, "frame");
_Static_assert(offsetof(struct arch_frame, r12) == FRAME_R12, "frame");
_Static_assert(offsetof(struct arch_frame, r13) == FRAME_R13, "frame");
_Static_assert(offsetof(struct arch_frame, r14) == FRAME_R14, "frame");
_Static_assert(offsetof(struct arch_frame, r15) == FRAME_R15, "frame");
_Static_assert(offsetof(struct arch_frame, rbp) == FRAME_RBP, "frame");
_Static_assert(offsetof(struct arch_frame, return_address) == FRAME_RETURN,
	       "frame");

#endif
#endif
