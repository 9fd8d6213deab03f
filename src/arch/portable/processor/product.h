/* SPDX-License-Identifier: Apache-2.0 */
/* product.h - the product of two 64-bit numbers. */
#ifndef SN_PRODUCT_H
#define SN_PRODUCT_H

#include <stdint.h>

/* Return the low 64 bits of a * b / 2^32. */
static inline uint64_t product_32(uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 wide;

	return (uint64_t)((wide)a * b >> 32);
}

#endif
