/* SPDX-License-Identifier: Apache-2.0 */
#include "diag/live_text.h"

#include "base/escape.h"

#include <stdarg.h>
#include <stdio.h>

/* The maximum length of a string once escaped. */
#define LONGEST 256

void sn_live_text_add(struct live_text *t, const char *format, ...)
{
	size_t  room = t->size - t->used;
	va_list arguments;
	int     n;

	va_start(arguments, format);
	n = vsnprintf(t->at + t->used, room, format, arguments);
	va_end(arguments);
	if (n < 0 || (size_t)n >= room)
		t->cut = true;
	else
		t->used += (size_t)n;
}

void sn_live_text_quote(struct live_text *t, const char *string)
{
	char   harmless[LONGEST];
	char   quoted[2 * LONGEST];
	size_t used = 0;

	sn_escape(harmless, sizeof(harmless), string);
	for (const char *c = harmless; *c; c++) {
		if (*c == '"' || *c == '\\')
			quoted[used++] = '\\';
		quoted[used++] = *c;
	}
	sn_live_text_add(t, "\"%.*s\"", (int)used, quoted);
}
