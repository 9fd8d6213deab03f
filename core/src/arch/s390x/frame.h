/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h - the registers stored on a suspended stack, s390x.
 *
 *	high	r6 ... r13, r14 (return address), r15 (stack pointer): in the
 *		part of the caller's frame that the ABI has for them
 *		48 bytes of the caller's frame, not used here
 *		FPC, and a word unused
 *	low	f8 ... f15			<- arch_stack points here
 *
 * The layout is the same in every build. With SENNIT_NO_FP_CONTROL the word of
 * FPC exists but is unused.
 */
#ifndef SN_FRAME_H
#define SN_FRAME_H

#define FRAME_F8   0
#define FRAME_FPC  64
#define FRAME_SIZE 72
#define FRAME_R6   (FRAME_SIZE + HEADER_R6)

/* Of the frame of the caller, from its own r15. */
#define HEADER_R6   48
#define HEADER_SIZE 160

/* The control bits of FPC: the enabled exceptions, the rounding of decimal and
 * of binary operations. */
#define FPC_CONTROL 0xfc000077

#ifndef __ASSEMBLER__

#include "base/compiler.h"

struct arch_frame {
	uint64_t f8[8]; /* f8 to f15 */
	uint32_t fpc;
	uint32_t unused;
	uint64_t callers_header[6];
	uint64_t r6[8]; /* r6 to r13 */
	void    *return_address;
	void    *stack_pointer;
};

_Static_assert(offsetof(struct arch_frame, f8) == FRAME_F8, "frame");
_Static_assert(offsetof(struct arch_frame, fpc) == FRAME_FPC, "frame");
_Static_assert(offsetof(struct arch_frame, callers_header) == FRAME_SIZE,
	       "frame");
_Static_assert(offsetof(struct arch_frame, r6) == FRAME_R6, "frame");

#endif
#endif
