/* SPDX-License-Identifier: Apache-2.0 */
/* splice.c - bytes are moved by one system call at a time, whose result is the
 * call's: nothing is in between when a deadline passes.
 *
 *	try --would wait--> which end? --wait until that is ready--> try
 */
#include "io/engine/perform.h"
#include "io/epoll/registration.h"
#include "io/simulated/network.h"
#include "sennit/blocking.h"
#include "sennit/fiber.h"
#include "sennit/group.h"
#include "sennit/splice.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum end { END_OTHER = 0, END_PIPE, END_SOCKET };

struct move {
	ptrdiff_t (*run)(const struct move *m); /* -1 and errno, or a result */
	int       from, to;
	off_t    *from_at, *to_at;
	size_t    size;
	unsigned  flags;
	enum end  in, out; /* what the descriptors are */
	off_t     in_size; /* of a file */
	uint64_t  begun;   /* for closing.h */
	ptrdiff_t result;

	struct io_backend *backend; /* of the worker; NULL: of a thread */
};

/* --- one try ------------------------------------------------------------ */

static ptrdiff_t run_splice(const struct move *m)
{
	return splice(m->from, m->from_at, m->to, m->to_at, m->size,
		      m->flags | SPLICE_F_NONBLOCK);
}

static ptrdiff_t run_sendfile(const struct move *m)
{
	return sendfile(m->to, m->from, m->from_at, m->size);
}

static void *run(void *argument)
{
	struct move *m = argument;

	do
		m->result = m->run(m);
	while (m->result < 0 && errno == EINTR);
	if (m->result < 0)
		m->result = -errno;
	return NULL;
}

/* --- ends --------------------------------------------------------------- */

/* Whether fd is a socket for which the system does not wait. That it is known
 * is a hint: what the number means by now does not wait, either, with that
 * flag; or it is a file, which may wait for its disc. */
static bool is_ready_made(int fd)
{
	int flags = sn_io_known_use(fd) ? fcntl(fd, F_GETFL) : -1;

	return flags >= 0 && flags & O_NONBLOCK;
}

/* What fd is. The system must not wait for a socket. */
static int look_at(int fd, enum end *end, off_t *size)
{
	struct stat s;
	int         flags;

	*end = END_SOCKET;
	if (is_ready_made(fd))
		return 0;
	if (fstat(fd, &s))
		return -errno;
	*size = s.st_size;
	*end = S_ISFIFO(s.st_mode)   ? END_PIPE
	       : S_ISSOCK(s.st_mode) ? END_SOCKET
				     : END_OTHER;
	if (*end != END_SOCKET)
		return 0;
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 ||
	    (!(flags & O_NONBLOCK) && fcntl(fd, F_SETFL, flags | O_NONBLOCK)))
		return -errno;
	return 0;
}

static int look_at_ends(struct move *m)
{
	off_t ignored;
	int   err = look_at(m->from, &m->in, &m->in_size);

	return err ? err : look_at(m->to, &m->out, &ignored);
}

/* An end that is neither pipe nor socket is never waited for. */
static bool is_awaited(int fd, enum end end, short events)
{
	return end != END_OTHER && !sn_io_poll_now(fd, events);
}

/* 0: one end that was not ready may be, or both are and a try is worth it. */
static int wait_for_ends(const struct move *m, sennit_time deadline)
{
	if (is_awaited(m->from, m->in, POLLIN))
		return sn_io_wait_ready(m->from, POLLIN, m->to, m->begun,
					deadline);
	if (is_awaited(m->to, m->out, POLLOUT))
		return sn_io_wait_ready(m->to, POLLOUT, m->from, m->begun,
					deadline);
	return 0;
}

/* --- moving ------------------------------------------------------------- */

/* Both ends are ready and yet nothing moved: another took it, or the room does
 * not do. The latter is not announced. */
#define RETRY (100 * SENNIT_MICROSECOND)

static int wait_after_try(const struct move *m, sennit_time deadline)
{
	sennit_time retry;

	if (!deadline)
		return -ETIMEDOUT;
	if (is_awaited(m->from, m->in, POLLIN) ||
	    is_awaited(m->to, m->out, POLLOUT))
		return wait_for_ends(m, deadline);
	if (sennit_now() >= deadline)
		return -ETIMEDOUT;
	retry = sennit_after(RETRY);
	return sennit_sleep_until(retry < deadline ? retry : deadline);
}

/* Whether a number may mean another descriptor by now. */
static bool is_over(const struct move *m)
{
	return sn_io_closing_is_over(m->from, m->begun) ||
	       sn_io_closing_is_over(m->to, m->begun);
}

/* It may have waited for a thread. */
static void *run_late(void *argument)
{
	struct move *m = argument;

	if (!is_over(m))
		return run(m);
	m->result = -ECANCELED;
	return NULL;
}

/* A file may have to wait for its disc, so a blocking thread tries, and not in
 * vain if it can be helped. */
static ptrdiff_t try_elsewhere(struct move *m, sennit_time deadline)
{
	int err = 0;

	if (!(m->flags & SPLICE_F_NONBLOCK))
		err = wait_for_ends(m, deadline);
	if (!err)
		err = sennit_blocking_call_until(run_late, m, NULL, deadline);
	return err ? err : m->result;
}

static ptrdiff_t try(struct move *m, bool in_place, sennit_time deadline)
{
	if (!in_place)
		return try_elsewhere(m, deadline);
	run(m);
	return m->result;
}

static ptrdiff_t move_now(struct move *m, bool in_place, sennit_time deadline)
{
	for (;;) {
		ptrdiff_t n = try(m, in_place, deadline);
		int       err;

		if (n != -EAGAIN || m->flags & SPLICE_F_NONBLOCK)
			return n;
		err = wait_after_try(m, deadline);
		if (err)
			return err;
		if (is_over(m))
			return -ECANCELED;
	}
}

static ptrdiff_t move(struct move *m, bool in_place, sennit_time deadline)
{
	ptrdiff_t n = move_now(m, in_place, deadline);

	if (m->backend)
		sn_io_let_others_run(m->backend);
	return n;
}

static int begin(struct move *m)
{
	int err;

	m->begun = sn_io_closing_now();
	err = sn_io_backend_here(&m->backend);
	return err ? err : look_at_ends(m);
}

ptrdiff_t sennit_splice(int from, off_t *from_at, int to, off_t *to_at,
			size_t size, unsigned flags, sennit_time deadline)
{
	struct move m = { .run = run_splice,
			  .from = from,
			  .to = to,
			  .from_at = from_at,
			  .to_at = to_at,
			  .size = size,
			  .flags = flags };
	int         err = IO_SIMULATED ? -EOPNOTSUPP : begin(&m);

	return err ? err : move(&m, m.in && m.out, deadline);
}

/* --- files -------------------------------------------------------------- */

/* What one call of the system moves at most. A size that goes beyond the last
 * place of a file is an error to it. */
#define MOST ((size_t)0x7ffff000)

/* Of a file that the page cache has, so much is sent in place at once. */
#define IN_PLACE ((size_t)256 * 1024)

/* Linux 6.5; no header of Debian 12's has it. */
#define CACHESTAT 451

struct cache_range {
	uint64_t at, size;
};

struct cache_pages {
	uint64_t cached, dirty, written, evicted, evicted_lately;
};

/* Whether all that m asks for is in the page cache. False where the kernel does
 * not say. */
static bool is_cached(const struct move *m)
{
	off_t at = m->from_at ? *m->from_at : lseek(m->from, 0, SEEK_CUR);
	const struct cache_range range = { .at = (uint64_t)at,
					   .size = m->size };
	struct cache_pages       pages;
	uint64_t                 page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t                 last = range.at + range.size - 1;

	return at >= 0 && m->size &&
	       !syscall(CACHESTAT, m->from, &range, &pages, 0) &&
	       pages.cached == last / page - range.at / page + 1;
}

/* What of the file is there to send, at most IN_PLACE; it has an end. */
static size_t there(const struct move *m)
{
	off_t  at = m->from_at ? *m->from_at : lseek(m->from, 0, SEEK_CUR);
	size_t size = m->size < IN_PLACE ? m->size : IN_PLACE;

	if (at < 0 || m->in_size <= at)
		return 0;
	return (uint64_t)(m->in_size - at) < size ? (size_t)(m->in_size - at)
						  : size;
}

ptrdiff_t sennit_sendfile(int to, int from, off_t *at, size_t size,
			  sennit_time deadline)
{
	struct move m = { .run = run_sendfile,
			  .from = from,
			  .to = to,
			  .from_at = at,
			  .size = size < MOST ? size : MOST };
	struct move part;
	int         err;

	if (IO_SIMULATED)
		return sn_simulated_sendfile(to, from, at, size, deadline);
	err = begin(&m);
	if (err || m.in)
		return err ? err : -EINVAL; /* as of the system, at once */
	if (m.out == END_PIPE)
		m.run = run_splice; /* which does not wait for a pipe */
	part = m;
	part.size = there(&m);
	if (part.size && m.out && is_cached(&part))
		return move(&part, true, deadline);
	return move(&m, false, deadline);
}
