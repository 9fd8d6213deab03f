/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h - the registers stored on a suspended stack, aarch64 (AAPCS64).
 *
 *	high	FPCR, and a word unused: sp is a multiple of 16
 *		d8 ... d15
 *	low	x19 ... x28, x29 (frame pointer), x30 (return address)
 *		<- arch_stack points here
 *
 * The layout is the same in every build. With SENNIT_NO_FP_CONTROL the word of
 * FPCR exists but is unused.
 */
#ifndef SN_FRAME_H
#define SN_FRAME_H

#define FRAME_X19  0
#define FRAME_X21  16
#define FRAME_X23  32
#define FRAME_X25  48
#define FRAME_X27  64
#define FRAME_X29  80
#define FRAME_D8   96
#define FRAME_D10  112
#define FRAME_D12  128
#define FRAME_D14  144
#define FRAME_FPCR 160
#define FRAME_SIZE 176

#ifndef __ASSEMBLER__

#include "base/compiler.h"

struct arch_frame {
	uint64_t x19[10]; /* x19 to x28 */
	uint64_t x29;
	void    *return_address;
	uint64_t d8[8]; /* d8 to d15 */
	uint64_t fpcr;
	uint64_t unused;
};

_Static_assert(offsetof(struct arch_frame, x19[0]) == FRAME_X19, "frame");
_Static_assert(offsetof(struct arch_frame, x19[2]) == FRAME_X21, "frame");
_Static_assert(offsetof(struct arch_frame, x19[4]) == FRAME_X23, "frame");
_Static_assert(offsetof(struct arch_frame, x19[6]) == FRAME_X25, "frame");
_Static_assert(offsetof(struct arch_frame, x19[8]) == FRAME_X27, "frame");
_Static_assert(offsetof(struct arch_frame, x29) == FRAME_X29, "frame");
_Static_assert(offsetof(struct arch_frame, d8[0]) == FRAME_D8, "frame");
_Static_assert(offsetof(struct arch_frame, d8[2]) == FRAME_D10, "frame");
_Static_assert(offsetof(struct arch_frame, d8[4]) == FRAME_D12, "frame");
_Static_assert(offsetof(struct arch_frame, d8[6]) == FRAME_D14, "frame");
_Static_assert(offsetof(struct arch_frame, fpcr) == FRAME_FPCR, "frame");
_Static_assert(sizeof(struct arch_frame) == FRAME_SIZE, "frame");

#endif
#endif
