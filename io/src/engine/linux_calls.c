/* SPDX-License-Identifier: Apache-2.0 */
/* linux_calls.c - the calls, for a libc that lacks one of them. Only such a
 * build compiles this file. The definitions are weak: those of libc or of the
 * program take precedence. */
#include "engine/linux_calls.h"

#include <linux/time_types.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WEAK __attribute__((weak))

/* The kernel takes the offset in two halves. A 64-bit kernel ignores the
 * second. */
WEAK ssize_t preadv2(int fd, const struct iovec *vector, int count, off_t at,
		     int flags)
{
	return syscall(SYS_preadv2, fd, vector, (long)count, (long)at,
		       (long)((int64_t)at >> 32), flags);
}

WEAK ssize_t pwritev2(int fd, const struct iovec *vector, int count, off_t at,
		      int flags)
{
	return syscall(SYS_pwritev2, fd, vector, (long)count, (long)at,
		       (long)((int64_t)at >> 32), flags);
}

WEAK int statx(int folder, const char *path, int flags, unsigned mask,
	       struct statx *out)
{
	return (int)syscall(SYS_statx, folder, path, flags, mask, out);
}

/* The kernel's seconds have 64 bits on every processor. */
WEAK int epoll_pwait2(int fd, struct epoll_event *events, int count,
		      const struct timespec *limit, const sigset_t *mask)
{
	struct __kernel_timespec t;

	if (limit) {
		t.tv_sec = limit->tv_sec;
		t.tv_nsec = limit->tv_nsec;
	}
	return (int)syscall(SYS_epoll_pwait2, fd, events, count,
			    limit ? &t : NULL, mask, _NSIG / 8);
}
