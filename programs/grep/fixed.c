/* SPDX-License-Identifier: Apache-2.0 */
/* fixed.c - searches for the rarest byte with memchr(), the fastest search of
 * libc, and compares around it. If the byte turns out to be frequent, memmem()
 * continues. */
#include "grep/fixed.h"

#include <string.h>

/* The most frequent bytes of texts and sources, in descending order. */
static const char common[] = " etaoinsrlcdupm_fghb\t.,;()=-*/vykw\"xjqz012"
			     "345678:9<>SETANCIRODLPFMUBHGVWKXYQJZ";

static size_t rarity(char c)
{
	const char *at = c ? strchr(common, c) : NULL;

	return at ? (size_t)(at - common) : sizeof(common);
}

void fixed_init(struct fixed *f, const char *bytes, size_t size)
{
	f->bytes = bytes;
	f->size = size;
	f->rare = 0;
	for (size_t i = 1; i < size; i++)
		if (rarity(bytes[i]) > rarity(bytes[f->rare]))
			f->rare = i;
}

const char *fixed_find(const struct fixed *f, const char *begin,
		       const char *end)
{
	const char *from = begin, *at, *last;
	size_t      patience = 64; /* bytes, for each miss */

	if ((size_t)(end - begin) < f->size)
		return NULL;
	if (!f->size)
		return begin;
	last = end - f->size; /* the last position of a match */
	for (size_t misses = 0; from <= last; misses++) {
		if (misses * patience > (size_t)(from - begin) + 1024)
			return memmem(from, (size_t)(end - from), f->bytes,
				      f->size);
		at = memchr(from + f->rare, f->bytes[f->rare],
			    (size_t)(last - from) + 1);
		if (!at)
			return NULL;
		at -= f->rare;
		if (!memcmp(at, f->bytes, f->size))
			return at;
		from = at + 1;
	}
	return NULL;
}
