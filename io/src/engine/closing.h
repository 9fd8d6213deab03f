/* SPDX-License-Identifier: Apache-2.0 */
/* closing.h - ends waits on a descriptor that another thread closes.
 *
 *	caller   reads the number of closings, then tries the operation
 *	waiter   counts its wait by descriptor, then checks whether fd was
 *	         recorded as closed
 *	closer   n = ++closings, recorded for fd; removes fd from the epoll
 *	         descriptors that may have it; close(fd); reads the wait
 *	         counts of all backends. If a backend may wait on fd: adds fd
 *	         to its list, sets its `pending`, and wakes its worker
 *	worker   ends its waits on fd that began before n
 *
 * The number fd may be reused before the worker checks. Waits on the new
 * descriptor began at n or later, because it was opened after the close().
 *
 * Either the closer sees the count, or the kernel started the wait after the
 * close(), when fd is invalid or names something else: each side writes, fences
 * and reads. Waits that begin between n and the close() may be on the old
 * descriptor or fail: they are retried.
 *
 * A request may wait several times. It counts as begun when its call began, so
 * that none of its waits is on the next descriptor with the number. n is
 * recorded before the number can be reused, also if there are no waits, so a
 * retry or a first wait sees it. No other fiber runs between the beginning of a
 * call and its first attempt. One case is not noticed, as with close() itself:
 * a thread closes and opens while another is between a check and the system
 * call that follows it.
 *
 * A closer waits for no other thread: a worker may be busy, or a bound thread
 * may be outside of the library.
 */
#ifndef SN_CLOSING_H
#define SN_CLOSING_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "sennit/base.h"
#include "sennit/poller.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>

/* Wait counts of a backend. Descriptors that are equal modulo this share
 * one. */
#define IO_CLOSING_COUNTS 256u

/* Words of the bit set. Higher descriptors count as registered. */
#define IO_CLOSING_REGISTERED 2048u

struct by_fd;
struct by_fds;
struct io_backend;

/* The state of one backend. */
struct io_closing {
	a_u32    waits[IO_CLOSING_COUNTS]; /* owner writes: waits by
					    * descriptor */
	a_u32    pending; /* any sets: check the waits; owner clears */
	int     *closed;  /* under the lock of closing.c: which descriptors */
	uint32_t closed_count, closed_room; /* under the lock of closing.c */
	bool     closed_more; /* the same: the list is incomplete, check all
			       * waits */
	a_u32   *registered;  /* fixed; its bits any: descriptors that `epoll`
			       * may have. NULL: no epoll */
	int      epoll;       /* fixed: epoll descriptor */
	sennit_poller      *poller; /* fixed */
	struct io_closing  *next;   /* under the lock of closing.c */
	struct io_closing **pprev;
};

/* The number of closings so far. */
extern a_u64 sn_io_closings;

/* The number of closings. A wait reads it when it begins and compares it
 * later. */
static inline uint64_t sn_io_closing_now(void)
{
	return a_load_acq(&sn_io_closings); /* <- closing.count */
}

static inline a_u32 *sn_io_closing_waits(struct io_closing *c, int fd)
{
	return &c->waits[(uint32_t)fd % IO_CLOSING_COUNTS];
}

/* Owner only: count a wait on fd, before the kernel is asked. */
static inline void sn_io_closing_begin(struct io_closing *c, int fd)
{
	a_u32 *count = sn_io_closing_waits(c, fd);

	a_store_rlx(count, a_load_rlx(count) + 1);
	a_fence(); /* <-> closing.look: counted, before asking the kernel */
}

/* Owner only: the wait has ended. */
static inline void sn_io_closing_end(struct io_closing *c, int fd)
{
	a_u32 *count = sn_io_closing_waits(c, fd);

	a_store_rlx(count, a_load_rlx(count) - 1);
}

/* The result of a wait on fd that began at `begun`: 0, -ECANCELED (fd was
 * closed) or -EINTR (retry). */
int sn_io_closing_end_of(int fd, uint64_t begun);

/* Whether fd was closed, so that its number may have been reused. Checked after
 * a wait was counted, and again when it has ended. */
static inline bool sn_io_closing_is_over(int fd, uint64_t begun)
{
	return sn_io_closing_end_of(fd, begun) == -ECANCELED;
}

/* The same for a wait on several descriptors. */
int sn_io_closing_end_of_any(const struct pollfd *fds, size_t count,
			     uint64_t begun);

static inline bool sn_io_closing_is_pending(const struct io_closing *c)
{
	return a_load_rlx(&c->pending); /* a stale 0 is harmless: a wake
					 * follows */
}

typedef void sn_io_closing_look(struct io_backend *b, struct by_fd *n);

COLD void sn_io_closing_take_pending(struct io_backend *b, struct by_fds *waits,
				     sn_io_closing_look *look);

/* Owner only: check the waits on descriptors that others may have closed, and
 * end them, among them the waits on several descriptors. The cost does not
 * depend on the number of waits on other descriptors. */
static inline void sn_io_closing_take(struct io_backend  *b,
				      struct io_closing  *c,
				      struct by_fds      *waits,
				      sn_io_closing_look *look)
{
	if (unlikely(sn_io_closing_is_pending(c)))
		sn_io_closing_take_pending(b, waits, look);
}

/* Owner only: record fd, which is about to be added to the epoll descriptor. */
static inline void sn_io_closing_register(struct io_closing *c, int fd)
{
	const uint32_t at = (uint32_t)fd / 32, bit = 1u << (uint32_t)fd % 32;

	/* Only this thread sets the bit. A close of fd clears it. */
	if (at < IO_CLOSING_REGISTERED &&
	    !(a_load_rlx(&c->registered[at]) & bit))
		a_or_rlx(&c->registered[at], bit);
}

/* Add c to the backends that a closer checks, or remove it. The closer wakes p.
 * Returns 0 or a negative errno. */
int  sn_io_closing_add(struct io_closing *c, sennit_poller *p);
void sn_io_closing_remove(struct io_closing *c);

/* Close fd. own: the caller's backend, whose waits on fd have already been
 * ended, or NULL. Returns 0 or the negative errno of close(). */
int sn_io_closing_close(struct io_closing *own, int fd);

/* fd is new, and its number was last closed without the library's knowledge:
 * end the waits that began before. */
void sn_io_closing_reused(int fd);

/* A wait of an unbound thread, in its stack frame. */
struct io_thread_wait {
	const struct pollfd    *fds; /* waits on these */
	size_t                  count;
	bool                    notified;
	uint64_t                begun;
	struct io_thread_wait  *next; /* under the lock of closing.c */
	struct io_thread_wait **pprev;
};

/* Begin the wait. Returns a descriptor that the thread must poll as well, for
 * POLLIN, or -1 if there is none: then the thread must check periodically. */
int sn_io_closing_begin_thread(struct io_thread_wait *t,
			       const struct pollfd *fds, size_t count,
			       uint64_t begun);

/* End the wait. Returns 0, or as sn_io_closing_end_of_any(). */
int sn_io_closing_end_thread(struct io_thread_wait *t);

/* --- close on fork -------------------------------------------------------- */

/* Descriptors that the child of a fork closes.
 *
 * A child has no workers. Its copies of their epoll, event and ring descriptors
 * would only keep those alive, and only the parent may submit to its rings.
 *
 * The child reads the list with a single thread, but other threads of the
 * parent may have been anywhere when it forked. A descriptor is in the list
 * from after it was opened until before it is closed. A fork just outside of
 * that leaves one descriptor open in the child. The child never closes an
 * unrelated descriptor.
 */

/* Add fd. Returns 0 or -ENOMEM. */
int sn_close_on_fork_add(int fd);

/* Whether fd may be in the list: it is no file, connection or pipe. A program
 * may have closed all descriptors and opened one of these with the same
 * number. */
bool sn_close_on_fork_is_kept(int fd);

/* Remove fd, and close it if it may be in the list. -1: do nothing. */
void sn_close_on_fork_close(int fd);

/* Remove fd, which is about to be closed elsewhere. */
void sn_close_on_fork_forget(int fd);

/* --- refusal -------------------------------------------------------------- */

/* epoll or io_uring worked before and now fails.
 *
 * A temporary error passes, and the worker retries. With a permanent one every
 * call would hang, so the process ends with a message.
 */

struct refusal {
	sennit_time since; /* first error in a row; 0: none */
	uint32_t    count; /* errors in a row */
};

/* Record an error, and abort if it is permanent. `of`: "epoll" or
 * "io_uring". */
COLD void sn_io_refusal_note(struct refusal *r, int err, const char *of);

/* Check the result of a call: a negative errno, or anything else. */
static inline void sn_io_refusal_check(struct refusal *r, int result,
				       const char *of)
{
	if (unlikely(result < 0))
		sn_io_refusal_note(r, result, of);
	else
		r->since = 0;
}

#endif
