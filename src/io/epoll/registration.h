/* SPDX-License-Identifier: Apache-2.0 */
/* registration.h - what a worker's epoll descriptor is told to report: its
 * interest list.
 *
 *	known sockets  watched for good, edge-triggered: see below
 *	others         armed for one event at a time (EPOLLONESHOT), for all
 *	               that their waiters want together
 *
 * The data of an event is the descriptor's number, and above it the use of the
 * known socket, or 0.
 */
#ifndef SN_REGISTRATION_H
#define SN_REGISTRATION_H

#include "base/atomic.h"
#include "base/list.h"
#include "base/torture.h"
#include "sennit/base.h"
#include "sennit/poller.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

/* --- ready waits ---------------------------------------------------------- */

/* Who waits until a descriptor is ready, by descriptor.
 *
 * Each is a record in its fiber's frame, in a list of those whose descriptors
 * are equal in their low bits. There are about as many lists as records.
 *
 * Owned by one worker.
 */

struct ready_wait {
	sennit_poller_op    op;
	struct ready_wait  *next;
	struct ready_wait **pprev;
	int                 fd;
	uint32_t            events; /* of epoll */
	uint64_t            begun;  /* for closing.h */
	bool                trusts; /* a watch, since then */
	sennit_time         since;
	struct link         link;
};

struct ready_waits {
	const sennit_allocator *memory;
	struct ready_wait     **lists; /* mask + 1 of them */
	uint32_t                mask;
	uint32_t                count;
	struct link            *trusting; /* those that trust; oldest first */
};

/* 0 or -ENOMEM. */
int  sn_ready_waits_init(struct ready_waits *w, const sennit_allocator *memory);
void sn_ready_waits_free(struct ready_waits *w);

/* The list that has those on fd, others among them. */
static inline struct ready_wait **sn_ready_waits_on(const struct ready_waits *w,
						    int fd)
{
	return &w->lists[(uint32_t)fd & w->mask];
}

void sn_ready_waits_add(struct ready_waits *w, struct ready_wait *n);
void sn_ready_waits_remove(struct ready_waits *w, struct ready_wait *n);

/* n trusts a watch from now on, or no more. */
void sn_ready_waits_trust(struct ready_waits *w, struct ready_wait *n,
			  sennit_time now);
void sn_ready_waits_distrust(struct ready_waits *w, struct ready_wait *n);

/* The first that began to trust at `latest` or before. NULL: there is none. */
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

/* The TCP sockets that this library has accepted or connected, by their
 * numbers.
 *
 *	number --> its use, odd while the socket is known; each accept, connect
 *	           and sennit_close() changes it
 *
 * A program may close() a known socket, and get the number again for something
 * else, without the library's knowledge. So a use is a hint: who relies on it
 * checks it with the kernel after some time (registration.h).
 */

/* Sockets with higher numbers are not known. */
#define KNOWN_SOCKETS_MOST 65536u
#define KNOWN_SOCKETS      TORTURED(64u, KNOWN_SOCKETS_MOST)

/* any: whose hint it is */
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

/* fd is a new connection. Whether it was a known one before, of which nobody
 * has told the end. */
bool sn_io_known_begin(int fd);

/* fd is about to be closed. */
void sn_io_known_end(int fd);

/* --- watches -------------------------------------------------------------- */

/* The known sockets that a worker's epoll descriptor watches for good,
 * edge-triggered: a wait on them costs no system call.
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
 * now, which nobody watches (registration.h). So the watch is made again for
 * each wait that has lasted for WATCH_TRUST, or as soon as the worker has slept
 * without an event: EPOLL_CTL_MOD reports what is there, and says where there
 * is no watch. That much late a wait is at most, and only if a known socket was
 * closed by close() and its number is no connection of this library's now.
 */

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

/* --- interest ------------------------------------------------------------- */

struct interest {
	int                 epoll;
	struct ready_waits *waits;
	struct watches     *watches;
	sennit_time         now; /* of the last look at the kernel */
};

/* Arm fd for all that its waiters want, unless it is watched; 0 or a negative
 * errno. */
int sn_interest_arm(struct interest *e, int fd);

/* The wait n, which is among the others, begins; tried: see request.h. 0 or a
 * negative errno. */
int sn_interest_begin(struct interest *e, struct ready_wait *n, bool tried);

/* Check the watches of waits that began at `latest` or earlier, up to one where
 * that fails. Returns its descriptor; -1: there is none. */
int sn_interest_check(struct interest *e, sennit_time latest);

#endif
