/* SPDX-License-Identifier: Apache-2.0 */
/* dig.h - calls itself until the stack ends. */
#ifndef SN_TEST_DIG_H
#define SN_TEST_DIG_H

#include "base/compiler.h"

/* The volatile store keeps frames apart. The returned address keeps the
 * compiler from removing the frames. */
static NOINLINE unsigned dig(unsigned depth)
{
	volatile char frame[512];

	frame[depth % 512] = (char)depth;
	return depth ? dig(depth + 1) + (unsigned)frame[depth % 512] : 0;
}

#endif
