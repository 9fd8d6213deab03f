/* SPDX-License-Identifier: Apache-2.0 */
#include "core/canary.h"

#include <stdint.h>

/* 256 bytes: many, because frames leave gaps unwritten. */
enum { CANARY_WORDS = 256 / sizeof(uintptr_t) };

/* The value depends on the address, so that a copied piece of stack does not
 * match. */
static uintptr_t value_of(const uintptr_t *word)
{
	return (uintptr_t)UINT64_C(0x9e3779b97f4a7c15) ^ (uintptr_t)word;
}

void sn_canary_write(void *low)
{
	uintptr_t *word = (uintptr_t *)low - CANARY_WORDS;

	for (int i = 0; i < CANARY_WORDS; i++, word++)
		*word = value_of(word);
}

bool sn_canary_is_whole(const void *low)
{
	const uintptr_t *word = (const uintptr_t *)low - CANARY_WORDS;

	for (int i = 0; i < CANARY_WORDS; i++, word++) {
		if (*word != value_of(word))
			return false;
	}
	return true;
}
