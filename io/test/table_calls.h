/* SPDX-License-Identifier: Apache-2.0 */
/* table_calls.h - the calls that may wait for a descriptor, each with the
 * system call that it stands for.
 *
 *	struct run r;
 *
 *	begin_run(&r, call, flags, size, &ends);
 *	r.result = call->plain(&r);              // or
 *	r.result = call->ours(&r, deadline);
 *	end_run(&r);                             // r.got: what came of it
 */
#ifndef SN_TEST_TABLE_CALLS_H
#define SN_TEST_TABLE_CALLS_H

#include "table_ends.h"

#include "sennit/file.h"
#include "sennit/stream.h"

#include <sys/sendfile.h>

/* --- a run --------------------------------------------------------------- */

enum call_is {
	SIZED = 1,
	READS = 2,
	WRITES = 4,
	ALL = 8,         /* goes on until all is transferred */
	TAKES_MORE = 16, /* may take more than it returns, as a stream does */
	LEAVES_NONBLOCK = 32, /* O_NONBLOCK may stay on a socket: its header
			       * says so */
	FOR_FILES = 64,       /* in one state of each kind only */
	FOR_SOCKETS = 256,    /* the same on what is no socket */
	MAY_SIGNAL = 512,     /* another thread may make it, whose SIGPIPE is
			       * lost: its header says so */
	SPOILS = 128 /* an error leaves an undefined state: its header says
			* so */
};

struct call;

struct run {
	const struct call      *call;
	struct ends            *e;
	int                     fd, flags, flags_before;
	size_t                  size;
	char                   *to;
	const char             *from;
	struct iovec            v[2];
	struct msghdr           m;
	char                    control[128];
	struct sockaddr_storage name;
	socklen_t               name_size;
	struct pollfd           p[2];
	int                     pipe[2], file;
	int64_t                 at;
	ptrdiff_t               result;

	/* What came of it, beside the result. */
	struct got {
		uint32_t bytes; /* a hash of what was read */
		int      flags, name, control, descriptors;
		int      events, extra;
		int64_t  at;
		unsigned signals;
		bool     beyond; /* bytes behind the buffer have changed */
	} got;
};

typedef ptrdiff_t plain_fn(struct run *r);
typedef ptrdiff_t ours_fn(struct run *r, sennit_time deadline);

struct flag_list {
	size_t count;
	int    at[14];
};

struct call {
	const char             *name;
	plain_fn               *plain;
	ours_fn                *ours;
	unsigned                is;
	const struct flag_list *flags; /* NULL: 0 alone */
};

/* --- memory -------------------------------------------------------------- */

enum { GUARD = 64 };

/* More than 4 GiB of memory of which a call touches little. */
static char *vast(int protection)
{
	const size_t size = ((size_t)1 << 31) * 2 + (1 << 20);
	const int    flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	char        *m = mmap(NULL, size, protection, flags, -1, 0);

	must(m != MAP_FAILED, "mmap");
	return m;
}

static bool is_vast(size_t size)
{
	return size > sizeof(pattern);
}

static char *memory_to(size_t size)
{
	static char *all;
	char        *m;

	if (is_vast(size)) {
		all = all ? all : vast(PROT_READ | PROT_WRITE);
		return all;
	}
	m = malloc(size + GUARD);
	must(m, "malloc");
	memset(m, '#', size + GUARD);
	return m;
}

static const char *memory_from(size_t size)
{
	static char *all;

	if (!is_vast(size))
		return pattern;
	if (!all) {
		all = vast(PROT_READ | PROT_WRITE);
		memcpy(all, pattern, sizeof(pattern));
	}
	return all;
}

/* A file to send from, and one to receive into. */
static int common_file(void)
{
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("common", MFD_CLOEXEC);
		must(write(fd, pattern, sizeof(pattern)) ==
			     (ssize_t)sizeof(pattern),
		     "write");
	}
	return fd;
}

/* --- begin and end ------------------------------------------------------- */

static atomic_uint signals_seen;

static void see_signal(int number)
{
	(void)number;
	atomic_fetch_add(&signals_seen, 1);
}

static void begin_message(struct run *r)
{
	const bool reads = r->call->is & READS;

	r->v[0] = (struct iovec){ reads ? r->to : (void *)(uintptr_t)r->from,
				  r->size / 2 };
	r->v[1] = (struct iovec){ (char *)r->v[0].iov_base + r->size / 2,
				  r->size - r->size / 2 };
	r->m = (struct msghdr){ .msg_iov = r->v, .msg_iovlen = 2 };
	if (!reads)
		return;
	r->m.msg_name = &r->name;
	r->m.msg_namelen = sizeof(r->name);
	r->m.msg_control = r->control;
	r->m.msg_controllen = sizeof(r->control);
}

static void begin_run(struct run *r, const struct call *call, int flags,
		      size_t size, struct ends *e)
{
	*r = (struct run){ .call = call,
			   .e = e,
			   .fd = e->fd,
			   .flags = flags,
			   .flags_before = fcntl(e->fd, F_GETFL),
			   .size = size,
			   .pipe = { -1, -1 },
			   .file = -1,
			   .name_size = sizeof(r->name),
			   .at = 1 };
	r->to = memory_to(size);
	r->from = memory_from(size);
	begin_message(r);
	r->got.signals = atomic_load(&signals_seen);
}

static int close_descriptors(struct msghdr *m)
{
	int count = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		int fd;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
		count += 1 + !!(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		close(fd);
	}
	return count;
}

static size_t bytes_read(const struct run *r)
{
	size_t n = r->result > 0 ? (size_t)r->result : 0;

	return n < r->size ? n : r->size;
}

static void end_run(struct run *r)
{
	struct got *g = &r->got;

	g->signals = atomic_load(&signals_seen) - g->signals;
	if (r->call->is & READS && !(r->e->kind->is & (RANDOM | TICKS)))
		g->bytes = hash_more(0, r->to, bytes_read(r));
	g->at = r->at;
	if (!is_vast(r->size)) {
		for (int i = 0; i < GUARD; i++)
			g->beyond = g->beyond ||
				    r->to[r->size + (size_t)i] != '#';
		free(r->to);
	}
}

/* Ends a run that received a message. */
static ptrdiff_t note_message(struct run *r, ptrdiff_t result)
{
	if (result < 0)
		return result;
	r->got.flags = r->m.msg_flags;
	r->got.name = (int)r->m.msg_namelen;
	r->got.control = (int)r->m.msg_controllen;
	r->got.descriptors = close_descriptors(&r->m);
	return result;
}

/* --- calls --------------------------------------------------------------- */

static ptrdiff_t or_error(ptrdiff_t result)
{
	return result < 0 ? -errno : result;
}

#define CALL(id, plain_call, our_call)                                 \
	static ptrdiff_t plain_##id(struct run *r)                     \
	{                                                              \
		return plain_call;                                     \
	}                                                              \
	static ptrdiff_t our_##id(struct run *r, sennit_time deadline) \
	{                                                              \
		return our_call;                                       \
	}                                                              \
	struct call

CALL(read, or_error(read(r->fd, r->to, r->size)),
     sennit_read(r->fd, r->to, r->size, deadline));
CALL(readv, or_error(readv(r->fd, r->v, 2)),
     sennit_readv(r->fd, r->v, 2, deadline));
CALL(pread, or_error(pread(r->fd, r->to, r->size, 1)),
     sennit_pread(r->fd, r->to, r->size, 1, deadline));
CALL(recv, or_error(recv(r->fd, r->to, r->size, r->flags)),
     sennit_recv(r->fd, r->to, r->size, r->flags, deadline));
CALL(recvmsg, note_message(r, or_error(recvmsg(r->fd, &r->m, r->flags))),
     note_message(r, sennit_recvmsg(r->fd, &r->m, r->flags, deadline)));
CALL(write, or_error(write(r->fd, r->from, r->size)),
     sennit_write(r->fd, r->from, r->size, deadline));
CALL(writev, or_error(writev(r->fd, r->v, 2)),
     sennit_writev(r->fd, r->v, 2, deadline));
CALL(pwrite, or_error(pwrite(r->fd, r->from, r->size, 1)),
     sennit_pwrite(r->fd, r->from, r->size, 1, deadline));
/* sennit_send() raises no SIGPIPE. */
CALL(send, or_error(send(r->fd, r->from, r->size, r->flags | MSG_NOSIGNAL)),
     sennit_send(r->fd, r->from, r->size, r->flags, deadline));
CALL(sendmsg, or_error(sendmsg(r->fd, &r->m, r->flags | MSG_NOSIGNAL)),
     sennit_sendmsg(r->fd, &r->m, r->flags, deadline));

static struct msghdr *named_message(struct run *r)
{
	r->m.msg_name = r->e->name_size ? &r->e->name : NULL;
	r->m.msg_namelen = r->e->name_size;
	return &r->m;
}

CALL(send_to, or_error(sendmsg(r->fd, named_message(r), MSG_NOSIGNAL)),
     sennit_sendmsg(r->fd, named_message(r), 0, deadline));

/* --- calls that transfer all --------------------------------------------- */

/* The number of bytes is stored in got.extra. */
static ptrdiff_t plain_all(struct run *r, plain_fn *some)
{
	struct run left = *r;
	ptrdiff_t  n = 1;

	for (size_t done = 0; n > 0 && done < r->size; done += (size_t)n) {
		left.to = r->to + done;
		left.from = r->from + done;
		left.size = r->size - done;
		n = some(&left);
		if (n <= 0)
			return n ? n : -ENODATA;
		r->got.extra += (int)n;
	}
	return 0;
}

#define CALL_ALL(id, some, our_call)                                   \
	static ptrdiff_t plain_##id(struct run *r)                     \
	{                                                              \
		return plain_all(r, plain_##some);                     \
	}                                                              \
	static ptrdiff_t our_##id(struct run *r, sennit_time deadline) \
	{                                                              \
		size_t    done = 0;                                    \
		ptrdiff_t result = our_call;                           \
                                                                       \
		r->got.extra = (int)done;                              \
		return result;                                         \
	}                                                              \
	struct call

CALL_ALL(read_exactly, read,
	 sennit_read_exactly(r->fd, r->to, r->size, &done, deadline));
CALL_ALL(write_all, write,
	 sennit_write_all(r->fd, r->from, r->size, &done, deadline));
CALL_ALL(send_all, send,
	 sennit_send_all(r->fd, r->from, r->size, 0, &done, deadline));

/* --- streams ------------------------------------------------------------- */

static ptrdiff_t plain_stream(struct run *r)
{
	const int type = type_of(r->fd);

	if (type != SOCK_STREAM)
		return type < 0 ? -errno : -EPROTOTYPE;
	return or_error(recv(r->fd, r->to, SENNIT_STREAM_BUFFER, 0));
}

static ptrdiff_t our_stream(struct run *r, sennit_time deadline)
{
	sennit_stream *s;
	void          *bytes;
	ptrdiff_t      n = sennit_stream_open(&s, r->fd);

	if (n)
		return n;
	n = sennit_stream_next(s, &bytes, deadline);
	if (n > 0)
		memcpy(r->to, bytes, (size_t)n);
	sennit_stream_close(s);
	return n;
}

/* --- moving -------------------------------------------------------------- */

/* Read what has gone through the pipe. */
static ptrdiff_t end_pipe(struct run *r, ptrdiff_t n)
{
	size_t done = 0;

	while (n > 0 && done < (size_t)n) {
		ssize_t some = read(r->pipe[0], r->to + done, (size_t)n - done);

		must(some > 0, "read what was moved");
		done += (size_t)some;
	}
	close(r->pipe[0]);
	close(r->pipe[1]);
	return n;
}

static int pipe_in(struct run *r)
{
	begin_pipe(r->pipe);
	return r->pipe[1];
}

CALL(splice_from,
     end_pipe(r, or_error(splice(r->fd, NULL, pipe_in(r), NULL, r->size,
				 (unsigned)r->flags))),
     end_pipe(r, sennit_splice(r->fd, NULL, pipe_in(r), NULL, r->size,
			       (unsigned)r->flags, deadline)));

/* A pipe with bytes to be moved. */
static int pipe_out(struct run *r)
{
	const size_t n = r->size < MANY ? r->size : MANY;

	begin_pipe(r->pipe);
	must(write(r->pipe[1], pattern, n) == (ssize_t)n, "write");
	return r->pipe[0];
}

/* What has not been moved is still there. */
static ptrdiff_t end_pipe_out(struct run *r, ptrdiff_t n)
{
	r->got.extra = readable_bytes(r->pipe[0]);
	close(r->pipe[0]);
	close(r->pipe[1]);
	return n;
}

CALL(splice_to,
     end_pipe_out(r, or_error(splice(pipe_out(r), NULL, r->fd, NULL, r->size,
				     (unsigned)r->flags))),
     end_pipe_out(r, sennit_splice(pipe_out(r), NULL, r->fd, NULL, r->size,
				   (unsigned)r->flags, deadline)));

CALL(sendfile_to, or_error(sendfile(r->fd, common_file(), &r->at, r->size)),
     sennit_sendfile(r->fd, common_file(), &r->at, r->size, deadline));

/* Sends from fd to a socket that has room. */
static int new_receiver(struct run *r)
{
	must(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, r->pipe),
	     "socketpair");
	return r->pipe[1];
}

CALL(sendfile_from,
     end_pipe(r, or_error(sendfile(new_receiver(r), r->fd, NULL, r->size))),
     end_pipe(r, sennit_sendfile(new_receiver(r), r->fd, NULL, r->size,
				 deadline)));

/* --- connections --------------------------------------------------------- */

static ptrdiff_t end_accept(struct run *r, ptrdiff_t fd)
{
	if (fd < 0)
		return fd;
	r->got.name = (int)r->name_size;
	r->got.flags = (fcntl((int)fd, F_GETFL) & O_NONBLOCK) |
		       (fcntl((int)fd, F_GETFD) & FD_CLOEXEC);
	close_end((int)fd);
	return 1;
}

CALL(accept,
     end_accept(r, or_error(accept4(r->fd, (struct sockaddr *)&r->name,
				    &r->name_size, r->flags))),
     end_accept(r, sennit_accept(r->fd, (struct sockaddr *)&r->name,
				 &r->name_size, r->flags, deadline)));

static struct sockaddr *name_to_connect(struct run *r)
{
	if (!r->e->name_size)
		name_inet(r->e, common_listener());
	return name_at(r->e);
}

/* Take the other end off the common listener. */
static ptrdiff_t end_connect(struct run *r, ptrdiff_t result)
{
	if (!result && is_tcp(r->fd) && r->e->kind->open == open_tcp_fresh)
		r->e->peer = accept(common_listener(), NULL, NULL);
	return result;
}

CALL(connect,
     end_connect(r,
		 or_error(connect(r->fd, name_to_connect(r), r->e->name_size))),
     end_connect(r, sennit_connect(r->fd, name_to_connect(r), r->e->name_size,
				   deadline)));

/* --- readiness ----------------------------------------------------------- */

static struct pollfd *polled(struct run *r)
{
	r->p[0] = (struct pollfd){ .fd = r->fd, .events = (short)r->flags };
	r->p[1] = (struct pollfd){ .fd = r->fd, .events = POLLPRI };
	return r->p;
}

static ptrdiff_t plain_poll(struct run *r)
{
	if (r->fd < 0) /* poll() would ignore it */
		return -EBADF;
	if (poll(polled(r), 1, -1) < 0)
		return -errno;
	return r->p->revents & POLLNVAL ? -EBADF : r->p->revents;
}

/* It never happens to a negative descriptor. */
static ptrdiff_t plain_select(struct run *r)
{
	if (poll(polled(r), 1, -1) < 0)
		return -errno;
	return r->p->revents & POLLNVAL ? -EBADF : r->p->revents;
}

static ptrdiff_t our_poll(struct run *r, sennit_time deadline)
{
	return sennit_poll(r->fd, (short)r->flags, deadline);
}

static ptrdiff_t end_several(struct run *r, ptrdiff_t n)
{
	r->got.events = r->p[0].revents << 16 | r->p[1].revents;
	return n;
}

CALL(poll_many, end_several(r, or_error(poll(polled(r), 2, -1))),
     end_several(r, sennit_poll_many(polled(r), 2, deadline)));

/* POLLIN or POLLOUT. */
static ptrdiff_t our_select(struct run *r, sennit_time deadline)
{
	sennit_case k = r->flags == POLLIN ? sennit_case_readable(r->fd)
					   : sennit_case_writable(r->fd);
	size_t      which;
	int         err = sennit_select_until(&k, 1, &which, deadline);

	return err ? err : k.result;
}

/* --- files --------------------------------------------------------------- */

CALL(fsync, or_error(fsync(r->fd)), sennit_fsync(r->fd, deadline));
CALL(fdatasync, or_error(fdatasync(r->fd)), sennit_fdatasync(r->fd, deadline));
CALL(ftruncate, or_error(ftruncate(r->fd, 11)),
     sennit_ftruncate(r->fd, 11, deadline));

/* --- the table ----------------------------------------------------------- */

#define FLAGS(...)                                            \
	&(const struct flag_list)                             \
	{                                                     \
		sizeof((int[]){ __VA_ARGS__ }) / sizeof(int), \
		{                                             \
			__VA_ARGS__                           \
		}                                             \
	}

#define NO_SUCH_FLAG (1 << 25)

#define BOTH(id) plain_##id, our_##id

static const struct call calls[] = {
	{ "read", BOTH(read), SIZED | READS, NULL },
	{ "readv", BOTH(readv), SIZED | READS, NULL },
	{ "pread", BOTH(pread), SIZED | READS, NULL },
	{ "recv", BOTH(recv), SIZED | READS | FOR_SOCKETS,
	  FLAGS(0, MSG_PEEK, MSG_DONTWAIT, MSG_WAITALL, MSG_TRUNC,
		MSG_PEEK | MSG_TRUNC, MSG_PEEK | MSG_WAITALL, MSG_OOB,
		MSG_ERRQUEUE, MSG_DONTWAIT | MSG_WAITALL,
		MSG_ERRQUEUE | MSG_DONTWAIT, MSG_OOB | MSG_PEEK,
		NO_SUCH_FLAG) },
	{ "recvmsg", BOTH(recvmsg), SIZED | READS | FOR_SOCKETS,
	  FLAGS(0, MSG_PEEK, MSG_DONTWAIT, MSG_WAITALL, MSG_TRUNC,
		MSG_PEEK | MSG_TRUNC, MSG_PEEK | MSG_WAITALL, MSG_OOB,
		MSG_ERRQUEUE, MSG_CMSG_CLOEXEC,
		MSG_CMSG_CLOEXEC | MSG_WAITALL) },
	{ "read_exactly", BOTH(read_exactly), SIZED | READS | ALL, NULL },
	{ "stream_next", BOTH(stream), READS | TAKES_MORE | FOR_SOCKETS, NULL },
	{ "write", BOTH(write), SIZED | WRITES, NULL },
	{ "writev", BOTH(writev), SIZED | WRITES, NULL },
	{ "pwrite", BOTH(pwrite), SIZED | WRITES, NULL },
	{ "send", BOTH(send), SIZED | WRITES | FOR_SOCKETS,
	  FLAGS(0, MSG_DONTWAIT, MSG_OOB, MSG_NOSIGNAL, MSG_EOR,
		NO_SUCH_FLAG) },
	{ "sendmsg", BOTH(sendmsg), SIZED | WRITES | FOR_SOCKETS,
	  FLAGS(0, MSG_DONTWAIT, MSG_OOB) },
	{ "sendmsg to a name", BOTH(send_to), SIZED | WRITES | FOR_SOCKETS,
	  NULL },
	{ "write_all", BOTH(write_all), SIZED | WRITES | ALL, NULL },
	{ "send_all", BOTH(send_all), SIZED | WRITES | ALL | FOR_SOCKETS,
	  NULL },
	{ "splice from", BOTH(splice_from), SIZED | READS | LEAVES_NONBLOCK,
	  FLAGS(0, SPLICE_F_NONBLOCK, SPLICE_F_MOVE, NO_SUCH_FLAG) },
	{ "splice to", BOTH(splice_to),
	  SIZED | WRITES | LEAVES_NONBLOCK | MAY_SIGNAL,
	  FLAGS(0, SPLICE_F_NONBLOCK) },
	{ "sendfile to", BOTH(sendfile_to),
	  SIZED | WRITES | LEAVES_NONBLOCK | MAY_SIGNAL, NULL },
	{ "sendfile from", BOTH(sendfile_from), SIZED | READS | LEAVES_NONBLOCK,
	  NULL },
	{ "accept", BOTH(accept), LEAVES_NONBLOCK | FOR_SOCKETS,
	  FLAGS(0, SOCK_CLOEXEC, SOCK_CLOEXEC | SOCK_NONBLOCK, 1) },
	{ "connect", BOTH(connect), SPOILS | FOR_SOCKETS, NULL },
	{ "poll", BOTH(poll), 0,
	  FLAGS(POLLIN, POLLOUT, POLLPRI, POLLRDHUP, 0, POLLIN | POLLOUT) },
	{ "poll_many", BOTH(poll_many), 0, FLAGS(POLLIN, POLLOUT) },
	{ "select", BOTH(select), 0, FLAGS(POLLIN, POLLOUT) },
	{ "fsync", BOTH(fsync), FOR_FILES, NULL },
	{ "fdatasync", BOTH(fdatasync), FOR_FILES, NULL },
	{ "ftruncate", BOTH(ftruncate), FOR_FILES, NULL },
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

#endif
