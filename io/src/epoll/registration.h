/* SPDX-License-Identifier: Apache-2.0 */
/* registration.h - the interest list of a worker's epoll descriptor.
 *
 *	known sockets  watched permanently, edge-triggered: see below
 *	others         armed for one event at a time (EPOLLONESHOT), for all
 *	               events that their waits want together
 *
 * The data of an event is the descriptor, and in the upper 32 bits the use of
 * the known socket, or 0.
 */
#ifndef SN_REGISTRATION_H
#define SN_REGISTRATION_H

#include "base/atomic.h"
#include "base/list.h"
#include "base/torture.h"
#include "engine/by_fd.h"
#include "sennit/base.h"
#include "sennit/poller.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

/* --- ready waits ---------------------------------------------------------- */

/* Waits until a descriptor is ready. Each is a record in its fiber's frame. */

struct ready_wait {
	sennit_poller_op op;
	struct by_fd     by;
	int              fd;
	uint32_t         events; /* epoll's */
	uint64_t         begun;  /* sn_io_closing_now() at the beginning */
	bool             trusts; /* it relies on a watch, since then */
	sennit_time      since;
	struct link      link;
};

struct ready_waits {
	struct by_fds by;
	struct link  *trusting; /* those that rely on a watch; oldest first */
};

static inline struct ready_wait *sn_ready_wait_of(const struct by_fd *n)
{
	return (struct ready_wait *)((char *)(uintptr_t)n -
				     offsetof(struct ready_wait, by));
}

void sn_ready_waits_remove(struct ready_waits *w, struct ready_wait *n);

/* n relies on a watch from now on, or no longer. */
void sn_ready_waits_trust(struct ready_waits *w, struct ready_wait *n,
			  sennit_time now);
void sn_ready_waits_distrust(struct ready_waits *w, struct ready_wait *n);

/* The first wait that relies on a watch since `latest` or earlier, or NULL. */
static inline struct ready_wait *sn_ready_waits_trusting(
	const struct ready_waits *w, sennit_time latest)
{
	struct ready_wait *n;

	if (!w->trusting)
		return NULL;
	n = (struct ready_wait *)((char *)w->trusting -
				  offsetof(struct ready_wait, link));
	return n->since <= latest ? n : NULL;
}

/* --- known sockets -------------------------------------------------------- */

/* The TCP sockets that this library has accepted or connected, by number.
 *
 *	number --> its use, odd while the socket is known; each accept, connect
 *	           and sennit_close() changes it
 *
 * A program may close() a known socket, and the system may reuse the number,
 * without the library's knowledge. So a use is a hint. Code that relies on it
 * checks it with the kernel after some time (see the watches).
 */

/* Sockets with higher numbers are not known. */
#define KNOWN_SOCKETS_MOST 65536u
#define KNOWN_SOCKETS      TORTURED(64u, KNOWN_SOCKETS_MOST)

/* any: a hint */
extern a_u32 sn_io_known_uses[KNOWN_SOCKETS_MOST];

/* The use of fd; 0: it is not known. */
static inline uint32_t sn_io_known_use(int fd)
{
	uint32_t use;

	if ((uint32_t)fd >= KNOWN_SOCKETS)
		return 0;
	use = a_load_rlx(&sn_io_known_uses[fd]);
	return use % 2 ? use : 0;
}

/* fd is a new connection. Returns whether the number was that of a known socket
 * whose close we did not see. */
bool sn_io_known_begin(int fd);

/* fd is about to be closed. */
void sn_io_known_end(int fd);

/* --- watches -------------------------------------------------------------- */

/* The known sockets that a worker's epoll descriptor watches permanently,
 * edge-triggered: a wait on them costs no system call.
 *
 *	number --> the use for which it is watched, the watched events, and the
 *	           events that came and may still hold
 *
 * An edge is reported once. So `may_hold` keeps an event that no wait wanted.
 * It is cleared when an attempt gets -EAGAIN or receives less than there was
 * room for, which with TCP means that nothing is left. An edge that comes after
 * that is still in the kernel.
 *
 * A wait relies on the watch although the number may have been reused for a
 * descriptor that is not watched. So the watch is renewed for each wait that
 * has lasted for WATCH_TRUST, or as soon as the worker has slept without an
 * event: EPOLL_CTL_MOD reports the current events, and fails if there is no
 * watch. This is how late a wait can be, and only if the program closed a known
 * socket by close() and its number is not a connection of this library now.
 */

#define WATCH_TRUST (10 * SENNIT_MILLISECOND)

/* Events that end a receive's wait, or mean that it need not wait. */
#define WATCH_RECEIVABLE (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)

struct watch {
	uint32_t use; /* 0: no watch */
	uint16_t events;
	uint16_t may_hold;
};

/* The watches of a worker. All zeros: none. */
struct watches {
	const sennit_allocator *memory;
	struct watch           *of; /* by descriptor */
	uint32_t                count;
};

void sn_io_watches_free(struct watches *w);

/* The entry for fd, if fd is a known socket. NULL: it is not, or there is no
 * memory. */
struct watch *sn_io_watches_place(struct watches *w, int fd);

/* The watch of fd. NULL: there is none, or it belongs to an earlier use. */
static inline struct watch *sn_io_watches_find(const struct watches *w, int fd)
{
	uint32_t use = sn_io_known_use(fd);

	return use && (uint32_t)fd < w->count && w->of[fd].use == use
		       ? &w->of[fd]
		       : NULL;
}

/* --- interest ------------------------------------------------------------- */

struct interest {
	int                 epoll;
	struct ready_waits *waits;
	struct watches     *watches;
	struct io_closing  *closing;
	sennit_time         now; /* when the kernel was last asked */
};

/* Arm fd for the events that all its waits want, unless it is watched. Returns
 * 0 or a negative errno. */
int sn_interest_arm(struct interest *e, int fd);

/* Begin the wait n, which is in `waits`. tried: see request.h. Returns 0 or a
 * negative errno. */
int sn_interest_begin(struct interest *e, struct ready_wait *n, bool tried);

/* Renew the watches on which waits rely since `latest` or earlier, until one
 * fails. Returns the descriptor of that one, or -1. */
int sn_interest_check(struct interest *e, sennit_time latest);

#endif
