/* SPDX-License-Identifier: Apache-2.0 */
/* looks.h - counts how often each descriptor is looked at. It replaces the
 * functions of libc by which the library polls and tries, so a test with it is
 * a program of its own. */
#ifndef SN_TEST_LOOKS_H
#define SN_TEST_LOOKS_H

#include "operations.h"

#include <dlfcn.h>

#define FDS 65536

static atomic_uint looks[FDS];

static void count_look(int fd)
{
	if (fd >= 0 && fd < FDS)
		atomic_fetch_add(&looks[fd], 1);
}

static void *real(int fd, void **at, const char *name)
{
	count_look(fd);
	if (!*at)
		*at = dlsym(RTLD_NEXT, name);
	return *at;
}

/* The next definition of `name`, that of libc. It is called after the poll is
 * counted. */
#define COUNTED(type, name, fd, parameters, arguments)          \
	type name parameters;                                   \
	type name parameters                                    \
	{                                                       \
		static void *at;                                \
		type(*call) parameters;                         \
		*(void **)(void *)&call = real(fd, &at, #name); \
		return call arguments;                          \
	}

/* Has a name of its own, because libc declares poll() as a function that does
 * not read *fds. */
int poll_counted(struct pollfd *fds, nfds_t count, int limit) __asm__("poll");

int poll_counted(struct pollfd *fds, nfds_t count, int limit)
{
	static void *at;
	int (*call)(struct pollfd *, nfds_t, int);

	*(void **)(void *)&call = real(count ? fds->fd : -1, &at, "poll");
	return call(fds, count, limit);
}

COUNTED(ssize_t, recv, fd, (int fd, void *to, size_t size, int flags),
	(fd, to, size, flags))
COUNTED(ssize_t, recvmsg, fd, (int fd, struct msghdr *m, int flags),
	(fd, m, flags))
COUNTED(ssize_t, send, fd, (int fd, const void *from, size_t size, int flags),
	(fd, from, size, flags))
COUNTED(ssize_t, sendmsg, fd, (int fd, const struct msghdr *m, int flags),
	(fd, m, flags))

ssize_t preadv2(int fd, const struct iovec *v, int count, off_t at, int flags);
ssize_t pwritev2(int fd, const struct iovec *v, int count, off_t at, int flags);

ssize_t preadv2(int fd, const struct iovec *v, int count, off_t at, int flags)
{
	count_look(fd);
	return plain_preadv2(fd, v, count, at, flags);
}

ssize_t pwritev2(int fd, const struct iovec *v, int count, off_t at, int flags)
{
	count_look(fd);
	return plain_pwritev2(fd, v, count, at, flags);
}

#endif
