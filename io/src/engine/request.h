/* SPDX-License-Identifier: Apache-2.0 */
/* request.h - one operation on a descriptor, as its caller requests it.
 *
 * A request is in its caller's stack frame. It and its buffers stay valid until
 * the call returns. */
#ifndef SN_REQUEST_H
#define SN_REQUEST_H

#include "base/compiler.h"
#include "base/list.h"
#include "engine/by_fd.h"
#include "engine/closing.h"
#include "epoll/registration.h"
#include "sennit/base.h"
#include "sennit/poller.h"
#include "sennit/stream.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* Print the misused call, the reason and the thread, and abort. */
static inline _Noreturn void sn_io_misuse(const char *call, const char *why)
{
	fprintf(stderr, "sennit: misuse of %s: %s [thread %ld]\n", call, why,
		syscall(SYS_gettid));
	abort();
}

/* --- backend -------------------------------------------------------------- */

/* What the epoll and io_uring backends of a worker's poller provide.
 *
 *	epoll   reports when a descriptor is ready; the operation is then tried
 *	uring   does that too, and also passes whole operations to the kernel
 *
 * A backend belongs to one worker. Only that worker's fibers call it.
 */

struct io_request;
struct io_several;
struct sennit_stream;

/* A wait until a descriptor is ready. */
struct io_ready {
	int         fd;
	short       events; /* of poll() */
	bool        tried;  /* the caller has just got -EAGAIN; if false, an
			     * event that is already there must end the wait,
			     * too */
	sennit_time look;   /* no event may announce what it waits for: the
			     * caller tries again after this time, and then
			     * after longer ones; 0: an event does */
	uint64_t    begun;  /* sn_io_closing_now() when the caller's request
			     * began */
	sennit_time deadline;
	sennit_selection *select; /* the select that waits; NULL: none */
};

/* Streams that receive into buffers of the backend (sennit/stream.h). */
struct io_stream_ops {
	/* Returns 0, or a negative errno if there are no buffers. */
	int (*open)(struct sennit_stream *s);

	/* As sennit_stream_next(). -ENOBUFS if all buffers are in use. */
	ptrdiff_t (*next)(struct sennit_stream *s, void **bytes,
			  sennit_time deadline);
	void (*release)(struct sennit_stream *s);
	void (*close)(struct sennit_stream *s);
};

/* Operations of one worker between two yields; see sn_io_let_others_run(). */
#define IO_AT_ONCE 64u

/* Number of guesses. Of sockets that are equal modulo this, the last one to
 * receive has it. */
#define IO_GUESSES 256u

struct io_backend {
	sennit_poller           p; /* first */
	const sennit_allocator *memory;
	struct io_closing       closing;
	struct by_fds           members; /* descriptors of calls that wait on
					  * several */
	struct watches          watches; /* of epoll; empty with io_uring */
	uint32_t                at_once; /* operations left before a yield */
	uint32_t                streams; /* open ones */
	int32_t drained[IO_GUESSES]; /* a socket whose last receive was short,
				       * plus 1: its next one would get -EAGAIN.
				       * A guess, for sockets that are not
				       * watched */
	const struct io_backend_ops {
		sennit_poller_ops poller; /* first; p.ops points to it */
		const char       *name;

		/* Wait until w->fd has one of the events. Returns 0,
		 * -ETIMEDOUT, -ECANCELED (also if fd was closed), -EPERM for a
		 * descriptor that cannot be polled, such as a file, or another
		 * negative errno. May return 0 spuriously. */
		int (*wait_ready)(struct io_backend     *b,
				  const struct io_ready *w);

		/* Pass the whole request to the kernel. Returns the kernel's
		 * result, -EAGAIN for a descriptor with O_NONBLOCK, -EINTR to
		 * retry, or -ENOSYS for a request that this backend does not
		 * support. NULL: it supports none. */
		ptrdiff_t (*perform)(struct io_backend       *b,
				     const struct io_request *r, uint64_t begun,
				     sennit_time deadline);

		/* End the waits of the worker's fibers on fd, with
		 * -ECANCELED. */
		void (*forget)(struct io_backend *b, int fd);

		const struct io_stream_ops *stream; /* NULL: not supported */
	} * ops;
};

/* --- request -------------------------------------------------------------- */

/* Operations that io_uring can do. */
enum io_kind {
	IO_POLLED = 0, /* none of them: tried when ready */
	IO_READV,
	IO_WRITEV,
	IO_RECV,
	IO_SEND,
	IO_RECVMSG,
	IO_SENDMSG,
	IO_ACCEPT,
	IO_CONNECT,
	IO_OPENAT,
	IO_FSYNC,
	IO_STATX,
	IO_UNLINKAT,
	IO_RENAMEAT,
	IO_MKDIRAT
};

/* The public calls take int64_t, whatever a program's off_t is. */
_Static_assert(sizeof(off_t) == sizeof(int64_t), "the library's offsets");

/* In place of an offset: use and update the file position. */
#define IO_POSITION ((off_t)-1)

struct statx;

/* The system call's result, or its negative errno. */
static inline ptrdiff_t sn_io_or_error(ptrdiff_t result)
{
	return result < 0 ? -errno : result;
}

struct io_request {
	/* Try without waiting. Returns the system call's result or a negative
	 * errno: -EAGAIN if it would wait, -EOPNOTSUPP if it cannot be tried
	 * without waiting. */
	ptrdiff_t (*attempt)(const struct io_request *r);
	/* The same, but it may wait. NULL: attempt never returns -EOPNOTSUPP,
	 * and fd is not a file. */
	ptrdiff_t (*block)(const struct io_request *r);
	enum io_kind kind;
	int          fd;
	short        events;    /* poll() events to wait for */
	bool         try_first; /* an attempt usually succeeds */
	int          flags;

	union {
		struct {
			void  *bytes;
			size_t size;
		};
		struct {
			const struct iovec *vector;
			int                 count;
			off_t               at;
		};
		struct msghdr *message;
		struct {
			struct sockaddr *address;
			socklen_t       *address_size; /* accept */
			socklen_t        size_of;      /* connect */
		};
		struct { /* fd: the directory of path */
			const char   *path;
			const char   *to_path;
			int           to_dir;
			mode_t        mode;
			unsigned      mask;
			struct statx *out;
		};
		off_t length;
	};
};

/* --- guesses -------------------------------------------------------------- */

/* Whether a receive from fd would probably get -EAGAIN. A guess holds for one
 * receive, and is about the number: sennit_close() on its worker takes it back.
 * After a close() or a close on another worker it is wrong for what gets the
 * number. The receive then waits before it tries. That ends at once if there
 * are bytes, an end or an error. But what the system refuses without an event,
 * a receive from a listener or from no socket, waits until the deadline. To see
 * each close would cost each receive a look at shared memory. */
static inline bool sn_io_guess_take(struct io_backend *b, int fd)
{
	int32_t *drained = &b->drained[(uint32_t)fd % IO_GUESSES];

	if (fd < 0 || *drained != fd + 1)
		return false;
	*drained = 0;
	return true;
}

/* A receive from fd got all that was there. */
static inline void sn_io_guess_drained(struct io_backend *b, int fd)
{
	b->drained[(uint32_t)fd % IO_GUESSES] = fd + 1;
}

static inline bool sn_io_is_short(const struct io_request *r, ptrdiff_t result)
{
	return result > 0 && (size_t)result < r->size;
}

/* --- time left ------------------------------------------------------------ */

/* The time left until a deadline, in the forms that system calls take. */

/* From `now` to the deadline; zero if that has passed. A 32-bit time_t limits
 * the result: the caller then wakes early and waits again. */
static inline struct timespec sn_io_time_left(sennit_time deadline,
					      sennit_time now)
{
	const sennit_time most = INT32_MAX * SENNIT_SECOND;
	sennit_time       left = deadline > now ? deadline - now : 0;

	if (sizeof(time_t) < sizeof(left) && left > most)
		left = most;
	return (struct timespec){ .tv_sec = (time_t)(left / SENNIT_SECOND),
				  .tv_nsec = (long)(left % SENNIT_SECOND) };
}

/* The same in milliseconds for poll() and similar calls, rounded up and one
 * hour at most. Returns -1, no limit, for NULL. */
static inline int sn_io_milliseconds(const struct timespec *left)
{
	if (!left)
		return -1;
	if (left->tv_sec >= 3600)
		return 3600 * 1000;
	return (int)left->tv_sec * 1000 +
	       (int)((left->tv_nsec + 999999) / 1000000);
}

/* --- fetch record --------------------------------------------------------- */

/* The record of a wait is in its fiber's stack frame, so each record is on a
 * page of its own. When the wait ends, the memory around the record is used as
 * well: below it the frames that wake the fiber, above it the frames that
 * return. Code that ends many waits prefetches the records of the next ones. */

/* How many events ahead of its turn a record is prefetched. */
#define IO_FETCH_AHEAD 4

/* The address may be any, also NULL. */
static inline void sn_io_fetch_record(const void *record)
{
	const uintptr_t first = (uintptr_t)record - (uintptr_t)3 * 64;

	for (unsigned line = 0; line < 8; line++)
		__builtin_prefetch((const void *)(first + line * 64));
}

/* --- order for ThreadSanitizer ------------------------------------------- */

/* ThreadSanitizer knows that a write() happens before the read() of its data.
 * It does not see preadv2(), pwritev2() and the operations of a ring. In its
 * builds these two functions make calls that transfer nothing and that it does
 * see. In other builds they are empty. */

#if defined(SN_TSAN) || defined(SENNIT_RACE)
#include <sys/socket.h>
#include <unistd.h>

/* Call before data is sent to fd. */
static inline void sn_io_tell_release(int fd)
{
	struct mmsghdr none;

	(void)!sendmmsg(fd, &none, 0, MSG_DONTWAIT);
}

/* Call after data was received from fd. */
static inline void sn_io_tell_acquire(int fd)
{
	char none;

	(void)!read(fd, &none, 0);
}
#else
static inline void sn_io_tell_release(int fd)
{
	(void)fd;
}

static inline void sn_io_tell_acquire(int fd)
{
	(void)fd;
}
#endif

/* --- several -------------------------------------------------------------- */

/* Calls that wait on several descriptors, any of which may be closed.
 *
 * Such a call makes an epoll descriptor, its set, and waits on that. Closing a
 * member ends the wait on the set. Each member is counted for closing.h.
 *
 * Owned by one worker, as its backend is.
 */

/* In the frame of the fiber that waits. */
struct io_several {
	const struct pollfd *fds;
	size_t               count;
	struct io_member    *members; /* `count` of them */
	int                  set;
	uint64_t             begun; /* sn_io_closing_now() at the beginning */
};

/* One descriptor of a set. */
struct io_member {
	struct by_fd       by;
	struct io_several *of;
};

/* Begin the wait, before the set is made. The caller has filled in fds, count
 * and members. */
void sn_io_several_begin(struct io_backend *b, struct io_several *s);

/* End the wait. Returns 0, or as sn_io_closing_end_of_any(). */
int sn_io_several_end(struct io_backend *b, struct io_several *s);

/* End the waits that have fd as a member: fd is about to be closed. */
void sn_io_several_forget(struct io_backend *b, int fd);

/* --- ring wait ------------------------------------------------------------ */

/* A request in a worker's ring, found by its descriptor. It is either a single
 * request, in the frame of the fiber that waits for its completion, or the
 * receive request of a stream. */

struct ring_wait {
	sennit_poller_op op; /* first; of a single request */
	struct by_fd     by;
	struct link      cancelled; /* in uring_backend.cancelled, if `next` */
	uint64_t         data;      /* user_data of its completions */
	int              fd;
	int              end;       /* result if it is cancelled; 0: it was not
				     * ended */
	bool             withdrawn; /* the kernel has not seen it */
	uint64_t         closings;  /* sn_io_closing_now() when it began */
};

/* --- stream record -------------------------------------------------------- */

/* The record of a stream.
 *
 *	idle --armed by next--> armed --last completion--> idle
 *	                          |  ^ each completion brings a buffer
 *	   cancel request, once   v  |
 *	                        stopping
 *
 * The kernel may use the record as long as `armed` or `stopping` is set:
 * completions of both requests carry its address. So close waits for both. A
 * completion without IORING_CQE_F_MORE is the last one of the receive request.
 *
 * If the ring has no buffer, and on other backends, next receives when the
 * socket is ready, into a buffer from the allocator.
 */

/* In place of a buffer number: no buffer. */
#define STREAM_NONE (-1)

struct sennit_stream {
	sennit_poller_op        op;      /* its fiber waits with this */
	const sennit_allocator *memory;  /* fixed; NULL: malloc() */
	struct io_backend      *backend; /* fixed; NULL: of a thread */
	int                     fd;      /* fixed */
	uint64_t                begun;   /* fixed: sn_io_closing_now() when it
					  * was opened */
	struct ring_wait        wait;    /* of the receive request */
	bool                    by_ring; /* fixed: uses buffers of a ring */
	bool                    armed, stopping; /* the kernel has this
						  * request */
	bool                    asked;   /* to stop, since it was armed */
	bool                    awaited; /* its fiber waits with `op` */
	bool                    dry;     /* the ring had no buffer */
	bool                    ended;   /* with the result `end` */
	int32_t                 end;
	uint32_t uncounted;   /* bytes received since the kernel last had no
			       * unhandled event of the request */
	uint32_t queued;      /* buffers that were received */
	int32_t  first, last; /* their numbers; STREAM_NONE */
	int32_t  held_number; /* the ring's buffer that the caller holds, or
			       * STREAM_NONE */
	void    *held;        /* the allocator's buffer that the caller holds,
			       * or NULL */
};

/* Check that no stream of *b is left open when its worker's thread ends. */
static inline void sn_stream_check_closed(const struct io_backend *b)
{
	if (unlikely(b->streams))
		sn_io_misuse("sennit_stream_open",
			     "a stream was left open when its worker's thread "
			     "ended");
}

#endif
