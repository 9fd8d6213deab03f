/* SPDX-License-Identifier: Apache-2.0 */
/* several.h - calls that wait on several descriptors, which others may close.
 *
 * A call makes an epoll descriptor, its set, and waits on that. So a close of a
 * member ends the wait on the set. Each member is counted for closing.h.
 *
 * Owned by one worker, as its backend is.
 */
#ifndef SN_IO_SEVERAL_H
#define SN_IO_SEVERAL_H

#include "io/backend.h"

/* In the frame of the fiber that waits. */
struct io_several {
	const struct pollfd *fds;
	size_t               count;
	int                  set;
	uint64_t             begun; /* for closing.h */
	struct io_several   *next;
	struct io_several  **pprev;
};

/* The wait begins, before the set is made; fds and count are given. */
void sn_io_several_begin(struct io_backend *b, struct io_several *s);

/* It has ended. 0 or as sn_io_closing_end_of_any(). */
int sn_io_several_end(struct io_backend *b, struct io_several *s);

/* End those on fd, which is about to be closed. */
void sn_io_several_forget(struct io_backend *b, int fd);

/* End those on what others have closed. */
void sn_io_several_end_closed(struct io_backend *b);

#endif
