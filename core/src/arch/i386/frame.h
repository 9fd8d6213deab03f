/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h - the registers stored on a suspended stack, i386 System V.
 *
 *	high	return address of arch_switch or arch_start
 *		ebp edi esi ebx
 *	low	MXCSR, x87 control word		<- arch_stack points here
 *
 * The layout is the same in every build. With SENNIT_NO_FP_CONTROL the two
 * lowest words exist but are unused.
 */
#ifndef SN_FRAME_H
#define SN_FRAME_H

#define FRAME_MXCSR  0
#define FRAME_X87    4
#define FRAME_EBX    8
#define FRAME_ESI    12
#define FRAME_EDI    16
#define FRAME_EBP    20
#define FRAME_RETURN 24

/* The exception flags of MXCSR; its other bits are control. The x87 status word
 * has the same flags at the same positions, and the x87 control word has their
 * masks there. */
#define FP_FLAGS 0x3f

#ifndef __ASSEMBLER__

#include "base/compiler.h"

struct arch_frame {
	uint32_t mxcsr;
	uint16_t x87;
	uint32_t ebx;
	uint32_t esi;
	uint32_t edi;
	uint32_t ebp;
	void    *return_address;
};

_Static_assert(offsetof(struct arch_frame, mxcsr) == FRAME_MXCSR, "frame");
_Static_assert(offsetof(struct arch_frame, x87) == FRAME_X87, "frame");
_Static_assert(offsetof(struct arch_frame, ebx) == FRAME_EBX, "frame");
_Static_assert(offsetof(struct arch_frame, esi) == FRAME_ESI, "frame");
_Static_assert(offsetof(struct arch_frame, edi) == FRAME_EDI, "frame");
_Static_assert(offsetof(struct arch_frame, ebp) == FRAME_EBP, "frame");
_Static_assert(offsetof(struct arch_frame, return_address) == FRAME_RETURN,
	       "frame");

#endif
#endif
