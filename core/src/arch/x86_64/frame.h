/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h - the registers stored on a suspended stack, x86-64 System V.
 *
 *	high	return address of arch_switch or arch_start
 *		rbp r15 r14 r13 r12 rbx
 *	low	x87 control word, MXCSR		<- arch_stack points here
 *
 * The layout is the same in every build. With SENNIT_NO_FP_CONTROL the lowest
 * word exists but is unused. That word has the format of arch_fp_control(),
 * except for MXCSR's status flags, which stay with the stack, and two bytes of
 * padding.
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

/* The exception flags of MXCSR; its other bits are control. The x87 status word
 * has the same flags at the same positions, and the x87 control word has their
 * masks there. */
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
