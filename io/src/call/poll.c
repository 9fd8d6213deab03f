/* SPDX-License-Identifier: Apache-2.0 */
/* poll.c - waiting until descriptors are ready: for one, for one of several,
 * and as cases of a select.
 *
 * For one descriptor the backend waits. For several the call creates an epoll
 * descriptor, the set, and waits for the set as for any descriptor. A wait does
 * not consume events: when it ends, the caller polls the descriptors.
 */
#include "base/own_fd.h"
#include "call/child.h"
#include "engine/perform.h"
#include "engine/request.h"
#include "simulated/network.h"
#include "sennit/io.h"
#include "sennit/process.h"
#include "sennit/select.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* --- one descriptor ----------------------------------------------------- */

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

/* --- several ------------------------------------------------------------ */

/* A wait for one of several descriptors. */
struct any {
	const struct pollfd *fds;
	size_t               count;
	size_t               closable; /* the first `closable` are the
					* program's, which may close them */
	uint64_t             begun;    /* for closing.h */
	sennit_selection    *select;   /* the select that waits, or NULL */
	sennit_time          deadline;
};

/* Add fds[i] to the set. If a descriptor occurs several times, it is registered
 * once with the events of all entries. epoll does not support regular files
 * (EPERM); these are always ready, and poll() has reported them before.
 * Returns 0, a negative errno, or -EINTR if a descriptor is closed: poll
 * again. */
static int add_to_set(int epoll, const struct pollfd *fds, size_t count,
		      size_t i)
{
	struct epoll_event event = { .events = (uint16_t)fds[i].events };

	if (fds[i].fd == epoll) /* fds[i].fd was closed, and its number
				 * reused */
		return -EINTR;
	if (fds[i].fd < 0 ||
	    !sn_io_set_control(epoll, EPOLL_CTL_ADD, fds[i].fd, &event))
		return 0;
	if (errno == EEXIST) {
		for (size_t k = 0; k < count; k++)
			if (fds[k].fd == fds[i].fd)
				event.events |= (uint16_t)fds[k].events;
		if (!sn_io_set_control(epoll, EPOLL_CTL_MOD, fds[i].fd, &event))
			return 0;
		if (errno == ENOENT) /* it was closed after EPOLL_CTL_ADD */
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
	epoll = sn_own_fd(epoll_create1(EPOLL_CLOEXEC));
	if (epoll < 0)
		return -errno;
	for (size_t i = 0; i < w->count; i++) {
		int err = add_to_set(epoll, w->fds, w->count, i);

		if (err) {
			close(epoll);
			return err;
		}
	}
	*out = epoll;
	return 0;
}

/* --- in a fiber --------------------------------------------------------- */

static int wait_registered(struct io_backend *b, const struct any *w,
			   struct io_member members[])
{
	struct io_several s = { .fds = w->fds,
				.count = w->closable,
				.members = members };
	struct io_ready   set = { .events = POLLIN,
				  .deadline = w->deadline,
				  .select = w->select };
	int               err, end;

	sn_io_several_begin(b, &s);
	err = make_set(&set.fd, w);
	if (!err) {
		s.set = set.fd;
		set.begun = sn_io_closing_now(); /* the number of the set may be
						  * a reused one */
		err = b->ops->wait_ready(b, &set);
		close(set.fd);
	}
	end = sn_io_several_end(b, &s);
	return end ? end : err;
}

/* Records for up to this many descriptors are on the stack. */
#define FEW 8u

static int wait_for_set(struct io_backend *b, const struct any *w)
{
	const sennit_allocator *a = b->memory;
	const size_t            size = w->closable * sizeof(struct io_member);
	struct io_member        few[FEW];
	struct io_member       *many;
	int                     err;

	if (w->closable <= FEW)
		return wait_registered(b, w, few);
	many = a->allocate(a->context, size, _Alignof(struct io_member));
	if (!many)
		return -ENOMEM;
	err = wait_registered(b, w, many);
	a->release(a->context, many, size);
	return err;
}

/* The caller has just polled the descriptor and found no event. */
static int wait_for_one_descriptor(struct io_backend *b, const struct any *w)
{
	const struct io_ready one = { .fd = w->fds->fd,
				      .events = w->fds->events,
				      .tried = true,
				      .begun = w->closable
						       ? w->begun
						       : sn_io_closing_now(),
				      .deadline = w->deadline,
				      .select = w->select };

	return sn_io_wait_alone(b, &one);
}

/* --- in an unbound thread ----------------------------------------------- */

/* The poller of a thread in a select. It polls three descriptors: the set, the
 * descriptor that announces closed ones, and the one that wakes the thread. */
struct thread_sleep {
	sennit_poller p; /* first */
	struct pollfd on[3];
};

static enum sennit_poller_end sleep_in_ppoll(sennit_poller *p,
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

/* The eventfd is never read, so each later sleep ends at once, too. */
static void wake_from_ppoll(sennit_poller *p)
{
	const uint64_t one = 1;

	(void)!write(((struct thread_sleep *)p)->on[2].fd, &one, sizeof(one));
}

static const sennit_poller_ops thread_ops = { .size = sizeof(thread_ops),
					      .sleep = sleep_in_ppoll,
					      .wake = wake_from_ppoll };

static int poll_in_select(const struct any *w, const struct pollfd p[2])
{
	struct thread_sleep s = { .p.ops = &thread_ops,
				  .on = { p[0], p[1], { .events = POLLIN } } };
	int                 err;

	s.on[2].fd = sn_own_fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (s.on[2].fd < 0)
		return -errno;
	err = sennit_poller_sleep(&s.p, w->select, w->deadline);
	close(s.on[2].fd);
	return err;
}

static int wait_any_as_thread(const struct any *w)
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

/* Wait until one of the descriptors may have events. Returns 0 if the caller
 * should poll them, or a negative errno. */
static int wait_for_any_descriptor(const struct any *w)
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
		err = wait_any_as_thread(w);
	else if (w->count == 1 && w->fds->fd >= 0)
		err = wait_for_one_descriptor(b, w);
	else
		err = wait_for_set(b, w);
	if (err == -EPERM && b) /* a file, which a set may have */
		err = wait_for_set(b, w);
	if (err && err != -EINTR && err != -EBADF) /* poll() reports the last */
		return err;
	return is_any_closed(w) ? -ECANCELED : 0;
}

/* Poll without waiting. Returns the number of descriptors with events, or a
 * negative errno. */
static int poll_without_waiting(struct pollfd *fds, size_t count)
{
	int n;

	do
		n = poll(fds, (nfds_t)count, 0);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static int poll_until_events(struct pollfd *fds, const struct any *w)
{
	int n = is_any_closed(w) ? -ECANCELED
				 : poll_without_waiting(fds, w->count);

	if (!n && !w->deadline)
		return -ETIMEDOUT;
	while (!n) {
		n = wait_for_any_descriptor(w);
		if (!n)
			n = poll_without_waiting(fds, w->count);
		if (!n)
			n = sn_io_is_late(w->deadline);
	}
	return n;
}

/* Poll w->fds, which are `fds`, and wait until some have events. Returns as
 * sennit_poll_many(). */
static int poll_and_wait(struct pollfd *fds, const struct any *w)
{
	const int          n = poll_until_events(fds, w);
	struct io_backend *b;

	if (!sn_io_backend_here(&b) && b)
		sn_io_let_others_run(b);
	return n;
}

int sennit_poll_many(struct pollfd *fds, size_t count, sennit_time deadline)
{
	const struct any w = { .fds = fds,
			       .count = count,
			       .closable = count,
			       .begun = sn_io_closing_now(),
			       .deadline = deadline };

	return IO_SIMULATED ? sn_simulated_poll(fds, count, deadline)
			    : poll_and_wait(fds, &w);
}

/* --- one ----------------------------------------------------------------- */

/* For a file that never has these events, or for events for which the ring
 * cannot wait. Since the request that found the former, other fibers may have
 * run, which closed the file. */
static int poll_in_set(int fd, short events, uint64_t begun,
		       sennit_time deadline)
{
	struct pollfd    p = { .fd = fd, .events = events };
	const struct any w = { .fds = &p,
			       .count = 1,
			       .closable = 1,
			       .begun = begun,
			       .deadline = deadline };
	int              n = poll_and_wait(&p, &w);

	if (n < 0)
		return n;
	return p.revents & POLLNVAL ? -EBADF : p.revents;
}

int sennit_poll(int fd, short events, sennit_time deadline)
{
	const struct io_request r = { .attempt = attempt_poll,
				      .fd = fd,
				      .events = events };
	const uint64_t          begun = sn_io_closing_now();
	int                     result;

	if (fd < 0)
		return -EBADF;
	if (IO_SIMULATED)
		return poll_simulated(fd, events, deadline);
	/* see suits_no_ring() */
	result = events & POLLPRI && !(events & POLLIN)
			 ? -EPERM
			 : (int)sn_io_do(&r, deadline);
	return result == -EPERM ? poll_in_set(fd, events, begun, deadline)
				: result;
}

/* --- cases of a select -------------------------------------------------- */

/* In number_ the lower half is a descriptor, with its events in the upper half;
 * or a process ID, with 0 there. */
enum { EVENTS_SHIFT = 32 };

static void check_cases(sennit_selection *s, sennit_case cases[], size_t count);
static int  wait_for_cases(sennit_selection *s, sennit_case cases[],
			   size_t count, sennit_time deadline);
static void finish_polled_case(sennit_case *k);

static const sennit_case_ops case_ops = { .size = sizeof(case_ops),
					  .look = check_cases,
					  .wait = wait_for_cases,
					  .done = finish_polled_case };

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

static bool is_polled_case(const sennit_case *k)
{
	return k->kind_ == SENNIT_CASE_POLLED;
}

/* The descriptor or the process ID of a case. */
static int case_number(const sennit_case *k)
{
	return (int)(uint32_t)k->number_;
}

static short case_events(const sennit_case *k)
{
	return (short)(k->number_ >> EVENTS_SHIFT);
}

/* Store the descriptors of the cases in fds. Returns their number. */
static size_t collect_descriptors(struct pollfd     fds[],
				  const sennit_case cases[], size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (is_polled_case(&cases[i]) && case_events(&cases[i]))
			fds[n++] = (struct pollfd){
				.fd = case_number(&cases[i]),
				.events = case_events(&cases[i])
			};
	return n;
}

/* --- checking cases ----------------------------------------------------- */

static int check_simulated(struct pollfd *fds, size_t count)
{
	int err = 0;

	for (size_t i = 0; IO_SIMULATED && i < count && err >= 0; i++)
		err = sn_simulated_look(&fds[i], 1);
	return err < 0 ? err : 0;
}

/* If the descriptor was closed, the number may be in use for another one by
 * now. */
static int case_result(const struct pollfd *p, uint64_t begun)
{
	if (sn_io_closing_is_over(p->fd, begun))
		return -ECANCELED;
	if (p->revents & POLLNVAL)
		return -EBADF;
	return p->revents ? p->revents : -EAGAIN;
}

static uint64_t selection_begun(sennit_selection *s)
{
	if (!s->own)
		s->own = sn_io_closing_now() + 1;
	return s->own - 1;
}

static void check_cases(sennit_selection *s, sennit_case cases[], size_t count)
{
	const uint64_t       begun = selection_begun(s);
	struct pollfd        fds[SENNIT_SELECT_MAX];
	const struct pollfd *p = fds;
	const size_t         n = collect_descriptors(fds, cases, count);
	int                  err = 0;

	if (n)
		err = IO_SIMULATED ? check_simulated(fds, n)
				   : poll_without_waiting(fds, n);
	for (size_t i = 0; i < count; i++) {
		if (!is_polled_case(&cases[i]))
			continue;
		if (!case_events(&cases[i]))
			cases[i].result = sn_child_look(case_number(&cases[i]));
		else
			cases[i].result = err < 0 ? err
						  : case_result(p++, begun);
	}
}

/* --- waiting ------------------------------------------------------------ */

/* Add a pidfd for each process. If a process has no pidfd, *deadline becomes
 * earlier. Returns the number of pidfds. */
static size_t add_processes(struct pollfd fds[], const sennit_case cases[],
			    size_t count, sennit_time *deadline)
{
	const sennit_time again = sennit_after(CHILD_LAST_LOOK);
	size_t            n = 0;

	for (size_t i = 0; i < count; i++) {
		int fd;

		if (!is_polled_case(&cases[i]) || case_events(&cases[i]))
			continue;
		fd = IO_SIMULATED ? -1 : sn_child_open(case_number(&cases[i]));
		if (fd >= 0)
			fds[n++] = (struct pollfd){ .fd = fd,
						    .events = POLLIN };
		else if (again < *deadline)
			*deadline = again;
	}
	return n;
}

/* Errors of single descriptors are not returned: the next check of the cases
 * stores them as results. */
static int wait_for_cases(sennit_selection *s, sennit_case cases[],
			  size_t count, sennit_time deadline)
{
	struct pollfd fds[SENNIT_SELECT_MAX];
	struct any    w = { .fds = fds,
			    .begun = selection_begun(s),
			    .select = s,
			    .deadline = deadline };
	int           err;

	w.closable = collect_descriptors(fds, cases, count);
	w.count = w.closable +
		  add_processes(&fds[w.closable], cases, count, &w.deadline);
	err = wait_for_any_descriptor(&w);
	while (w.count > w.closable)
		close(fds[--w.count].fd);
	return err == -ECANCELED || err == -EBADF ? 0 : err;
}

/* --- the end of a case -------------------------------------------------- */

static void finish_polled_case(sennit_case *k)
{
	struct io_backend *b;

	if (!case_events(k) && !k->result)
		k->result = sn_child_reap(case_number(k), k->value_);
	if (!sn_io_backend_here(&b) && b)
		sn_io_let_others_run(b);
}
