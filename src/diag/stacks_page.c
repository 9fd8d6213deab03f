/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/stacks_page.h"

#include "base/escape.h"
#include "base/write_all.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NAME 1024 /* bytes of an escaped name */

int sn_stacks_page_end(struct stacks_page *p)
{
	if (!p->error)
		p->error = sn_write_all(p->fd, p->text, p->used);
	p->used = 0;
	return p->error;
}

static void add_bytes(struct stacks_page *p, const char *bytes, size_t size)
{
	if (size > sizeof(p->text) - p->used)
		sn_stacks_page_end(p);
	memcpy(p->text + p->used, bytes, size);
	p->used += size;
}

void sn_stacks_page_add(struct stacks_page *p, const char *format, ...)
{
	char    text[512];
	va_list arguments;
	int     n;

	va_start(arguments, format);
	n = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (n > 0)
		add_bytes(p, text,
			  (size_t)n < sizeof(text) ? (size_t)n
						   : sizeof(text) - 1);
}

void sn_stacks_page_add_name(struct stacks_page *p, const char *name)
{
	char   text[NAME];
	size_t n = sn_escape(text, sizeof(text), name);

	add_bytes(p, text, n);
}

/* In escaped text nothing but quotes and backslashes is left to escape. */
void sn_stacks_page_add_quoted(struct stacks_page *p, const char *text)
{
	add_bytes(p, "\"", 1);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			add_bytes(p, "\\", 1);
		add_bytes(p, text, 1);
	}
	add_bytes(p, "\"", 1);
}

void sn_stacks_page_add_string(struct stacks_page *p, const char *name)
{
	char text[NAME];

	if (!name) {
		add_bytes(p, "null", 4);
		return;
	}
	sn_escape(text, sizeof(text), name);
	sn_stacks_page_add_quoted(p, text);
}
