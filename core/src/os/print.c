/* SPDX-License-Identifier: Apache-2.0 */
/* print.c - os.h on every system: messages, and the text of a thread's name. */
#include "base/text.h"
#include "os/os.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static int print(int fd, const char *format, va_list args)
{
	char      text[OS_LINE];
	const int length = vsnprintf(text, sizeof(text), format, args);

	if (length <= 0)
		return 0;
	return sn_write_all(fd, text,
			    length < OS_LINE ? (size_t)length : OS_LINE - 1);
}

void os_print(int fd, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)print(fd, format, args);
	va_end(args);
}

void os_print_line(struct os_lines *lines, const char *format, ...)
{
	va_list args;

	if (lines->error)
		return;
	va_start(args, format);
	lines->error = print(lines->fd, format, args);
	va_end(args);
}

/* The index identifies the thread, so a long name is cut and the index
 * stays. */
void os_thread_text(char *text, size_t size, const char *name, uint32_t index)
{
	int digits = snprintf(NULL, 0, "/%" PRIu32, index);

	snprintf(text, size, "%.*s/%" PRIu32, (int)size - 1 - digits, name,
		 index);
}
