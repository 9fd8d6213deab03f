/* SPDX-License-Identifier: Apache-2.0 */
/* closing.h - who waits on a descriptor that somebody else closes.
 *
 *	who calls    notes how many closings there were, then tries
 *	who waits    counts the wait by its descriptor; looks what is noted
 *	who closes   n = ++closings, noted for fd; close(fd); looks at the
 *	             counts of all backends. Where somebody may wait: sets the
 *	             backend's `pending`, and wakes its worker
 *	the worker   ends its waits on fd that began before n
 *
 * A number may mean another descriptor before the worker looks. Waits on that
 * began at n or later, as its opener came after the close().
 *
 * Either the closer sees the count, or the kernel has taken on the wait after
 * the close(), when fd means nothing or something else: each side writes,
 * fences and looks. Waits that begin between n and the close() may be on the
 * old descriptor or fail: they try again.
 *
 * A request may wait several times. It counts as begun when its call began, so
 * that none of its waits is on what the number means next. n is noted before
 * the number can mean something else, whether somebody waits or not: so who
 * tries again, or waits for the first time, sees it. Nothing lets others run
 * between the beginning and the first try. Only a thread that closes and opens
 * just while another is in between a look and the system call that follows is
 * not noticed, as with close().
 *
 * Who closes waits for nobody: a worker may be busy, or a bound thread outside
 * of the library.
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

/* Descriptors that are equal in this share a count. */
#define IO_CLOSING_COUNTS 256u

/* A backend's part. */
struct io_closing {
	a_u32 waits[IO_CLOSING_COUNTS]; /* owner writes: by descriptor */
	a_u32 pending; /* any sets: look at your waits; owner clears */
	sennit_poller      *poller; /* fixed */
	struct io_closing  *next;   /* under the lock of closing.c */
	struct io_closing **pprev;
};

/* Closings so far. */
extern a_u64 sn_io_closings;

/* When a wait begins: what it compares later. */
static inline uint64_t sn_io_closing_now(void)
{
	return a_load_acq(&sn_io_closings); /* <- closing.count */
}

static inline a_u32 *sn_io_closing_waits(struct io_closing *c, int fd)
{
	return &c->waits[(uint32_t)fd % IO_CLOSING_COUNTS];
}

/* Owner only: a wait on fd begins, before the kernel is asked. */
static inline void sn_io_closing_begin(struct io_closing *c, int fd)
{
	a_u32 *count = sn_io_closing_waits(c, fd);

	a_store_rlx(count, a_load_rlx(count) + 1);
	a_fence(); /* <-> closing.look: counted, before asking the kernel */
}

/* Owner only: it has ended. */
static inline void sn_io_closing_end(struct io_closing *c, int fd)
{
	a_u32 *count = sn_io_closing_waits(c, fd);

	a_store_rlx(count, a_load_rlx(count) - 1);
}

/* What has become of a wait on fd that began at `begun`: 0, -ECANCELED (fd was
 * closed) or -EINTR (try again). */
int sn_io_closing_end_of(int fd, uint64_t begun);

/* Whether fd was closed, so that its number may mean something else. Asked once
 * a wait is counted, and when it has ended. */
static inline bool sn_io_closing_is_over(int fd, uint64_t begun)
{
	return sn_io_closing_end_of(fd, begun) == -ECANCELED;
}

/* The same of a wait on all of these. */
int sn_io_closing_end_of_any(const struct pollfd *fds, size_t count,
			     uint64_t begun);

/* Owner only: whether there are waits to look at, which is so once. */
static inline bool sn_io_closing_take(struct io_closing *c)
{
	/* Who sets it wakes the worker. */
	if (likely(!a_load_rlx(&c->pending)))
		return false;
	return a_swap_acq(&c->pending, 0); /* <- closing.pending */
}

static inline bool sn_io_closing_is_pending(const struct io_closing *c)
{
	return a_load_rlx(&c->pending); /* a stale answer: the wake follows */
}

/* From now on, and no more, who closes looks at c, and wakes p. 0 or a negative
 * errno. */
int  sn_io_closing_add(struct io_closing *c, sennit_poller *p);
void sn_io_closing_remove(struct io_closing *c);

/* Close fd; own: of the caller's backend, whose waits have been ended, or NULL.
 * Returns 0 or close()'s negative errno. */
int sn_io_closing_close(struct io_closing *own, int fd);

/* fd is new, and its number was closed before without the library's knowledge:
 * ends the waits that began before. */
void sn_io_closing_reused(int fd);

/* An unbound thread's wait, in its frame. */
struct io_thread_wait {
	const struct pollfd    *fds; /* on these */
	size_t                  count;
	bool                    told;
	uint64_t                begun;
	struct io_thread_wait  *next; /* under the lock */
	struct io_thread_wait **pprev;
};

/* Begin it. Returns the descriptor that the thread polls besides for POLLIN, or
 * -1: there is none, it must look at times. */
int sn_io_closing_begin_thread(struct io_thread_wait *t,
			       const struct pollfd *fds, size_t count,
			       uint64_t begun);

/* End it. 0 or as sn_io_closing_end_of_any(). */
int sn_io_closing_end_thread(struct io_thread_wait *t);

/* --- close on fork -------------------------------------------------------- */

/* Descriptors that the child of a fork closes.
 *
 * A child has no workers. Its copies of their epoll, event and ring descriptors
 * would only keep those alive, and a ring is the parent's to submit to.
 *
 * The list is looked at after a fork by a process with one thread, whatever
 * other threads did at that moment: a descriptor is in it after it was opened
 * and until before it is closed. A fork in between leaves one descriptor open
 * in the child; it never closes another's.
 */

/* Remember fd. 0 or -ENOMEM. */
int sn_close_on_fork_add(int fd);

/* Forget fd and close it; -1: there is none. */
void sn_close_on_fork_close(int fd);

/* Forget fd, which is about to be closed elsewhere. */
void sn_close_on_fork_forget(int fd);

/* --- refusal -------------------------------------------------------------- */

/* What a worker waits with has worked, and is refused.
 *
 * An error of a while passes, and the worker comes again. One that stays would
 * make every call hang: the process ends with a message.
 */

struct refusal {
	sennit_time since; /* the first error in a row; 0: it works */
	uint32_t    count; /* in a row */
};

/* A call has failed: aborts if it is refused for good. `of`: what it is. */
COLD void sn_io_refusal_note(struct refusal *r, int err, const char *of);

/* What a call returned: a negative errno, or anything else. */
static inline void sn_io_refusal_check(struct refusal *r, int result,
				       const char *of)
{
	if (unlikely(result < 0))
		sn_io_refusal_note(r, result, of);
	else
		r->since = 0;
}

#endif
