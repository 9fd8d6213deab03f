/* SPDX-License-Identifier: Apache-2.0 */
/* backtrace.c - os.h on Linux: backtraces by a libc
 * that has <execinfo.h>. */
#include "os/os.h"

#include <execinfo.h>

/* The first call of backtrace may load a library, which a signal handler must
 * not do. */
void os_backtrace_prepare(void)
{
	void *frame[1];

	(void)backtrace(frame, 1);
}

void os_write_backtrace(int fd)
{
	void *frames[64];

	backtrace_symbols_fd(frames, backtrace(frames, 64), fd);
}

size_t os_backtrace(void **frames, size_t size)
{
	/* int with glibc, size_t with the BSDs */
	__typeof__(backtrace(frames, 0)) n;

	n = backtrace(frames, (__typeof__(n))size);

	return n > 0 ? (size_t)n : 0;
}
