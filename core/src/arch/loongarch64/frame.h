/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h - the registers stored on a suspended stack, 64-bit LoongArch
 * (lp64d).
 *
 *	high	FCSR
 *		fs0 ... fs7 (24 to 31)
 *	low	ra (return address), fp (22), s0 ... s8 (23 to 31)
 *		<- arch_stack points here
 *
 * The layout is the same in every build. With SENNIT_NO_FP_CONTROL the word of
 * FCSR exists but is unused.
 */
#ifndef SN_FRAME_H
#define SN_FRAME_H

#define FRAME_RA   0
#define FRAME_FP   8
#define FRAME_FS0  88
#define FRAME_FCSR 152
#define FRAME_SIZE 160

/* The control bits of FCSR: the enabled exceptions, the rounding. A write of
 * the causes that it also holds would trap on those that are enabled. */
#define FCSR_CONTROL 0x31f

#ifndef __ASSEMBLER__

#include "base/compiler.h"

struct arch_frame {
	void    *return_address;
	uint64_t fp[10]; /* fp, s0 to s8: r22 to r31 */
	uint64_t fs0[8]; /* fs0 to fs7 */
	uint64_t fcsr;
};

_Static_assert(offsetof(struct arch_frame, return_address) == FRAME_RA,
	       "frame");
_Static_assert(offsetof(struct arch_frame, fp) == FRAME_FP, "frame");
_Static_assert(offsetof(struct arch_frame, fs0) == FRAME_FS0, "frame");
_Static_assert(offsetof(struct arch_frame, fcsr) == FRAME_FCSR, "frame");
_Static_assert(sizeof(struct arch_frame) == FRAME_SIZE, "frame");

#endif
#endif
