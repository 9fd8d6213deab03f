/* SPDX-License-Identifier: Apache-2.0 */
/* request.h - one operation on a descriptor, as its caller asks for it.
 *
 * A request lies in its caller's frame, as do the buffers that it names. */
#ifndef SN_REQUEST_H
#define SN_REQUEST_H

#include "base/compiler.h"
#include "io/engine/closing.h"
#include "io/epoll/registration.h"
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

/* Print which call was misused on which thread, and abort. */
static inline _Noreturn void sn_io_misuse(const char *call, const char *why)
{
	fprintf(stderr, "sennit: misuse of %s: %s [thread %ld]\n", call, why,
		syscall(SYS_gettid));
	abort();
}

/* --- backend -------------------------------------------------------------- */

/* What both backends of a worker's poller offer to operations.
 *
 *	epoll   tells when a descriptor is ready; the operation is then tried
 *	uring   does that too, and hands whole operations to the kernel
 *
 * A backend belongs to one worker, and only that worker's fibers call it.
 */

struct io_request;
struct io_several;
struct sennit_stream;

/* A wait until a descriptor is ready. */
struct io_ready {
	int         fd;
	short       events; /* of poll() */
	bool        tried;  /* the caller has just tried in vain; else what is
			     * there already must end the wait, too */
	uint64_t    begun;  /* closings when the caller's request began; see
			     * closing.h */
	sennit_time deadline;
	sennit_selection *select; /* it is that of a select; NULL: of none */
};

/* Streams with buffers of the backend's own (stream.h). */
struct io_stream_ops {
	/* 0, or a negative errno: it has no buffers. */
	int (*open)(struct sennit_stream *s);

	/* As sennit_stream_next, or -ENOBUFS: all are in use. */
	ptrdiff_t (*next)(struct sennit_stream *s, void **bytes,
			  sennit_time deadline);
	void (*release)(struct sennit_stream *s);
	void (*close)(struct sennit_stream *s);
};

/* Operations of one worker that end at once, one after the other, before the
 * fiber lets others run. */
#define IO_AT_ONCE 64u

/* Sockets whose numbers are equal in this share a guess. */
#define IO_GUESSES 256u

struct io_backend {
	sennit_poller           p; /* first */
	const sennit_allocator *memory;
	struct io_closing       closing;
	struct io_several      *several; /* calls that wait on several */
	struct watches          watches; /* of epoll; with io_uring: none */
	uint32_t                at_once; /* operations left before a yield */
	uint32_t                streams; /* that are open */
	bool drained[IO_GUESSES]; /* the last receive got less than it had room
				   * for: the next would find nothing. A guess,
				   * for sockets that are not watched */
	const struct io_backend_ops {
		sennit_poller_ops poller; /* first: p.ops */
		const char       *name;

		/* Wait until one of the events is there on w->fd. Returns 0,
		 * -ETIMEDOUT, -ECANCELED (also: fd was closed), -EPERM for a
		 * descriptor that cannot be waited for, as it is a file, or
		 * another negative errno value. May return 0 though nothing is
		 * there. */
		int (*wait_ready)(struct io_backend     *b,
				  const struct io_ready *w);

		/* Have the kernel do the request. Returns what it returned,
		 * -EAGAIN for a descriptor with O_NONBLOCK, -EINTR to try
		 * again, or -ENOSYS for a request that this backend does not
		 * know. NULL: it knows none. */
		ptrdiff_t (*perform)(struct io_backend       *b,
				     const struct io_request *r, uint64_t begun,
				     sennit_time deadline);

		/* End the waits of the worker's fibers on fd. */
		void (*forget)(struct io_backend *b, int fd);

		const struct io_stream_ops *stream; /* NULL: it has none */
	} * ops;
};

/* --- request -------------------------------------------------------------- */

/* What io_uring may be asked to do. */
enum io_kind {
	IO_POLLED = 0, /* nothing: tried when ready */
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

/* The offset that means a file's own position. */
#define IO_POSITION ((off_t)-1)

struct statx;

/* What a system call returned, or its negative errno. */
static inline ptrdiff_t sn_io_or_error(ptrdiff_t result)
{
	return result < 0 ? -errno : result;
}

struct io_request {
	/* Try without waiting. Returns what the system call does, or a negative
	 * errno: -EAGAIN if it would wait, -EOPNOTSUPP if it cannot be tried
	 * without waiting. */
	ptrdiff_t (*attempt)(const struct io_request *r);
	/* The same, which may wait. NULL: attempt never says -EOPNOTSUPP, and
	 * fd is no file. */
	ptrdiff_t (*block)(const struct io_request *r);
	enum io_kind kind;
	int          fd;
	short        events;    /* of poll(): what to wait for */
	bool         try_first; /* an attempt mostly succeeds */
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

/* --- time left ------------------------------------------------------------ */

/* How long the system may wait, as it wants to be told. */

/* From `now` to the deadline; nothing if that has passed. */
static inline struct timespec sn_io_time_left(sennit_time deadline,
					      sennit_time now)
{
	const sennit_time left = deadline > now ? deadline - now : 0;

	return (struct timespec){ .tv_sec = (time_t)(left / SENNIT_SECOND),
				  .tv_nsec = (long)(left % SENNIT_SECOND) };
}

/* The same in ms for poll() and its like, not less, and an hour at most; NULL:
 * without end. */
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

/* A record of who waits lies in its fiber's frame, on a page of its own, in the
 * midst of what is touched when the wait ends: below it what wakes the fiber,
 * above it the frames that return. Whoever ends many waits fetches the records
 * of the next ones. */

/* Events whose records are fetched before it is their turn. */
#define IO_FETCH_AHEAD 4

/* Any address; NULL, too. */
static inline void sn_io_fetch_record(const void *record)
{
	const uintptr_t first = (uintptr_t)record - (uintptr_t)3 * 64;

	for (unsigned line = 0; line < 8; line++)
		__builtin_prefetch((const void *)(first + line * 64));
}

/* --- told tsan ------------------------------------------------------------ */

/* ThreadSanitizer knows that what is done before a write() comes before what is
 * done after the read() of it. It does not see preadv2(), pwritev2() and what a
 * ring does, so in its builds two calls that do nothing tell it. Otherwise
 * these are empty. */

#if defined(SN_TSAN) || defined(SENNIT_RACE)
#include <sys/socket.h>
#include <unistd.h>

/* Before something is sent by fd. */
static inline void sn_io_tell_release(int fd)
{
	struct mmsghdr none;

	(void)!sendmmsg(fd, &none, 0, MSG_DONTWAIT);
}

/* After something was received by fd. */
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

/* Calls that wait on several descriptors, which others may close.
 *
 * A call makes an epoll descriptor, its set, and waits on that. So a close of a
 * member ends the wait on the set. Each member is counted for closing.h.
 *
 * Owned by one worker, as its backend is.
 */

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

/* --- ring wait ------------------------------------------------------------ */

/* A request of a worker's ring, by its descriptor: a lone one in the frame of
 * the fiber that waits for its completion, or the receiving one of a stream. */

struct ring_wait {
	sennit_poller_op   op; /* first; a lone one's */
	struct ring_wait  *next;
	struct ring_wait **pprev;
	uint64_t           data; /* what its completions carry */
	int                fd;
	int                end; /* what it ends with if it is cancelled; 0:
				 * nobody has ended it */
	bool               withdrawn; /* the kernel has not seen it */
	uint64_t           closings;  /* when it began: for closing.h */
};

/* --- stream record -------------------------------------------------------- */

/* The record of a stream.
 *
 *	resting --armed by next--> armed --last completion--> resting
 *	                             |  ^ each completion brings a buffer
 *	        asked to stop, once  v  |
 *	                          stopping
 *
 * The record is the kernel's as long as `armed` or `stopping` is set: a
 * completion of either request names it. So close waits for both. A completion
 * without IORING_CQE_F_MORE is the last one of the receiving request.
 *
 * Where the ring has no buffer, and on other backends, next receives when the
 * socket is ready, into a buffer of the allocator's.
 */

/* In place of a number of a buffer: none. */
#define STREAM_NONE (-1)

struct sennit_stream {
	sennit_poller_op        op;      /* its fiber waits by this */
	const sennit_allocator *memory;  /* fixed; NULL: libc's */
	struct io_backend      *backend; /* fixed; NULL: of a thread */
	int                     fd;      /* fixed */
	uint64_t                begun;   /* fixed: closings when it was
					  * opened; see closing.h */
	struct ring_wait        wait;    /* of its receiving request */
	bool                    by_ring; /* fixed: has buffers of a ring */
	bool                    armed, stopping; /* the kernel has a request */
	bool                    asked;   /* to stop, since it was armed */
	bool                    awaited; /* its fiber waits by `op` */
	bool                    dry;     /* the ring had no buffer */
	bool                    ended;   /* with this result: */
	int32_t                 end;
	uint32_t uncounted;   /* bytes that have come since the kernel had no
			       * event of it to deal with */
	uint32_t queued;      /* buffers that have come */
	int32_t  first, last; /* their numbers; STREAM_NONE */
	int32_t  held_number; /* of the ring's buffer that the caller has, or
				* STREAM_NONE */
	void    *held;        /* the allocator's that the caller has, or NULL */
};

/* The worker of *b ends: its streams must be closed. */
static inline void sn_stream_check_closed(const struct io_backend *b)
{
	if (unlikely(b->streams))
		sn_io_misuse("sennit_stream_open",
			     "a stream was left open when its worker's thread "
			     "ended");
}

#endif
