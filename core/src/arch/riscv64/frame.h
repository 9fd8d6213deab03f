/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h - the registers stored on a suspended stack, 64-bit RISC-V (lp64d).
 *
 *	high	frm
 *		fs0 ... fs11
 *	low	ra (return address), s0 ... s11	<- arch_stack points here
 *
 * The layout is the same in every build. With SENNIT_NO_FP_CONTROL the word of
 * frm exists but is unused.
 */
#ifndef SN_FRAME_H
#define SN_FRAME_H

#define FRAME_RA   0
#define FRAME_S0   8
#define FRAME_FS0  104
#define FRAME_FRM  200
#define FRAME_SIZE 208

#ifndef __ASSEMBLER__

#include "base/compiler.h"

struct arch_frame {
	void    *return_address;
	uint64_t s0[12];  /* s0 to s11 */
	uint64_t fs0[12]; /* fs0 to fs11 */
	uint64_t frm;
};

_Static_assert(offsetof(struct arch_frame, return_address) == FRAME_RA,
	       "frame");
_Static_assert(offsetof(struct arch_frame, s0) == FRAME_S0, "frame");
_Static_assert(offsetof(struct arch_frame, fs0) == FRAME_FS0, "frame");
_Static_assert(offsetof(struct arch_frame, frm) == FRAME_FRM, "frame");
_Static_assert(sizeof(struct arch_frame) == FRAME_SIZE, "frame");

#endif
#endif
