/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - escaping of names that the program chose, for printed lines.
 *
 * A name may contain any bytes. Printed unescaped, a newline in it could forge
 * a line of the library's output, and an escape sequence could control the
 * terminal.
 */
#ifndef SN_TEXT_H
#define SN_TEXT_H

#include <stddef.h>

/* Write `text` to `out`, which has `size` bytes; `size` must not be 0. The
 * result is always terminated; characters that do not fit are left out. These
 * become \n, \t, \\ or \xNN, byte by byte: ASCII control characters, Unicode's
 * C1 control characters, line and paragraph separators and bidirectional
 * controls, bytes that are not UTF-8, and the backslash. Everything else stays.
 * Returns the length of the result. Async-signal-safe. */
size_t sn_escape(char *out, size_t size, const char *text);

#endif
