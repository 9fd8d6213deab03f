/* SPDX-License-Identifier: Apache-2.0 */
/* told_tsan.h - ThreadSanitizer knows that what is done before a write() comes
 * before what is done after the read() of it. It does not see preadv2(),
 * pwritev2() and what a ring does, so in its builds two calls that do nothing
 * tell it. Otherwise these are empty.
 */
#ifndef SN_IO_TOLD_TSAN_H
#define SN_IO_TOLD_TSAN_H

#include "base/compiler.h"

#ifdef SN_TSAN
#include <sys/socket.h>
#include <unistd.h>

/* Before something is sent by fd. */
static inline void sn_io_tell_release(int fd)
{
	struct mmsghdr none;

	(void)!sendmmsg(fd, &none, 0, MSG_DONTWAIT);
}

/* After something was received by fd. */
static inline void sn_io_tell_acquire(int fd)
{
	char none;

	(void)!read(fd, &none, 0);
}
#else
static inline void sn_io_tell_release(int fd)
{
	(void)fd;
}

static inline void sn_io_tell_acquire(int fd)
{
	(void)fd;
}
#endif
#endif
