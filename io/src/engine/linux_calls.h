/* SPDX-License-Identifier: Apache-2.0 */
/* linux_calls.h - system calls with the prototypes of libc. musl 1.2.3 has none
 * of them: they are declared here too, and the build compiles linux_calls.c. */
#ifndef SN_LINUX_CALLS_H
#define SN_LINUX_CALLS_H

#include <linux/stat.h> /* struct statx */
#include <signal.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <time.h>

/* RWF_NOWAIT. */
enum { CALL_NO_WAIT = 8 };

ssize_t preadv2(int fd, const struct iovec *vector, int count, off_t at,
		int flags);
ssize_t pwritev2(int fd, const struct iovec *vector, int count, off_t at,
		 int flags);
int     statx(int folder, const char *path, int flags, unsigned mask,
	      struct statx *out);
int     epoll_pwait2(int fd, struct epoll_event *events, int count,
		     const struct timespec *limit, const sigset_t *mask);

#endif
