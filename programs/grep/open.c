/* SPDX-License-Identifier: Apache-2.0 */
/* open.c - opens a long path in several pieces. */
#include "grep/open.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static void close_quietly(int fd)
{
	const int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
}

/* Open the folders at the beginning of *path, as many as the system accepts at
 * once. *path becomes the rest. */
static int open_piece(int in, const char **path)
{
	const char *slash = memrchr(*path, '/', PATH_MAX - 1);
	char        piece[PATH_MAX];

	if (!slash) {
		errno = ENAMETOOLONG;
		return -1;
	}
	*(char *)mempcpy(piece, *path, (size_t)(slash + 1 - *path)) = '\0';
	*path = slash + strspn(slash, "/");
	return openat(in, piece, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int open_path(const char *path, int flags)
{
	int in = AT_FDCWD, next = -1;

	while (strlen(path) >= PATH_MAX) {
		next = open_piece(in, &path);
		close_quietly(in);
		if (next < 0)
			return -1;
		in = next;
	}
	next = openat(in, path, flags);
	close_quietly(in);
	return next;
}
