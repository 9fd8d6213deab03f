/* SPDX-License-Identifier: Apache-2.0 */
/* print.c - os.h on every system: messages, and the text of a thread's name. */
#include "base/text.h"
#include "os/os.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

void os_print(int fd, const char *format, ...)
{
	char    text[OS_LINE];
	va_list args;
	int     length;

	va_start(args, format);
	length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (length > 0)
		(void)sn_write_all(fd, text,
				   length < OS_LINE ? (size_t)length
						    : OS_LINE - 1);
}

/* The index identifies the thread, so a long name is cut and the index
 * stays. */
void os_thread_text(char *text, size_t size, const char *name, uint32_t index)
{
	int digits = snprintf(NULL, 0, "/%" PRIu32, index);

	snprintf(text, size, "%.*s/%" PRIu32, (int)size - 1 - digits, name,
		 index);
}
