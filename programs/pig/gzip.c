/* SPDX-License-Identifier: Apache-2.0 */
/* gzip.c - encodes the fields of RFC 1952. */
#include "pig/gzip.h"

#include <string.h>

enum { DEFLATED = 8, HAS_NAME = 8, ON_UNIX = 3 };

static void put_32(unsigned char *to, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		to[i] = (unsigned char)(value >> 8 * i);
}

static unsigned char effort(int level)
{
	if (level == 9)
		return 2;
	return level == 1 ? 4 : 0;
}

size_t gzip_head(unsigned char head[GZIP_HEAD_MOST], int level,
		 const char *name, time_t modified)
{
	size_t length = name ? strlen(name) + 1 : 0;

	if (length > GZIP_HEAD_MOST - 10)
		length = 0;
	memset(head, 0, 10);
	head[0] = 0x1f;
	head[1] = 0x8b;
	head[2] = DEFLATED;
	head[3] = length ? HAS_NAME : 0;
	if (modified > 0 && modified <= UINT32_MAX)
		put_32(head + 4, (uint32_t)modified);
	head[8] = effort(level);
	head[9] = ON_UNIX;
	if (length)
		memcpy(head + 10, name, length);
	return 10 + length;
}

void gzip_tail(unsigned char tail[GZIP_TAIL], uint32_t crc, uint64_t size)
{
	put_32(tail, crc);
	put_32(tail + 4, (uint32_t)size);
}
