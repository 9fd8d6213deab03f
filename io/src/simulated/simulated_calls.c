/* SPDX-License-Identifier: Apache-2.0 */
/* simulated_calls.c - the calls on the simulated network: one attempt of each
 * request, and the wait for the next one. */
#include "simulated/network.h"

#ifdef SENNIT_DETERMINISTIC

#include "engine/perform.h"
#include "sennit/deterministic.h"
#include "sennit/fiber.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* One in this many calls of fibers yields to the worker's other fibers
 * first. */
#define YIELDS 8u

static bool is_disk_file(int fd)
{
	struct stat s;

	return !fstat(fd, &s) &&
	       (S_ISREG(s.st_mode) || S_ISBLK(s.st_mode) || S_ISDIR(s.st_mode));
}

/* The id of fd's end; 0: none. Read before others run, because they may close
 * fd. */
static uint32_t id_of(int fd)
{
	struct simulated_end *e;
	int                   err = 0;
	uint32_t              id;

	sn_simulated_lock();
	e = fd < 0 ? NULL : sn_simulated_find(fd, &err);
	id = e ? e->id : 0;
	sn_simulated_unlock();
	return id;
}

/* Other threads may run now, and perhaps other fibers. */
static void let_others_run(const struct io_backend *b)
{
	sennit_explore_point();
	if (b && !sennit_explore_choose(YIELDS))
		sennit_yield();
}

/* --- one attempt of a request ------------------------------------------- */

static ptrdiff_t receive(struct simulated_end *e, struct msghdr *m, int flags)
{
	const ptrdiff_t n = sn_simulated_receive(e, m->msg_iov, m->msg_iovlen,
						 flags);

	if (n >= 0)
		m->msg_controllen = m->msg_namelen = 0;
	if (n >= 0)
		m->msg_flags = 0;
	return n;
}

static ptrdiff_t send_message(struct simulated_end *e, const struct msghdr *m,
			      int flags)
{
	if (m->msg_controllen)
		return -EOPNOTSUPP;
	if (m->msg_namelen)
		return -EISCONN;
	return sn_simulated_send(e, m->msg_iov, m->msg_iovlen, flags);
}

static ptrdiff_t transfer_vector(struct simulated_end    *e,
				 const struct io_request *r)
{
	if (r->at != IO_POSITION)
		return -ESPIPE;
	if (r->count < 0)
		return -EINVAL;
	return r->kind == IO_READV
		       ? sn_simulated_receive(e, r->vector, (size_t)r->count, 0)
		       : sn_simulated_send(e, r->vector, (size_t)r->count, 0);
}

static ptrdiff_t try_at(struct simulated_end *e, const struct io_request *r)
{
	const struct iovec bytes = { r->bytes, r->size };

	switch (r->kind) {
	case IO_READV:
	case IO_WRITEV:
		return transfer_vector(e, r);
	case IO_RECV:
		return sn_simulated_receive(e, &bytes, 1, r->flags);
	case IO_SEND:
		return sn_simulated_send(e, &bytes, 1, r->flags);
	case IO_RECVMSG:
		return receive(e, r->message, r->flags);
	case IO_SENDMSG:
		return send_message(e, r->message, r->flags);
	case IO_ACCEPT:
		return sn_simulated_accept(e, r->address, r->address_size,
					   r->flags);
	case IO_CONNECT:
		return sn_simulated_connect(e, r->address, r->size_of);
	default:
		return -EOPNOTSUPP;
	}
}

ptrdiff_t sn_simulated_do_in_place(const struct io_request *r)
{
	ptrdiff_t n;

	do
		n = r->block(r);
	while (n == -EINTR);
	return n;
}

/* Try r once, and set *id to the id of its end. If *id was set and the end is
 * another now, the descriptor was closed. */
static ptrdiff_t try_simulated(const struct io_request *r, uint32_t *id)
{
	struct simulated_end *e;
	int                   err = 0;
	ptrdiff_t             n;

	sn_simulated_lock();
	e = sn_simulated_find(r->fd, &err);
	if (*id && (!e || e->id != *id)) {
		sn_simulated_unlock();
		return -ECANCELED;
	}
	*id = e ? e->id : 0;
	n = e ? try_at(e, r) : err;
	sn_simulated_unlock();
	if (!e && err == -EOPNOTSUPP && r->block && is_disk_file(r->fd))
		return sn_simulated_do_in_place(r);
	if (n == -EPIPE && r->kind == IO_WRITEV)
		(void)raise(SIGPIPE); /* as write() does */
	return n;
}

ptrdiff_t sn_simulated_try(const struct io_request *r)
{
	uint32_t id = 0;

	return try_simulated(r, &id);
}

ptrdiff_t sn_simulated_do(struct io_backend *b, const struct io_request *r,
			  sennit_time deadline)
{
	const struct pollfd p = { .fd = r->fd, .events = r->events };
	uint32_t            id = id_of(r->fd);

	let_others_run(b);
	for (;;) {
		const ptrdiff_t n = try_simulated(r, &id);
		int             err;

		if (n != -EAGAIN)
			return n;
		err = deadline ? sn_simulated_wait(b, &p, 1, false, NULL,
						   deadline)
			       : -ETIMEDOUT;
		if (err)
			return err;
	}
}

/* --- files ------------------------------------------------------------- */

/* The maximum size of one send. */
#define SENT 4096u

ptrdiff_t sn_simulated_sendfile(int to, int from, int64_t *at, size_t size,
				sennit_time deadline)
{
	char               bytes[SENT];
	const off_t        begin = at ? *at : lseek(from, 0, SEEK_CUR);
	struct io_request  r = { .kind = IO_SEND,
				 .fd = to,
				 .events = POLLOUT,
				 .flags = MSG_NOSIGNAL,
				 .bytes = bytes };
	struct io_backend *b;
	ptrdiff_t          n;
	int                err;

	if (begin < 0)
		return -errno;
	n = pread(from, bytes, size < SENT ? size : SENT, begin);
	if (n <= 0)
		return n < 0 ? -errno : 0;
	r.size = (size_t)n;
	err = sn_io_backend_here(&b);
	n = err ? err : sn_simulated_do(b, &r, deadline);
	if (n > 0 && at)
		*at += n;
	else if (n > 0)
		(void)lseek(from, n, SEEK_CUR);
	return n;
}

/* --- poll --------------------------------------------------------------- */

/* Set the revents of *p. Returns 0 or -EOPNOTSUPP. */
static int poll_descriptor(struct pollfd *p)
{
	struct simulated_end *e;
	int                   err = 0;

	p->revents = 0;
	if (p->fd < 0)
		return 0;
	e = sn_simulated_find(p->fd, &err);
	if (e)
		p->revents = (short)(sn_simulated_events(e) &
				     (p->events | POLLERR | POLLHUP));
	else if (err == -EBADF)
		p->revents = POLLNVAL;
	else if (is_disk_file(p->fd))
		p->revents = (short)(p->events & (POLLIN | POLLOUT));
	else
		return err;
	return 0;
}

int sn_simulated_look(struct pollfd *fds, size_t count)
{
	int n = 0;
	int err = 0;

	sn_simulated_lock();
	for (size_t i = 0; i < count && !err; i++) {
		err = poll_descriptor(&fds[i]);
		n += fds[i].revents != 0;
	}
	sn_simulated_unlock();
	return err ? err : n;
}

int sn_simulated_poll(struct pollfd *fds, size_t count, sennit_time deadline)
{
	struct io_backend *b;
	int                none = sn_io_backend_here(&b);
	const uint32_t     id = count == 1 ? id_of(fds->fd) : 0;

	if (none)
		return none;
	let_others_run(b);
	for (;;) {
		const int n = sn_simulated_look(fds, count);
		int       err;

		if (id && id_of(fds->fd) != id)
			return -ECANCELED;
		if (n)
			return n;
		err = deadline ? sn_simulated_wait(b, fds, count, count != 1,
						   NULL, deadline)
			       : -ETIMEDOUT;
		if (err)
			return err;
	}
}

/* --- ends --------------------------------------------------------------- */

static int shut_down(struct simulated_end *e, int how)
{
	if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR)
		return -EINVAL;
	sn_simulated_deliver(e);
	if (!e->peer || e->in.was_reset)
		return -ENOTCONN;
	sn_simulated_note("is shut down", e->id, (uint64_t)how);
	if (how != SHUT_WR)
		e->shut_in = true;
	if (how != SHUT_RD && !e->shut_out) {
		e->shut_out = true;
		sn_simulated_stream_end(&e->peer->in);
	}
	sn_simulated_touch(e->fd);
	if (!e->peer->closed)
		sn_simulated_touch(e->peer->fd);
	return 0;
}

int sn_simulated_shutdown(int fd, int how)
{
	struct simulated_end *e;
	int                   err = 0;

	sennit_explore_point();
	sn_simulated_lock();
	e = sn_simulated_find(fd, &err);
	if (e)
		err = shut_down(e, how);
	sn_simulated_unlock();
	return err;
}

int sn_simulated_close(int fd)
{
	struct simulated_end *e;
	int                   err;

	sennit_explore_point();
	sn_simulated_lock();
	sn_simulated_end_waits(fd);
	e = sn_simulated_find(fd, &err);
	if (e)
		sn_simulated_close_end(e);
	err = sn_io_closing_close(NULL, fd);
	sn_simulated_unlock();
	return err;
}

#endif
