/* SPDX-License-Identifier: Apache-2.0 */
/* write_all.h - write(2) until everything is written. Async-signal-safe. */
#ifndef SN_WRITE_ALL_H
#define SN_WRITE_ALL_H

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

/* Returns 0 or a negative errno; some of it may be written then. */
static inline int sn_write_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

#endif
