/* SPDX-License-Identifier: Apache-2.0 */
/* escape.h - what the program calls things, as part of a line for people.
 *
 * A name is any bytes. Printed as they are, a newline in it would begin a line
 * that looks like one of ours, and an escape sequence would tell the terminal
 * what to show.
 */
#ifndef SN_ESCAPE_H
#define SN_ESCAPE_H

#include <stddef.h>

/* Write text to out, of size bytes, not 0: terminated, and cut before what does
 * not fit. Control characters of ASCII, Unicode's further ones, its line ends
 * and turns of direction, bytes that are not UTF-8, and the backslash become
 * \n, \t, \\ or \xNN, a byte each; all else stays. Returns its length. Safe in
 * signal handlers. */
size_t sn_escape(char *out, size_t size, const char *text);

#endif
