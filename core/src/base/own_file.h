/* SPDX-License-Identifier: Apache-2.0 */
/* own_file.h - a file or socket that the library keeps open for long.
 *
 * The program may close the descriptor, as daemons close all that they have,
 * and open another file that gets its number. So before the library writes to
 * the descriptor or closes it, it looks whether that is still its own. A
 * program that does this at the same moment is not found out. */
#ifndef SN_OWN_FILE_H
#define SN_OWN_FILE_H

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file, FIFO, socket or pipe. The kernel has one inode for all eventfds,
 * epoll sets and rings. */
struct own_file {
	int   fd; /* -1: none */
	dev_t device;
	ino_t inode;
};

/* fd has just been opened, or is negative. */
static inline struct own_file sn_own_file(int fd)
{
	struct own_file f = { .fd = -1 };
	struct stat     st;

	if (fd >= 0 && !fstat(fd, &st)) {
		f.fd = fd;
		f.device = st.st_dev;
		f.inode = st.st_ino;
	}
	return f;
}

/* Whether the descriptor is still the one that was opened.
 * Async-signal-safe. */
static inline bool sn_own_file_is_there(const struct own_file *f)
{
	struct stat st;

	return f->fd >= 0 && !fstat(f->fd, &st) && st.st_dev == f->device &&
	       st.st_ino == f->inode;
}

/* Close it, if it is there. */
static inline void sn_own_file_close(struct own_file *f)
{
	if (sn_own_file_is_there(f))
		close(f->fd);
	f->fd = -1;
}

#endif
