/* SPDX-License-Identifier: Apache-2.0 */
#include "io/engine/perform.h"

#include "base/compiler.h"
#include "io/engine/request.h"
#include "io/epoll/epoll.h"
#include "io/epoll/registration.h"
#include "io/simulated/network.h"
#include "io/uring/uring.h"
#include "sennit/blocking.h"
#include "sennit/fiber.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Files are always ready, and wait all the same. Inlined, the record would lie
 * on the stack of each fiber that waits: with -O3 and link-time optimisation
 * that was the second page of one fiber in eight. */
static NOINLINE bool is_file(int fd)
{
	struct stat s;

	return !fstat(fd, &s) &&
	       (S_ISREG(s.st_mode) || S_ISBLK(s.st_mode) || S_ISDIR(s.st_mode));
}

/* Without a descriptor that tells that fd was closed: looks so often. */
#define UNTOLD (10 * SENNIT_MILLISECOND)

int sn_io_poll_until(struct pollfd p[], unsigned count, sennit_time deadline)
{
	struct timespec left;
	sennit_time     now = sennit_now();
	bool            ends = deadline < SENNIT_UNCANCELLED;
	int             n;

	if (deadline <= now)
		return -ETIMEDOUT;
	if (p[1].fd < 0 && deadline - now > UNTOLD) {
		deadline = now + UNTOLD;
		ends = true;
	}
	left = sn_io_time_left(deadline, now);
	n = ppoll(p, count, ends ? &left : NULL, NULL);
	/* Who comes back early tries, and waits again. */
	return n < 0 && errno != EINTR ? -errno : 0;
}

int sn_io_poll_now(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };
	int           n = poll(&p, 1, 0);

	return n < 0 ? -errno : n ? p.revents : 0;
}

/* An unbound thread waits as any thread does. */
static int wait_as_thread(int fd, short events, int beside, uint64_t begun,
			  sennit_time deadline)
{
	const struct pollfd   on[2] = { { .fd = fd }, { .fd = beside } };
	struct io_thread_wait t;
	struct pollfd         p[2] = { { .fd = fd, .events = events },
				       { .events = POLLIN } };
	int                   err = 0;
	int                   end;

	if (fd < 0)
		return -EBADF;
	if (is_file(fd))
		return -EPERM;
	p[1].fd = sn_io_closing_begin_thread(&t, on, 2, begun);
	if (!sn_io_closing_is_over(fd, begun))
		err = sn_io_poll_until(p, 2, deadline);
	end = sn_io_closing_end_thread(&t);
	return end == -ECANCELED ? end : err;
}

static int wait_ready(struct io_backend *b, const struct io_ready *w)
{
	return b ? b->ops->wait_ready(b, w)
		 : wait_as_thread(w->fd, w->events, -1, w->begun, w->deadline);
}

int sn_io_wait_ready(int fd, short events, int beside, uint64_t begun,
		     sennit_time deadline)
{
	const struct io_ready w = {
		.fd = fd, .events = events, .begun = begun, .deadline = deadline
	};
	struct io_backend *b;
	int                err = sn_io_backend_here(&b);

	if (err)
		return err;
	if (!b)
		return wait_as_thread(fd, events, beside, begun, deadline);
	sn_io_closing_begin(&b->closing, beside);
	err = b->ops->wait_ready(b, &w);
	sn_io_closing_end(&b->closing, beside);
	return !err && sn_io_closing_is_over(beside, begun) ? -ECANCELED : err;
}

/* --- requests that may wait where they are made ------------------------- */

struct blocked_request {
	const struct io_request *r;
	uint64_t                 begun;
	ptrdiff_t                result;
};

/* It may have waited for a thread. */
static void *block(void *argument)
{
	struct blocked_request *c = argument;

	do
		c->result = sn_io_closing_is_over(c->r->fd, c->begun)
				    ? -ECANCELED
				    : c->r->block(c->r);
	while (c->result == -EINTR);
	return NULL;
}

static NOINLINE ptrdiff_t in_blocking_call(const struct io_request *r,
					   uint64_t begun, sennit_time deadline)
{
	struct blocked_request c = { .r = r, .begun = begun };
	int err = sennit_blocking_call_until(block, &c, NULL, deadline);

	return err ? err : c.result;
}

/* --- requests ----------------------------------------------------------- */

static ptrdiff_t attempt(const struct io_request *r)
{
	ptrdiff_t result;

	do
		result = r->attempt(r);
	while (result == -EINTR);
	return result;
}

static bool is_short(const struct io_request *r, ptrdiff_t result)
{
	return result > 0 && (size_t)result < r->size;
}

/* Receive from a watched socket, unless nothing has come since the last receive
 * that got all there was. */
static ptrdiff_t attempt_watched(struct watch *w, const struct io_request *r)
{
	ptrdiff_t result;

	if (!(w->may_hold & WATCH_RECEIVABLE))
		return -EAGAIN;
	result = attempt(r);
	if (is_short(r, result))
		w->may_hold &= (uint16_t)~EPOLLIN;
	return result;
}

/* As attempt(), but not where that is guessed to be in vain. Where the guess is
 * wrong the wait ends at once. */
static ptrdiff_t attempt_by_guess(struct io_backend       *b,
				  const struct io_request *r,
				  sennit_time              deadline)
{
	struct watch *w;
	bool         *drained;
	ptrdiff_t     result;

	if (!b || r->kind != IO_RECV || r->flags || !deadline)
		return attempt(r);
	w = sn_io_watches_find(&b->watches, r->fd);
	if (w)
		return attempt_watched(w, r);
	drained = &b->drained[(uint32_t)r->fd % IO_GUESSES];
	if (*drained) {
		*drained = false;
		return -EAGAIN;
	}
	result = attempt(r);
	*drained = is_short(r, result);
	return result;
}

static ptrdiff_t attempt_when_ready(struct io_backend       *b,
				    const struct io_request *r, uint64_t begun,
				    sennit_time deadline)
{
	struct io_ready w = { .fd = r->fd,
			      .events = r->events,
			      .begun = begun,
			      .deadline = deadline };

	for (;;) {
		ptrdiff_t result = attempt_by_guess(b, r, deadline);
		bool      refused = result == -EOPNOTSUPP && r->block;
		int       err;

		if (result != -EAGAIN && !refused)
			return result;
		if (refused && is_file(r->fd)) /* ready, and waits */
			return in_blocking_call(r, begun, deadline);
		if (refused && sn_io_poll_now(r->fd, r->events) > 0)
			return in_blocking_call(
				r, begun, deadline ? deadline : SENNIT_NEVER);
		if (!deadline)
			return is_file(r->fd) && r->block
				       ? in_blocking_call(r, begun, deadline)
				       : -ETIMEDOUT;
		w.tried = !refused;
		err = wait_ready(b, &w);
		if (err == -EPERM && r->block)
			return in_blocking_call(r, begun, deadline);
		if (err)
			return err;
	}
}

static ptrdiff_t perform_by_backend(struct io_backend       *b,
				    const struct io_request *r, uint64_t begun,
				    sennit_time deadline)
{
	ptrdiff_t result;

	do
		result = b->ops->perform(b, r, begun, deadline);
	while (result == -EINTR);
	return result;
}

/* Whether r moves the position of a file. The ring takes no lock of it, and
 * does not always move it when it completes a request later (seen on 6.18):
 * then the same bytes are read twice. */
static bool moves_position(const struct io_request *r)
{
	return (r->kind == IO_READV || r->kind == IO_WRITEV) &&
	       r->at == IO_POSITION && is_file(r->fd);
}

static ptrdiff_t perform(struct io_backend *b, const struct io_request *r,
			 uint64_t begun, sennit_time deadline)
{
	ptrdiff_t result = -EAGAIN;

	if (r->try_first || !deadline)
		result = attempt(r);
	if (result != -EAGAIN && result != -EOPNOTSUPP)
		return result;
	if (deadline && !moves_position(r))
		result = perform_by_backend(b, r, begun, deadline);
	else if (deadline && !r->try_first)
		result = attempt(r);
	if (result != -EAGAIN && result != -EOPNOTSUPP && result != -ENOSYS)
		return result;
	if (sn_io_closing_is_over(r->fd, begun))
		return -ECANCELED;
	/* With O_NONBLOCK; and a file is ready though it says so. */
	if (r->block && is_file(r->fd))
		return in_blocking_call(r, begun, deadline);
	return attempt_when_ready(b, r, begun, deadline);
}

void sn_io_let_others_run(struct io_backend *b)
{
	if (likely(--b->at_once))
		return;
	b->at_once = IO_AT_ONCE;
	sennit_yield();
}

/* A number that the program closed by close(): before others run, who may wait
 * on what it was. */
static void note_connection(int fd)
{
	if (sn_io_known_begin(fd))
		sn_io_closing_reused(fd);
}

static ptrdiff_t do_by(struct io_backend *b, const struct io_request *r,
		       sennit_time deadline)
{
	const uint64_t begun = sn_io_closing_now();
	ptrdiff_t      result;

	if (IO_SIMULATED)
		return sn_simulated_do(b, r, deadline);
	result = b && b->ops->perform && r->kind != IO_POLLED
			 ? perform(b, r, begun, deadline)
			 : attempt_when_ready(b, r, begun, deadline);
	if (r->kind == IO_ACCEPT && result >= 0)
		note_connection((int)result);
	if (b)
		sn_io_let_others_run(b);
	return result;
}

ptrdiff_t sn_io_do(const struct io_request *r, sennit_time deadline)
{
	struct io_backend *b;
	int                err = sn_io_backend_here(&b);
	ptrdiff_t          result;

	if (unlikely(err))
		return err;
	if (r->events & POLLOUT)
		sn_io_tell_release(r->fd);
	result = do_by(b, r, deadline);
	if (result > 0 && r->events & POLLIN)
		sn_io_tell_acquire(r->fd);
	return result;
}

ptrdiff_t sn_io_do_blocking(const struct io_request *r, sennit_time deadline)
{
	const uint64_t     begun = sn_io_closing_now();
	struct io_backend *b;
	ptrdiff_t          result = -ENOSYS;

	if (IO_SIMULATED)
		return sn_simulated_do_in_place(r);
	if (sn_io_backend_here(&b))
		b = NULL;
	if (b && b->ops->perform && deadline && r->kind != IO_POLLED)
		result = perform_by_backend(b, r, begun, deadline);
	if (result == -ENOSYS)
		result = in_blocking_call(r, begun, deadline);
	if (b)
		sn_io_let_others_run(b);
	return result;
}

/* --- choose --------------------------------------------------------------- */

static bool wants_uring; /* fixed once chosen */

static void choose(void)
{
	const char *wanted = getenv("SENNIT_IO");

	wants_uring = (!wanted || strcmp(wanted, "epoll") != 0) &&
		      sn_io_uring_works();
}

/* Whether the poller is of this library. */
static bool is_ours(const sennit_poller *p)
{
	return p->ops->turn == sn_io_epoll_turn ||
	       p->ops->turn == sn_io_uring_turn ||
	       p->ops->turn == sn_simulated_turn;
}

static int make(struct io_backend **out, const sennit_allocator *memory)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int                   err = -ENOSYS;

	if (IO_SIMULATED)
		return sn_simulated_poller_make(out, memory);
	pthread_once(&once, choose);
	if (wants_uring)
		err = sn_io_uring_make(out, memory);
	/* also where this worker alone gets no ring */
	return err ? sn_io_epoll_make(out, memory) : 0;
}

static COLD int attach(struct io_backend **out, const sennit_allocator *memory)
{
	struct io_backend *b;
	int                err = make(&b, memory);

	if (err)
		return err;
	b->at_once = IO_AT_ONCE;
	err = sn_io_closing_add(&b->closing, &b->p);
	if (!err)
		err = sennit_poller_attach(&b->p);
	if (err)
		b->p.ops->destroy(&b->p);
	else
		*out = b;
	return err;
}

struct io_backend *sn_io_backend_made(void)
{
	sennit_poller *p = sennit_poller_current();

	return p && is_ours(p) ? (struct io_backend *)p : NULL;
}

int sn_io_backend_here(struct io_backend **out)
{
	sennit_poller          *p = sennit_poller_current();
	const sennit_allocator *memory;

	if (likely(p)) {
		*out = (struct io_backend *)p;
		return likely(is_ours(p)) ? 0 : -EBUSY;
	}
	memory = sennit_poller_allocator();
	*out = NULL;
	return memory ? attach(out, memory) : 0;
}
