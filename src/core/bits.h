/* SPDX-License-Identifier: Apache-2.0 */
/* bits.h - sets of small numbers, a bit for each. */
#ifndef SN_BITS_H
#define SN_BITS_H

#include <stdbool.h>
#include <stdint.h>

static inline bool sn_bit_is_set(const uint64_t *map, uint32_t i)
{
	return map[i / 64] >> i % 64 & 1;
}

static inline void sn_bit_set(uint64_t *map, uint32_t i)
{
	map[i / 64] |= UINT64_C(1) << i % 64;
}

static inline void sn_bit_clear(uint64_t *map, uint32_t i)
{
	map[i / 64] &= ~(UINT64_C(1) << i % 64);
}

/* The lowest number in the set, which is not empty. */
static inline uint32_t sn_bit_first(const uint64_t *map)
{
	uint32_t word = 0;

	while (!map[word])
		word++;
	return word * 64 + (uint32_t)__builtin_ctzll(map[word]);
}

#endif
