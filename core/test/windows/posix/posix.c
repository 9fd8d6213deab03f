/* SPDX-License-Identifier: Apache-2.0 */
#include "posix.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

/* --- time ---------------------------------------------------------------- */

static void CALLBACK ring(void *unused, BOOLEAN due)
{
	(void)unused;
	(void)due;
	fputs("this test hangs\n", stderr);
	TerminateProcess(GetCurrentProcess(), 142);
}

unsigned alarm(unsigned seconds)
{
	static HANDLE timer;

	if (timer)
		DeleteTimerQueueTimer(NULL, timer, NULL);
	timer = NULL;
	if (seconds && !CreateTimerQueueTimer(&timer, NULL, ring, NULL,
					      seconds * 1000, 0, 0))
		TerminateProcess(GetCurrentProcess(), 1);
	return 0;
}

pid_t gettid(void)
{
	return (pid_t)GetCurrentThreadId();
}

/* --- memory -------------------------------------------------------------- */

/* Blocks of malloc() lie at multiples of 16. This takes blocks until one lies
 * as wanted, each of another size so that they do not lie at equal distances,
 * and gives the others back. */
void *aligned_alloc(size_t alignment, size_t size)
{
	void **tried = NULL;
	void **block = NULL;

	for (size_t i = 0; i < 100 * alignment; i++) {
		block = malloc(size + sizeof(void *) + 16 * (i % 64));
		if (!block || !((uintptr_t)block & (alignment - 1)))
			break;
		*block = tried;
		tried = block;
		block = NULL;
	}
	while (tried) {
		void **next = *tried;

		free(tried);
		tried = next;
	}
	return block;
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	void *block = aligned_alloc(alignment, size);

	if (!block)
		return ENOMEM;
	*out = block;
	return 0;
}

/* --- files --------------------------------------------------------------- */

int pipe(int ends[2])
{
	return _pipe(ends, 64 * 1024, _O_BINARY);
}

ssize_t pread(int fd, void *bytes, size_t size, off64_t at)
{
	return _lseeki64(fd, at, SEEK_SET) < 0
		       ? -1
		       : read(fd, bytes, (unsigned)size);
}
