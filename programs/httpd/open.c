/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/open.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20
#endif

/* O_NONBLOCK: opening a fifo must not block. */
#define FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_LARGEFILE)

/* --- without openat2 ---------------------------------------------------- */

static int step(int folder, const char *name, bool last)
{
	if (!strcmp(name, ".."))
		return -EXDEV;
	return openat(folder, name,
		      last ? FLAGS | O_NOFOLLOW
			   : O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int open_stepwise(int root, const char *path)
{
	int folder = dup(root);

	if (!*path)
		path = ".";
	while (folder >= 0 && *path) {
		char        name[256];
		size_t      size = strcspn(path, "/");
		const char *rest = path + size + strspn(path + size, "/");
		int         next, err;

		if (size >= sizeof(name)) {
			close(folder);
			return -ENAMETOOLONG;
		}
		memcpy(name, path, size);
		name[size] = '\0';
		next = step(folder, name, !*rest);
		err = next == -EXDEV ? EXDEV : errno;
		close(folder);
		if (next < 0)
			return -err;
		folder = next;
		path = rest;
	}
	return folder < 0 ? -errno : folder;
}

/* --- openat2 ------------------------------------------------------------ */

int open_beneath(int root, const char *path, bool at_once)
{
	struct open_how how = { .flags = FLAGS,
				.resolve = RESOLVE_BENEATH |
					   RESOLVE_NO_MAGICLINKS };
	long            fd;

	if (at_once)
		how.resolve |= RESOLVE_CACHED;
	for (int tries = 0; tries < 8; tries++) {
		fd = syscall(SYS_openat2, root, *path ? path : ".", &how,
			     sizeof(how));
		if (fd >= 0)
			return (int)fd;
		if (errno != EAGAIN || at_once)
			break;
		/* EAGAIN: folders are being renamed. */
	}
	if (at_once && (errno == EINVAL || errno == ENOSYS || errno == EPERM))
		return -EAGAIN; /* no RESOLVE_CACHED before Linux 5.12 */
	if (errno == ENOSYS || errno == EPERM)
		return open_stepwise(root, path);
	return -errno;
}
