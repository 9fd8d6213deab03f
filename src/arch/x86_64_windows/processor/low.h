/* SPDX-License-Identifier: Apache-2.0 */
/* low.h - the low end of a stack, which Windows wants to know.
 *
 * arch_start gets the top of a stack only. A note there names the low end. It
 * is written twice, the second time with all bits inverted: a stack without a
 * note has a low end of 0, which the system accepts.
 */
#ifndef SN_LOW_H
#define SN_LOW_H

#include <stdint.h>

static inline void arch_note_low(void *top, const char *low)
{
	uintptr_t *note = (uintptr_t *)top;

	note[-3] = (uintptr_t)low;
	note[-4] = ~(uintptr_t)low;
}

#endif
