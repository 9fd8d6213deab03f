/* SPDX-License-Identifier: Apache-2.0 */
/* halves.h - as portable/processor/halves.h: the high half first. */
#ifndef SN_HALVES_H
#define SN_HALVES_H

#define HALVES(low_type, low, high_type, high) \
	high_type high;                        \
	low_type  low
#define LOW_HALF_AT 4

#endif
