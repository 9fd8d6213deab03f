/* SPDX-License-Identifier: Apache-2.0 */
/* posix.h - what the C library of mingw-w64 lacks of POSIX and the
 * library uses. The build includes it first in every file of a Windows build:
 * see cmake/platform.cmake. It includes nothing itself, because the system's
 * headers declare names that files of the library have as their own. */
#ifndef SN_POSIX_H
#define SN_POSIX_H

/* _O_NOINHERIT | _O_BINARY: a child process does not inherit the file, and its
 * bytes stay as they are. */
#define O_CLOEXEC 0x8080

/* Sleep for ever. */
int pause(void);

#endif
