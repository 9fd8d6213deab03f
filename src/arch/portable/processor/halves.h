/* SPDX-License-Identifier: Apache-2.0 */
/* halves.h - the two halves of a 64-bit word, as members in the
 * order of the processor's bytes: the low half first. */
#ifndef SN_HALVES_H
#define SN_HALVES_H

/* HALVES declares two members that are the halves of one 64-bit word. The
 * address of the low half is LOW_HALF_AT bytes above that of the word. */
#define HALVES(low_type, low, high_type, high) \
	low_type  low;                         \
	high_type high
#define LOW_HALF_AT 0

#endif
