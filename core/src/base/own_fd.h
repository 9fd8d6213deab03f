/* SPDX-License-Identifier: Apache-2.0 */
/* own_fd.h - descriptors of the library's own are never 0, 1 or 2.
 *
 * A program may be started without standard descriptors. What the library then
 * opened first would be standard input: the program that makes itself a daemon
 * puts /dev/null there, and a message would be written into it. */
#ifndef SN_OWN_FD_H
#define SN_OWN_FD_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* The first number that is not a standard descriptor. */
enum { OWN_FD_FIRST = STDERR_FILENO + 1 };

/* fd has just been opened, or is -1 with errno set. Returns it, or one with
 * FD_CLOEXEC in its place, or -1 and errno; fd is closed then. */
static inline int sn_own_fd(int fd)
{
	int own, err;

	if (fd < 0 || fd >= OWN_FD_FIRST)
		return fd;
	own = fcntl(fd, F_DUPFD_CLOEXEC, OWN_FD_FIRST);
	err = errno;
	close(fd);
	errno = err;
	return own;
}

#endif
