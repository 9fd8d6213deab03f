/* SPDX-License-Identifier: Apache-2.0 */
/* low.h - the low end of a stack, which a switch of WebAssembly needs: what
 * suspends a stack writes the frames of the machine there.
 *
 * arch_start gets the top of a stack only. A note there names the low end. It
 * is written twice, the second time with all bits inverted: without a note a
 * stack has ARCH_STACK_MIN bytes.
 */
#ifndef SN_LOW_H
#define SN_LOW_H

#include <stdint.h>

/* Bytes below the top that a note takes; the stack begins below them. */
#define LOW_NOTE 16

static inline void arch_note_low(void *top, const char *low)
{
	uintptr_t *note = (uintptr_t *)top;

	note[-1] = (uintptr_t)low;
	note[-2] = ~(uintptr_t)low;
}

#endif
