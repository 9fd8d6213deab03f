/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h - the registers stored on a suspended stack, 32-bit ARM (AAPCS,
 * floating-point variant).
 *
 *	high	r4 ... r11, lr (return address), and a word unused: sp is a
 *		multiple of 8
 *		d8 ... d15
 *	low	FPSCR, and a word unused	<- arch_stack points here
 *
 * The layout is the same in every build. With SENNIT_NO_FP_CONTROL the word of
 * FPSCR exists but is unused.
 */
#ifndef SN_FRAME_H
#define SN_FRAME_H

#define FRAME_FPSCR 0
#define FRAME_D8    8
#define FRAME_R4    72
#define FRAME_LR    104
#define FRAME_SIZE  112

/* The control bits of FPSCR; the others are status flags, or must be kept. */
#define FPSCR_CONTROL 0x07f79f00

#ifndef __ASSEMBLER__

#include "base/compiler.h"

struct arch_frame {
	uint32_t fpscr;
	uint32_t unused;
	uint64_t d8[8]; /* d8 to d15 */
	uint32_t r4[8]; /* r4 to r11 */
	void    *return_address;
	uint32_t unused_too;
};

_Static_assert(offsetof(struct arch_frame, fpscr) == FRAME_FPSCR, "frame");
_Static_assert(offsetof(struct arch_frame, d8) == FRAME_D8, "frame");
_Static_assert(offsetof(struct arch_frame, r4) == FRAME_R4, "frame");
_Static_assert(offsetof(struct arch_frame, return_address) == FRAME_LR,
	       "frame");
_Static_assert(sizeof(struct arch_frame) == FRAME_SIZE, "frame");

#endif
#endif
