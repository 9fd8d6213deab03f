/* SPDX-License-Identifier: Apache-2.0 */
/* gzip.h - writes the header and trailer of a member of a gzip file (RFC
 * 1952). */
#ifndef PIG_GZIP_H
#define PIG_GZIP_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum {
	GZIP_HEAD_MOST = 10 + 256, /* with the longest name */
	GZIP_TAIL = 8
};

/* Write the header. name is the file name without folders, or NULL. modified is
 * 0 if unknown. Returns the size. */
size_t gzip_head(unsigned char head[GZIP_HEAD_MOST], int level,
		 const char *name, time_t modified);

/* Write the trailer: the CRC-32 and the size of the uncompressed data. */
void gzip_tail(unsigned char tail[GZIP_TAIL], uint32_t crc, uint64_t size);

#endif
