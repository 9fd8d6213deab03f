/* SPDX-License-Identifier: Apache-2.0 */
/* linux_backtrace_execinfo.c - os.h on Linux: backtraces by a libc that has
 * <execinfo.h>. */
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
	int   count = backtrace(frames, 64);

	backtrace_symbols_fd(frames, count, fd);
}
