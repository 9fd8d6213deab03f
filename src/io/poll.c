/* SPDX-License-Identifier: Apache-2.0 */
#include "io/choose.h"
#include "io/perform.h"
#include "io/several.h"
#include "io/simulated_calls.h"

#include "sennit/fiber.h"
#include "sennit/io.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

/* --- one ---------------------------------------------------------------- */

static ptrdiff_t attempt_poll(const struct io_request *r)
{
	int events = sn_io_look(r->fd, r->events);

	if (events < 0)
		return events;
	if (!events)
		return -EAGAIN;
	return events & POLLNVAL ? -EBADF : events;
}

static int poll_simulated(int fd, short events, sennit_time deadline)
{
	struct pollfd p = { .fd = fd, .events = events };
	int           n = IO_SIMULATED ? sn_simulated_poll(&p, 1, deadline) : 0;

	if (n < 0)
		return n;
	return p.revents & POLLNVAL ? -EBADF : p.revents;
}

int sennit_poll(int fd, short events, sennit_time deadline)
{
	const struct io_request r = { .attempt = attempt_poll,
				      .fd = fd,
				      .events = events };

	if (fd < 0)
		return -EBADF;
	return IO_SIMULATED ? poll_simulated(fd, events, deadline)
			    : (int)sn_io_do(&r, deadline);
}

/* --- several ------------------------------------------------------------ */

/* All of them, in an epoll descriptor of their own, for which the caller waits
 * as for any other. An fd that stands there several times is added once for
 * all. What epoll cannot wait for is always ready: poll() has said so before.
 * -EINTR: there is a descriptor that is none any more. */
static int add(int epoll, const struct pollfd *fds, size_t count, size_t i)
{
	struct epoll_event event = { .events = (uint16_t)fds[i].events };

	if (fds[i].fd < 0 ||
	    !epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i].fd, &event))
		return 0;
	if (errno == EEXIST) {
		for (size_t k = 0; k < count; k++)
			if (fds[k].fd == fds[i].fd)
				event.events |= (uint16_t)fds[k].events;
		if (!epoll_ctl(epoll, EPOLL_CTL_MOD, fds[i].fd, &event))
			return 0;
	}
	return errno == EPERM ? 0 : errno == EBADF ? -EINTR : -errno;
}

static bool is_any_closed(const struct pollfd *fds, size_t count,
			  uint64_t begun)
{
	return sn_io_closing_end_of_any(fds, count, begun) == -ECANCELED;
}

static int make_set(int *out, const struct pollfd *fds, size_t count,
		    uint64_t begun)
{
	int epoll;

	if (is_any_closed(fds, count, begun))
		return -ECANCELED;
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		return -errno;
	for (size_t i = 0; i < count; i++) {
		int err = add(epoll, fds, count, i);

		if (err) {
			close(epoll);
			return err;
		}
	}
	*out = epoll;
	return 0;
}

static int wait_as_fiber(struct io_backend *b, const struct pollfd *fds,
			 size_t count, uint64_t begun, sennit_time deadline)
{
	struct io_several s = { .fds = fds, .count = count };
	int               set, err, end;

	sn_io_several_begin(b, &s);
	err = make_set(&set, fds, count, begun);
	if (!err) {
		s.set = set;
		err = b->ops->wait_ready(b, set, POLLIN, false, s.begun,
					 deadline);
		close(set);
	}
	end = sn_io_several_end(b, &s);
	return end ? end : err;
}

static int wait_as_thread(const struct pollfd *fds, size_t count,
			  uint64_t begun, sennit_time deadline)
{
	struct io_thread_wait t;
	struct pollfd p[2] = { { .events = POLLIN }, { .events = POLLIN } };
	int           err, end;

	p[1].fd = sn_io_closing_begin_thread(&t, fds, count, begun);
	err = make_set(&p[0].fd, fds, count, begun);
	if (!err) {
		err = sn_io_poll_until(p, deadline);
		close(p[0].fd);
	}
	end = sn_io_closing_end_thread(&t);
	return end ? end : err;
}

/* 0: look; or a negative errno. */
static int wait_for_any(const struct pollfd *fds, size_t count, uint64_t begun,
			sennit_time deadline)
{
	struct io_backend *b;
	int                err = sn_io_backend_here(&b);

	if (err)
		return err;
	err = b ? wait_as_fiber(b, fds, count, begun, deadline)
		: wait_as_thread(fds, count, begun, deadline);
	if (err && err != -EINTR)
		return err;
	return is_any_closed(fds, count, begun) ? -ECANCELED : 0;
}

/* Returns how many have events, 0 for none, or a negative errno. */
static int look(struct pollfd *fds, size_t count)
{
	int n;

	do
		n = poll(fds, (nfds_t)count, 0);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

int sennit_poll_several(struct pollfd *fds, size_t count, sennit_time deadline)
{
	const uint64_t begun = sn_io_closing_now();
	int            n;

	if (IO_SIMULATED)
		return sn_simulated_poll(fds, count, deadline);
	n = look(fds, count);
	if (n || !deadline)
		return n ? n : -ETIMEDOUT;
	while (!n) {
		n = wait_for_any(fds, count, begun, deadline);
		if (!n)
			n = look(fds, count);
	}
	return n;
}
