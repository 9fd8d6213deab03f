/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - text for printed lines: names that the program chose are escaped,
 * and all of it is written.
 *
 * A name may contain any bytes. Printed unescaped, a newline in it could forge
 * a line of the library's output, and an escape sequence could control the
 * terminal.
 */
#ifndef SN_TEXT_H
#define SN_TEXT_H

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

/* Write `text` to `out`, which has `size` bytes; `size` must not be 0. The
 * result is always terminated; characters that do not fit are left out. These
 * become \n, \t, \\ or \xNN, byte by byte: ASCII control characters, Unicode's
 * C1 control characters, line and paragraph separators and bidirectional
 * controls, bytes that are not UTF-8, and the backslash. Everything else stays.
 * Returns the length of the result. Async-signal-safe. */
size_t sn_escape(char *out, size_t size, const char *text);

/* Write(2) until everything is written. Returns 0 or a negative errno; some of
 * it may be written then. Async-signal-safe. */
static inline int sn_write_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

#endif
