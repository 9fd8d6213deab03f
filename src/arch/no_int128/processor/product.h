/* SPDX-License-Identifier: Apache-2.0 */
/* product.h - as portable/processor/product.h, for compilers that
 * have no integers of 128 bits. */
#ifndef SN_PRODUCT_H
#define SN_PRODUCT_H

#include <stdint.h>

static inline uint64_t product_32(uint64_t a, uint64_t b)
{
	return (a >> 32) * b + (uint32_t)a * (b >> 32) +
	       ((uint64_t)(uint32_t)a * (uint32_t)b >> 32);
}

#endif
