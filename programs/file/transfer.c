/* SPDX-License-Identifier: Apache-2.0 */
/* transfer.c - read() and write() in loops. */
#include "file/transfer.h"

#include <errno.h>
#include <unistd.h>

ssize_t file_read(int fd, void *bytes, size_t size)
{
	size_t  n = 0;
	ssize_t got;

	while (n < size) {
		got = read(fd, (char *)bytes + n, size - n);
		if (!got)
			break;
		if (got > 0)
			n += (size_t)got;
		else if (errno != EINTR)
			return -errno;
	}
	return (ssize_t)n;
}

int file_write(int fd, const void *bytes, size_t size)
{
	size_t  n = 0;
	ssize_t put;

	while (n < size) {
		put = write(fd, (const char *)bytes + n, size - n);
		if (put >= 0)
			n += (size_t)put;
		else if (errno != EINTR)
			return -errno;
	}
	return 0;
}
