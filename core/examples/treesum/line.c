/* SPDX-License-Identifier: Apache-2.0 */
/* line.c - formatting results. */
#include "line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int reserve(struct line *l, size_t room)
{
	char *text;

	if (room <= l->room)
		return 0;
	text = realloc(l->text, room);
	if (!text)
		return -ENOMEM;
	l->text = text;
	l->room = room;
	return 0;
}

static char *put_digest(char *to, const unsigned char digest[DIGEST_SIZE])
{
	static const char hex[] = "0123456789abcdef";
	size_t            i;

	for (i = 0; i < DIGEST_SIZE; i++) {
		*to++ = hex[digest[i] >> 4];
		*to++ = hex[digest[i] & 15];
	}
	return to;
}

static char *put_escaped(char *to, const char *name)
{
	for (; *name; name++) {
		if (*name == '\n' || *name == '\r' || *name == '\\')
			*to++ = '\\';
		if (*name == '\n')
			*to++ = 'n';
		else if (*name == '\r')
			*to++ = 'r';
		else
			*to++ = *name;
	}
	return to;
}

int line_format(struct line *l, const struct entry *e)
{
	/* Backslash, digest, two spaces, name, newline, zero. */
	size_t room = 1 + 2 * DIGEST_SIZE + 2 + 2 * strlen(e->path) + 2;
	char  *to;

	if (reserve(l, room))
		return -ENOMEM;
	to = l->text;
	if (strpbrk(e->path, "\\\n\r"))
		*to++ = '\\';
	to = put_digest(to, e->digest);
	l->name = (size_t)(to - l->text);
	*to++ = ' ';
	*to++ = ' ';
	to = put_escaped(to, e->path);
	*to++ = '\n';
	*to = '\0';
	l->length = (size_t)(to - l->text);
	return 0;
}

void line_free(struct line *l)
{
	free(l->text);
}
