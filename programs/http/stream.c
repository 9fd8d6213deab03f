/* SPDX-License-Identifier: Apache-2.0 */
#include "http/stream.h"

#include "http/tls.h"

#include <sennit/io.h>
#include <sennit/net.h>
#include <sennit/splice.h>

#include <errno.h>
#include <poll.h>
#include <unistd.h>

/* --- one operation ------------------------------------------------------ */

struct operation {
	int fd;
	enum { RECV, SEND, SEND_FILE, BY_TLS, CONNECT } kind;
	struct sennit_tls        *tls;
	http_tls_call            *call;
	int                       file;
	int64_t                   at; /* offset in the file */
	int                       flags;
	bool                      idle;
	void                     *bytes; /* address */
	size_t                    size;
	struct msghdr             message;
	const struct http_stream *asker; /* of RECV and SEND */
	sennit_time               deadline;
	ptrdiff_t                 result;
	sennit_wait_group         done;
};

static ptrdiff_t attempt_alone(struct operation *o)
{
	switch (o->kind) {
	case RECV:
		return sennit_recv(o->fd, o->bytes, o->size, 0, o->deadline);
	case SEND:
		return sennit_sendmsg(o->fd, &o->message, o->flags,
				      o->deadline);
	case SEND_FILE:
		return sennit_sendfile(o->fd, o->file, &o->at, o->size,
				       o->deadline);
	case CONNECT:
		return sennit_connect(o->fd, o->bytes, (socklen_t)o->size,
				      o->deadline);
	default:
		return o->call(o->tls, o->bytes, o->size, o->deadline);
	}
}

/* An operation that takes less does not check the asker. */
#define QUICK (50 * SENNIT_MILLISECOND)

/* Wait until the operation can continue. Returns 0 or a negative errno
 * value. */
static int wait_with_asker(const struct operation *o, sennit_time deadline)
{
	struct pollfd both[2] = {
		{ o->fd, o->kind == SEND ? POLLOUT : POLLIN, 0 },
		{ o->asker->fd, POLLRDHUP, 0 },
	};
	int n = sennit_poll_many(both, 2, deadline);

	if (n > 0 && !both[0].revents)
		return -ECONNABORTED;
	return n < 0 ? n : 0;
}

static ptrdiff_t attempt_for_asker(struct operation *o)
{
	const sennit_time deadline = o->deadline;
	ptrdiff_t         n;

	o->deadline = sennit_after(QUICK);
	if (deadline < o->deadline)
		o->deadline = deadline;
	n = attempt_alone(o);
	while (n == -ETIMEDOUT) {
		n = wait_with_asker(o, deadline);
		o->deadline = 0;
		if (!n)
			n = attempt_alone(o);
		else if (n == -ETIMEDOUT)
			break;
	}
	o->deadline = deadline;
	/* No descriptors or memory: continue without checking the asker. */
	if (n == -EMFILE || n == -ENFILE || n == -ENOMEM)
		n = attempt_alone(o);
	return n;
}

static ptrdiff_t attempt(struct operation *o)
{
	return o->asker ? attempt_for_asker(o) : attempt_alone(o);
}

static void run_apart(void *argument)
{
	struct operation *o = argument;

	o->result = attempt(o);
	(void)sennit_wait_group_done(&o->done);
}

/* Run the operation in a task outside any group, because the caller's group is
 * cancelled. It runs on the same thread, because the operation is in the
 * caller's frame, and its descriptor is registered with the worker's poller. */
static ptrdiff_t perform_apart(const struct http_stop *stop,
			       struct operation       *o)
{
	const sennit_time idle = o->idle ? sennit_after(stop->idle_grace)
					 : SENNIT_NEVER;
	const sennit_time until = idle < stop->until ? idle : stop->until;
	const sennit_task task = { .run = run_apart,
				   .argument = o,
				   .flags = SENNIT_TASK_SAME_THREAD };
	int               err;

	if (o->deadline > until)
		o->deadline = until;
	sennit_wait_group_init(&o->done, 1);
	err = sennit_schedule_task(&task);
	if (!err)
		sennit_wait_group_wait(&o->done);
	sennit_wait_group_destroy(&o->done);
	return err ? err : o->result;
}

bool http_stop_begun(const struct http_stop *stop)
{
	return atomic_load_explicit(&stop->begun, memory_order_acquire);
}

static ptrdiff_t perform(struct http_stream *s, struct operation *o)
{
	ptrdiff_t n;

	http_user_wait(s->user);
	n = attempt(o);
	if (n == -ECANCELED && http_stop_begun(s->stop))
		n = perform_apart(s->stop, o);
	http_user_go_on(s->user, n);
	return n;
}

/* --- bytes -------------------------------------------------------------- */

ptrdiff_t http_stream_recv(struct http_stream *s, void *to, size_t size,
			   bool idle, sennit_time deadline)
{
	struct operation o = { .kind = RECV,
			       .fd = s->fd,
			       .idle = idle,
			       .bytes = to,
			       .size = size,
			       .asker = s->asker,
			       .deadline = deadline };

	return s->tls ? http_tls_recv(s, to, size, idle, deadline)
		      : perform(s, &o);
}

/* Skip the first n bytes. */
static void advance(struct msghdr *m, size_t n)
{
	while (m->msg_iovlen && n >= m->msg_iov->iov_len) {
		n -= m->msg_iov->iov_len;
		m->msg_iov++;
		m->msg_iovlen--;
	}
	if (m->msg_iovlen) {
		m->msg_iov->iov_base = (char *)m->msg_iov->iov_base + n;
		m->msg_iov->iov_len -= n;
	}
}

ptrdiff_t http_stream_send_some(struct http_stream *s, const struct iovec *v,
				int count, bool more, sennit_time deadline)
{
	struct operation o = { .kind = SEND,
			       .fd = s->fd,
			       .flags = more ? MSG_MORE : 0,
			       .asker = s->asker,
			       .message = { .msg_iov = (void *)(uintptr_t)v,
					    .msg_iovlen = (size_t)count },
			       .deadline = deadline };

	return s->tls ? http_tls_send_some(s, v->iov_base, v->iov_len, deadline)
		      : perform(s, &o);
}

int http_stream_send(struct http_stream *s, struct iovec *v, int count,
		     bool more, uint64_t patience)
{
	struct msghdr m = { .msg_iov = v, .msg_iovlen = (size_t)count };

	if (s->tls)
		return http_tls_send(s, v, count, sennit_after(patience));
	advance(&m, 0);
	while (m.msg_iovlen) {
		ptrdiff_t n = http_stream_send_some(s, m.msg_iov,
						    (int)m.msg_iovlen, more,
						    sennit_after(patience));

		if (n < 0)
			return (int)n;
		advance(&m, (size_t)n);
	}
	return 0;
}

ptrdiff_t http_stream_by_tls(struct http_stream *s, http_tls_call *call,
			     void *bytes, size_t size, bool idle,
			     sennit_time deadline)
{
	struct operation o = { .kind = BY_TLS,
			       .fd = s->fd,
			       .tls = s->tls,
			       .call = call,
			       .idle = idle,
			       .bytes = bytes,
			       .size = size,
			       .deadline = deadline };

	return perform(s, &o);
}

int http_stream_connect(struct http_stream *s, const void *address, size_t size,
			sennit_time deadline)
{
	struct operation o = { .kind = CONNECT,
			       .fd = s->fd,
			       .bytes = (void *)(uintptr_t)address,
			       .size = size,
			       .deadline = deadline };

	return (int)perform(s, &o);
}

/* --- files -------------------------------------------------------------- */

static sennit_time step_until(uint64_t patience, sennit_time deadline)
{
	const sennit_time step = sennit_after(patience);

	return step < deadline ? step : deadline;
}

/* The same as a duration. */
static uint64_t left_of(uint64_t patience, sennit_time deadline)
{
	const sennit_time now = sennit_now();
	const uint64_t    left = deadline > now ? deadline - now : 0;

	return patience < left ? patience : left;
}

static int send_file_plain(struct http_stream *s, int file, uint64_t at,
			   uint64_t size, uint64_t patience,
			   sennit_time deadline)
{
	struct operation o = { .kind = SEND_FILE,
			       .fd = s->fd,
			       .file = file,
			       .at = (int64_t)at,
			       .size = (size_t)size };

	while (o.size) {
		ptrdiff_t n;

		o.deadline = step_until(patience, deadline);
		n = perform(s, &o);
		if (n <= 0)
			return n ? (int)n : -EPIPE;
		o.size -= (size_t)n;
	}
	return 0;
}

static int send_file_copied(struct http_stream *s, int file, uint64_t at,
			    uint64_t size, uint64_t patience,
			    sennit_time deadline)
{
	char bytes[16384];
	int  err = 0;

	while (!err && size) {
		size_t       step = size < sizeof(bytes) ? (size_t)size
							 : sizeof(bytes);
		ptrdiff_t    n = sennit_pread(file, bytes, step, (int64_t)at,
					      SENNIT_UNCANCELLED);
		struct iovec v = { bytes, (size_t)n };

		if (n <= 0)
			return n ? (int)n : -EPIPE;
		err = http_stream_send(s, &v, 1, false,
				       left_of(patience, deadline));
		at += (uint64_t)n;
		size -= (uint64_t)n;
	}
	return err;
}

int http_stream_send_file(struct http_stream *s, int file, uint64_t at,
			  uint64_t size, uint64_t patience,
			  sennit_time deadline)
{
	return s->tls ? send_file_copied(s, file, at, size, patience, deadline)
		      : send_file_plain(s, file, at, size, patience, deadline);
}

/* --- the end ------------------------------------------------------------ */

void http_stream_close(struct http_stream *s)
{
	http_tls_end(s);
	http_user_close(s->user);
	sennit_close(s->fd);
	s->fd = -1;
}

void http_stream_linger(struct http_stream *s)
{
	char        bytes[16384];
	sennit_time deadline = sennit_after(SENNIT_SECOND);
	size_t      dropped = 0;

	http_tls_end(s);
	(void)sennit_shutdown(s->fd, SHUT_WR);
	while (dropped < 16 << 20) {
		ptrdiff_t n = http_stream_recv(s, bytes, sizeof(bytes), false,
					       deadline);

		if (n <= 0)
			break;
		dropped += (size_t)n;
	}
	http_stream_close(s);
}
