/* SPDX-License-Identifier: Apache-2.0 */
/* watches.h - the known sockets that a worker's epoll descriptor watches for
 * good, edge-triggered: a wait on them costs no system call.
 *
 *	number --> the use for which it is watched, the events watched for, and
 *	           those that came and may still hold
 *
 * An edge comes once. So an event that no wait wanted is kept in `may_hold`
 * until somebody has tried in vain, or has received less than there was room
 * for, which with TCP means that there was no more. An edge that comes after
 * that is still in the kernel.
 *
 * A wait relies on the watch though the number may mean another descriptor by
 * now, which nobody watches (known_sockets.h). So the watch is made again for
 * each wait that has lasted for WATCH_TRUST, or as soon as the worker has slept
 * without an event: EPOLL_CTL_MOD reports what is there, and says where there
 * is no watch. That much late a wait is at most, and only if a known socket was
 * closed by close() and its number is no connection of this library's now.
 */
#ifndef SN_IO_WATCHES_H
#define SN_IO_WATCHES_H

#include "io/known_sockets.h"
#include "sennit/base.h"

#include <stdint.h>
#include <sys/epoll.h>

#define WATCH_TRUST (10 * SENNIT_MILLISECOND)

/* What ends a receive's wait, or means that it would not have to wait. */
#define WATCH_RECEIVABLE (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)

struct watch {
	uint32_t use; /* 0: there is none */
	uint16_t events;
	uint16_t may_hold;
};

/* A worker's. All zeros: none. */
struct watches {
	const sennit_allocator *memory;
	struct watch           *of; /* by number */
	uint32_t                count;
};

void sn_io_watches_free(struct watches *w);

/* Where the watch of fd, a known socket, is or comes to be. NULL: fd is not
 * known, or there is no memory. */
struct watch *sn_io_watches_place(struct watches *w, int fd);

/* The watch of fd. NULL: there is none, or it is of an earlier use. */
static inline struct watch *sn_io_watches_find(const struct watches *w, int fd)
{
	uint32_t use = sn_io_known_use(fd);

	return use && (uint32_t)fd < w->count && w->of[fd].use == use
		       ? &w->of[fd]
		       : NULL;
}

#endif
