/* SPDX-License-Identifier: Apache-2.0 */
/* quota.c - any bytes as the files that name this process's control groups.
 *
 * Linked with --wrap=fopen64, which glibc makes of fopen: each file that the
 * parsers open is a piece of the input. Zero bytes separate the pieces:
 * mountinfo, cgroup, then any number of group files.
 */
#include "os/quota.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int   LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);
FILE *__wrap_fopen64(const char *path, const char *mode);

enum { PIECES = 8 };

static struct {
	char  *text;
	size_t length;
} pieces[PIECES];
static unsigned piece_count;

static unsigned piece_of(const char *path)
{
	unsigned sum = 0;

	if (!strcmp(path, "/proc/self/mountinfo"))
		return 0;
	if (!strcmp(path, "/proc/self/cgroup"))
		return 1;
	for (; *path; path++)
		sum += (unsigned char)*path;
	return 2 + sum % (PIECES - 2);
}

FILE *__wrap_fopen64(const char *path, const char *mode)
{
	const unsigned i = piece_of(path);

	(void)mode;
	return i < piece_count && pieces[i].length
		       ? fmemopen(pieces[i].text, pieces[i].length, "r")
		       : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *copy = malloc(size + 1);
	char *at = copy;

	if (!copy)
		return 0;
	memcpy(copy, bytes, size);
	copy[size] = '\0';
	for (piece_count = 0; piece_count < PIECES && at <= copy + size;) {
		size_t length = strlen(at);

		pieces[piece_count].text = at;
		pieces[piece_count++].length = length;
		at += length + 1;
	}
	/* A quota is none, or at least one CPU. */
	if (!os_cpu_quota(""))
		abort();
	(void)os_thread_quota("");
	piece_count = 0;
	free(copy);
	return 0;
}
