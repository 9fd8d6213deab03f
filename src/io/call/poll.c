/* SPDX-License-Identifier: Apache-2.0 */
/* poll.c - waiting until descriptors are ready: for one, for one of several,
 * and as cases of a select.
 *
 * For a lone descriptor the backend waits. Several get an epoll descriptor of
 * their own, their set, for which the caller waits as for any other. What is
 * ready is never taken: who waited looks.
 */
#include "io/call/child.h"
#include "io/engine/perform.h"
#include "io/engine/request.h"
#include "io/simulated/network.h"
#include "sennit/io.h"
#include "sennit/process.h"
#include "sennit/select.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#ifdef SN_TSAN
#include <sys/syscall.h>
#endif
#include <unistd.h>

/* --- one ---------------------------------------------------------------- */

static ptrdiff_t attempt_poll(const struct io_request *r)
{
	int events = sn_io_poll_now(r->fd, r->events);

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

/* A wait for one of several. */
struct any {
	const struct pollfd *fds;
	size_t               count;
	size_t               closable; /* the first so many are the program's,
					* which may close them */
	uint64_t             begun;    /* for closing.h */
	sennit_selection    *select;   /* whose wait it is; NULL: of none */
	sennit_time          deadline;
};

/* Another thread may close fd at the same time: see is_any_closed. To
 * ThreadSanitizer's epoll_ctl() that is a race. */
static int control(int epoll, int op, int fd, struct epoll_event *event)
{
#ifdef SN_TSAN
	return (int)syscall(SYS_epoll_ctl, epoll, op, fd, event);
#else
	return epoll_ctl(epoll, op, fd, event);
#endif
}

/* An fd that stands there several times is added once for all. What epoll
 * cannot wait for is always ready: poll() has said so before.
 * -EINTR: there is a descriptor that is none any more. */
static int add(int epoll, const struct pollfd *fds, size_t count, size_t i)
{
	struct epoll_event event = { .events = (uint16_t)fds[i].events };

	if (fds[i].fd == epoll) /* it was closed, and the number used again */
		return -EINTR;
	if (fds[i].fd < 0 || !control(epoll, EPOLL_CTL_ADD, fds[i].fd, &event))
		return 0;
	if (errno == EEXIST) {
		for (size_t k = 0; k < count; k++)
			if (fds[k].fd == fds[i].fd)
				event.events |= (uint16_t)fds[k].events;
		if (!control(epoll, EPOLL_CTL_MOD, fds[i].fd, &event))
			return 0;
		if (errno == ENOENT) /* so it was, since the first call */
			return -EINTR;
	}
	return errno == EPERM ? 0 : errno == EBADF ? -EINTR : -errno;
}

static bool is_any_closed(const struct any *w)
{
	return sn_io_closing_end_of_any(w->fds, w->closable, w->begun) ==
	       -ECANCELED;
}

static int make_set(int *out, const struct any *w)
{
	int epoll;

	if (is_any_closed(w))
		return -ECANCELED;
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		return -errno;
	for (size_t i = 0; i < w->count; i++) {
		int err = add(epoll, w->fds, w->count, i);

		if (err) {
			close(epoll);
			return err;
		}
	}
	*out = epoll;
	return 0;
}

/* --- as a fiber --------------------------------------------------------- */

static int wait_for_set(struct io_backend *b, const struct any *w)
{
	struct io_several s = { .fds = w->fds, .count = w->closable };
	struct io_ready   set = { .events = POLLIN,
				  .deadline = w->deadline,
				  .select = w->select };
	int               err, end;

	sn_io_several_begin(b, &s);
	err = make_set(&set.fd, w);
	if (!err) {
		s.set = set.fd;
		set.begun = s.begun;
		err = b->ops->wait_ready(b, &set);
		close(set.fd);
	}
	end = sn_io_several_end(b, &s);
	return end ? end : err;
}

/* The caller has looked in vain. */
static int wait_for_one(struct io_backend *b, const struct any *w)
{
	const struct io_ready one = { .fd = w->fds->fd,
				      .events = w->fds->events,
				      .tried = true,
				      .begun = w->closable
						       ? w->begun
						       : sn_io_closing_now(),
				      .deadline = w->deadline,
				      .select = w->select };

	return b->ops->wait_ready(b, &one);
}

/* --- as an unbound thread ----------------------------------------------- */

/* Where the thread of a select sleeps: it polls the set, whether one of them
 * was closed, and who wakes it. */
struct thread_sleep {
	sennit_poller p; /* first */
	struct pollfd on[3];
};

static enum sennit_poller_end sleep_thread(sennit_poller *p,
					   sennit_time    deadline)
{
	struct pollfd *on = ((struct thread_sleep *)p)->on;

	on[0].revents = on[1].revents = on[2].revents = 0;
	if (sn_io_poll_until(on, 3, deadline) == -ETIMEDOUT)
		return SENNIT_POLLER_TIMEOUT;
	if (on[2].revents)
		return SENNIT_POLLER_WOKEN;
	return on[0].revents || on[1].revents || on[1].fd < 0
		       ? SENNIT_POLLER_READY
		       : SENNIT_POLLER_WOKEN;
}

/* Never read, so that each later sleep ends, too. */
static void wake_thread(sennit_poller *p)
{
	const uint64_t one = 1;

	(void)!write(((struct thread_sleep *)p)->on[2].fd, &one, sizeof(one));
}

static const sennit_poller_ops thread_ops = { .size = sizeof(thread_ops),
					      .sleep = sleep_thread,
					      .wake = wake_thread };

static int poll_in_select(const struct any *w, const struct pollfd p[2])
{
	struct thread_sleep s = { .p.ops = &thread_ops,
				  .on = { p[0], p[1], { .events = POLLIN } } };
	int                 err;

	s.on[2].fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s.on[2].fd < 0)
		return -errno;
	err = sennit_poller_sleep(&s.p, w->select, w->deadline);
	close(s.on[2].fd);
	return err;
}

static int wait_as_thread(const struct any *w)
{
	struct io_thread_wait t;
	struct pollfd p[2] = { { .events = POLLIN }, { .events = POLLIN } };
	int           err, end;

	p[1].fd = sn_io_closing_begin_thread(&t, w->fds, w->closable, w->begun);
	err = make_set(&p[0].fd, w);
	if (!err) {
		err = w->select ? poll_in_select(w, p)
				: sn_io_poll_until(p, 2, w->deadline);
		close(p[0].fd);
	}
	end = sn_io_closing_end_thread(&t);
	return end ? end : err;
}

/* --- several ------------------------------------------------------------ */

/* 0: look; or a negative errno. */
static int wait_for_any(const struct any *w)
{
	struct io_backend *b;
	int                err = sn_io_backend_here(&b);

	if (err)
		return err;
	if (is_any_closed(w))
		return -ECANCELED;
	if (IO_SIMULATED)
		err = sn_simulated_wait(b, w->fds, w->count, true, w->select,
					w->deadline);
	else if (!b)
		err = wait_as_thread(w);
	else if (w->count == 1 && w->fds->fd >= 0)
		err = wait_for_one(b, w);
	else
		err = wait_for_set(b, w);
	if (err && err != -EINTR)
		return err;
	return is_any_closed(w) ? -ECANCELED : 0;
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
	const struct any w = { .fds = fds,
			       .count = count,
			       .closable = count,
			       .begun = sn_io_closing_now(),
			       .deadline = deadline };
	int              n;

	if (IO_SIMULATED)
		return sn_simulated_poll(fds, count, deadline);
	n = look(fds, count);
	if (n || !deadline)
		return n ? n : -ETIMEDOUT;
	while (!n) {
		n = wait_for_any(&w);
		if (!n)
			n = look(fds, count);
	}
	return n;
}

/* --- cases of a select -------------------------------------------------- */

/* number_ is a descriptor, with its events above; or a process, without. */
enum { EVENTS_SHIFT = 32 };

static void look_at_cases(sennit_selection *s, sennit_case cases[],
			  size_t count);
static int  wait_for_cases(sennit_selection *s, sennit_case cases[],
			   size_t count, sennit_time deadline);
static void end_case(sennit_case *k);

static const sennit_case_ops case_ops = { .look = look_at_cases,
					  .wait = wait_for_cases,
					  .done = end_case };

static sennit_case make_case(int fd, short events)
{
	sennit_case k = { .object_ = (void *)(uintptr_t)&case_ops,
			  .number_ = (uint64_t)(uint16_t)events
					     << EVENTS_SHIFT |
				     (uint32_t)fd,
			  .kind_ = SENNIT_CASE_NONE };

	if (fd >= 0)
		k.kind_ = SENNIT_CASE_POLLED;
	return k;
}

sennit_case sennit_case_readable(int fd)
{
	return make_case(fd, POLLIN);
}

sennit_case sennit_case_writable(int fd)
{
	return make_case(fd, POLLOUT);
}

sennit_case sennit_case_process(pid_t child, int *status)
{
	sennit_case k = make_case((int)child, 0);

	k.value_ = status;
	if (!child)
		k.kind_ = SENNIT_CASE_NONE;
	return k;
}

static bool is_ours(const sennit_case *k)
{
	return k->kind_ == SENNIT_CASE_POLLED;
}

/* Of a case: its descriptor or process. */
static int number_of(const sennit_case *k)
{
	return (int)(uint32_t)k->number_;
}

static short events_of(const sennit_case *k)
{
	return (short)(k->number_ >> EVENTS_SHIFT);
}

/* The descriptors of cases. Returns how many there are. */
static size_t gather(struct pollfd fds[], const sennit_case cases[],
		     size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (is_ours(&cases[i]) && events_of(&cases[i]))
			fds[n++] = (struct pollfd){ .fd = number_of(&cases[i]),
						    .events = events_of(
							    &cases[i]) };
	return n;
}

/* --- looking ------------------------------------------------------------ */

static int look_simulated(struct pollfd *fds, size_t count)
{
	int err = 0;

	for (size_t i = 0; IO_SIMULATED && i < count && err >= 0; i++)
		err = sn_simulated_look(&fds[i], 1);
	return err < 0 ? err : 0;
}

/* A number that was closed may mean another descriptor by now. */
static int result_of(const struct pollfd *p, uint64_t begun)
{
	if (sn_io_closing_is_over(p->fd, begun))
		return -ECANCELED;
	if (p->revents & POLLNVAL)
		return -EBADF;
	return p->revents ? p->revents : -EAGAIN;
}

static uint64_t begun_of(sennit_selection *s)
{
	if (!s->own)
		s->own = sn_io_closing_now() + 1;
	return s->own - 1;
}

static void look_at_cases(sennit_selection *s, sennit_case cases[],
			  size_t count)
{
	const uint64_t       begun = begun_of(s);
	struct pollfd        fds[SENNIT_SELECT_MAX];
	const struct pollfd *p = fds;
	const size_t         n = gather(fds, cases, count);
	int                  err = 0;

	if (n)
		err = IO_SIMULATED ? look_simulated(fds, n) : look(fds, n);
	for (size_t i = 0; i < count; i++) {
		if (!is_ours(&cases[i]))
			continue;
		if (!events_of(&cases[i]))
			cases[i].result = sn_child_look(number_of(&cases[i]));
		else
			cases[i].result = err < 0 ? err : result_of(p++, begun);
	}
}

/* --- waiting ------------------------------------------------------------ */

/* Add a descriptor for each process. *deadline becomes earlier if one has none.
 * Returns how many there are. */
static size_t add_processes(struct pollfd fds[], const sennit_case cases[],
			    size_t count, sennit_time *deadline)
{
	const sennit_time again = sennit_after(CHILD_LAST_LOOK);
	size_t            n = 0;

	for (size_t i = 0; i < count; i++) {
		int fd;

		if (!is_ours(&cases[i]) || events_of(&cases[i]))
			continue;
		fd = IO_SIMULATED ? -1 : sn_child_open(number_of(&cases[i]));
		if (fd >= 0)
			fds[n++] = (struct pollfd){ .fd = fd,
						    .events = POLLIN };
		else if (again < *deadline)
			*deadline = again;
	}
	return n;
}

/* What has happened to one of the cases, the next look finds out. */
static int wait_for_cases(sennit_selection *s, sennit_case cases[],
			  size_t count, sennit_time deadline)
{
	struct pollfd fds[SENNIT_SELECT_MAX];
	struct any    w = { .fds = fds,
			    .begun = begun_of(s),
			    .select = s,
			    .deadline = deadline };
	int           err;

	w.closable = gather(fds, cases, count);
	w.count = w.closable +
		  add_processes(&fds[w.closable], cases, count, &w.deadline);
	err = wait_for_any(&w);
	while (w.count > w.closable)
		close(fds[--w.count].fd);
	return err == -ECANCELED || err == -EBADF ? 0 : err;
}

/* --- the end ------------------------------------------------------------ */

static void end_case(sennit_case *k)
{
	struct io_backend *b;

	if (!events_of(k) && !k->result)
		k->result = sn_child_reap(number_of(k), k->value_);
	if (!sn_io_backend_here(&b) && b)
		sn_io_let_others_run(b);
}
