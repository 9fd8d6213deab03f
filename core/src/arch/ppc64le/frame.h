/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h - the registers stored on a suspended stack, 64-bit POWER (ELFv2).
 *
 *	high	link register		)  in the header of the caller's
 *		condition register	)  frame, where the ABI has them
 *		v20 ... v31
 *		f14 ... f31
 *		r14 ... r31
 *		FPSCR, r2
 *	low	header of a frame: the first word is the caller's r1
 *		<- arch_stack points here
 *
 * The layout is the same in every build. With SENNIT_NO_FP_CONTROL the word of
 * FPSCR exists but is unused.
 */
#ifndef SN_FRAME_H
#define SN_FRAME_H

#define FRAME_FPSCR 32
#define FRAME_R2    40
#define FRAME_R14   48
#define FRAME_F14   192
#define FRAME_V20   336
#define FRAME_SIZE  528

/* Of the frame of the caller, from its own r1. */
#define HEADER_CR   8
#define HEADER_LR   16
#define HEADER_SIZE 32

/* The control bits of FPSCR: the enabled exceptions, NI and the rounding of
 * binary operations in the low byte, the rounding of decimal ones. */
#define FPSCR_LOW     0xff
#define FPSCR_DECIMAL 32 /* three bits from here */

#ifndef __ASSEMBLER__

#include "base/compiler.h"

struct arch_frame {
	uint64_t header[4];
	uint64_t fpscr;
	uint64_t r2;
	uint64_t r14[18]; /* r14 to r31 */
	uint64_t f14[18]; /* f14 to f31 */
	uint64_t v20[24]; /* v20 to v31 */
	uint64_t callers_header[4];
};

_Static_assert(offsetof(struct arch_frame, fpscr) == FRAME_FPSCR, "frame");
_Static_assert(offsetof(struct arch_frame, r2) == FRAME_R2, "frame");
_Static_assert(offsetof(struct arch_frame, r14) == FRAME_R14, "frame");
_Static_assert(offsetof(struct arch_frame, f14) == FRAME_F14, "frame");
_Static_assert(offsetof(struct arch_frame, v20) == FRAME_V20, "frame");
_Static_assert(offsetof(struct arch_frame, callers_header) == FRAME_SIZE,
	       "frame");
_Static_assert(FRAME_V20 % 16 == 0 && FRAME_SIZE % 16 == 0, "frame");

#endif
#endif
