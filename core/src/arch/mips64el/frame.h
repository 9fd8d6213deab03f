/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h - the registers stored on a suspended stack, 64-bit MIPS (n64).
 *
 *	high	FCSR
 *		f24 ... f31
 *	low	s0 ... s7 (16 to 23), gp (28), fp (30), ra (31)
 *		<- arch_stack points here
 *
 * The layout is the same in every build. With SENNIT_NO_FP_CONTROL the word of
 * FCSR exists but is unused.
 */
#ifndef SN_FRAME_H
#define SN_FRAME_H

#define FRAME_S0   0
#define FRAME_GP   64
#define FRAME_FP   72
#define FRAME_RA   80
#define FRAME_F24  88
#define FRAME_FCSR 152
#define FRAME_SIZE 160

/* The control bits of FCSR: denormals become zero, NaNs, the enabled
 * exceptions, the rounding. A write of the causes that it also holds would trap
 * on those that are enabled. */
#define FCSR_CONTROL 0x010c0f83

#ifndef __ASSEMBLER__

#include "base/compiler.h"

struct arch_frame {
	uint64_t s0[8]; /* s0 to s7 */
	uint64_t gp;
	uint64_t fp;
	void    *return_address;
	uint64_t f24[8]; /* f24 to f31 */
	uint64_t fcsr;
};

_Static_assert(offsetof(struct arch_frame, s0) == FRAME_S0, "frame");
_Static_assert(offsetof(struct arch_frame, gp) == FRAME_GP, "frame");
_Static_assert(offsetof(struct arch_frame, fp) == FRAME_FP, "frame");
_Static_assert(offsetof(struct arch_frame, return_address) == FRAME_RA,
	       "frame");
_Static_assert(offsetof(struct arch_frame, f24) == FRAME_F24, "frame");
_Static_assert(offsetof(struct arch_frame, fcsr) == FRAME_FCSR, "frame");
_Static_assert(sizeof(struct arch_frame) == FRAME_SIZE, "frame");

#endif
#endif
