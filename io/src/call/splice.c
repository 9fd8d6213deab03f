/* SPDX-License-Identifier: Apache-2.0 */
/* splice.c - moving bytes between descriptors. A call returns the result of a
 * single successful system call, so a deadline never hides moved bytes.
 *
 *	try --would wait--> which end? --wait until it is ready--> try
 */
#include "engine/nonblock.h"
#include "engine/perform.h"
#include "epoll/registration.h"
#include "simulated/network.h"
#include "sennit/blocking.h"
#include "sennit/splice.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum end { END_OTHER = 0, END_PIPE, END_SOCKET, END_TERMINAL };

struct move {
	ptrdiff_t (*run)(const struct move *m); /* returns -1 and errno, or a
						 * result */
	int       from, to;
	int64_t  *from_at, *to_at;
	size_t    size;
	unsigned  flags;
	enum end  in, out; /* the kinds of the descriptors */
	off_t     in_size; /* the size of a regular file, in bytes */
	uint64_t  begun;   /* for closing.h */
	ptrdiff_t result;

	sennit_time pause; /* before the next try, if no event announces it */
	sennit_time look;  /* the same, for the shutdown of a unix socket */

	struct io_backend *backend; /* of the worker; NULL: an unbound thread */
};

/* --- one try ------------------------------------------------------------ */

static ptrdiff_t run_splice(const struct move *m)
{
	return splice(m->from, m->from_at, m->to, m->to_at, m->size,
		      m->flags | SPLICE_F_NONBLOCK);
}

/* sendfile() of no bytes waits for room in a pipe, and reports a closed one. */
static ptrdiff_t run_nothing_to_pipe(const struct move *m)
{
	const int events = sn_io_poll_now(m->to, POLLOUT);

	if (events > 0 && !(events & POLLERR))
		return 0;
	if (events > 0)
		(void)raise(SIGPIPE);
	errno = events > 0 ? EPIPE : EAGAIN;
	return -1;
}

/* Would wait for a pipe: splice() is used there. */
static ptrdiff_t run_sendfile(const struct move *m)
{
	return sendfile(m->to, m->from, m->from_at, m->size);
}

static void run_until_not_interrupted(struct move *m)
{
	do
		m->result = m->run(m);
	while (m->result < 0 && errno == EINTR);
	if (m->result < 0)
		m->result = -errno;
}

/* Run m with one end that is a terminal. The system calls have no flag that
 * keeps them from waiting for a terminal. At most one end is a terminal,
 * because the other one is a pipe or a file. */
static void run_on_terminal(struct move *m, int *end, short events)
{
	const int          fd = *end;
	struct io_nonblock n;

	m->result = sn_io_nonblock_begin(&n, fd, events);
	if (m->result)
		return;
	*end = n.fd;
	run_until_not_interrupted(m);
	*end = fd;
	sn_io_nonblock_end(&n);
}

static void *run_move(void *argument)
{
	struct move *m = argument;

	if (m->in == END_TERMINAL)
		run_on_terminal(m, &m->from, POLLIN);
	else if (m->out == END_TERMINAL)
		run_on_terminal(m, &m->to, POLLOUT);
	else
		run_until_not_interrupted(m);
	return NULL;
}

/* --- the two ends ------------------------------------------------------- */

/* Whether fd is a known socket with O_NONBLOCK, which spares the fstat(). The
 * knowledge is only a hint: the number may belong to another file by now. With
 * O_NONBLOCK the system does not wait for that one either, unless it is a
 * regular file, which may wait for its disc. So this is not used for the source
 * of sendfile. */
static bool is_known_nonblocking(int fd)
{
	int flags = sn_io_known_use(fd) ? fcntl(fd, F_GETFL) : -1;

	return flags >= 0 && flags & O_NONBLOCK;
}

/* Store the kind of fd in *end, and the size of a regular file in *size. Set
 * O_NONBLOCK on a socket, so that the system does not wait for it. */
static int find_end_kind(int fd, bool may_be_known, enum end *end, off_t *size)
{
	struct stat s;
	int         flags;

	*end = END_SOCKET;
	if (may_be_known && is_known_nonblocking(fd))
		return 0;
	if (fstat(fd, &s))
		return -errno;
	*size = S_ISREG(s.st_mode) ? s.st_size : 0;
	*end = S_ISFIFO(s.st_mode)   ? END_PIPE
	       : S_ISSOCK(s.st_mode) ? END_SOCKET
	       : isatty(fd)          ? END_TERMINAL
				     : END_OTHER;
	if (*end != END_SOCKET)
		return 0;
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 ||
	    (!(flags & O_NONBLOCK) && fcntl(fd, F_SETFL, flags | O_NONBLOCK)))
		return -errno;
	return 0;
}

static int find_end_kinds(struct move *m)
{
	off_t ignored;
	int   err = find_end_kind(m->from, m->run == run_splice, &m->in,
				  &m->in_size);

	return err ? err : find_end_kind(m->to, true, &m->out, &ignored);
}

static bool has_socket_option(int fd, int option, int wanted)
{
	int       value = 0;
	socklen_t size = sizeof(value);

	return !getsockopt(fd, SOL_SOCKET, option, &value, &size) &&
	       value == wanted;
}

/* Whether fd must be waited for. Not for files and devices: poll() may never
 * report some devices as writable (/dev/random). Nor for a listener, with which
 * the call fails. */
static bool must_wait_for_end(int fd, enum end end, short events)
{
	return end != END_OTHER && !sn_io_poll_now(fd, events) &&
	       !has_socket_option(fd, SO_ACCEPTCONN, 1);
}

/* No event announces that a unix socket was shut down. */
static int wait_for_room(struct move *m, sennit_time deadline)
{
	const bool looks = m->out == END_SOCKET &&
			   has_socket_option(m->to, SO_DOMAIN, AF_UNIX);

	return sn_io_wait_ready(m->to, POLLOUT, m->from, m->begun, deadline,
				looks ? &m->look : NULL);
}

/* What ends a wait for the source. An urgent byte does: splice() ends there. */
static short source_events(const struct move *m)
{
	return m->in == END_SOCKET ? POLLIN | POLLPRI : POLLIN;
}

/* Wait for an end that is not ready. Returns 0 if it may be ready now, or if
 * both ends are and the call should try. */
static int wait_for_ends(struct move *m, sennit_time deadline)
{
	if (must_wait_for_end(m->from, m->in, source_events(m)))
		return sn_io_wait_ready(m->from, source_events(m), m->to,
					m->begun, deadline, NULL);
	if (must_wait_for_end(m->to, m->out, POLLOUT))
		return wait_for_room(m, deadline);
	return 0;
}

/* --- moving ------------------------------------------------------------- */

/* Wait after a try that moved nothing. If both ends seem ready, another caller
 * has taken the bytes or the room, the room is too small, or the event is of no
 * use to the call. No event announces a change then, so there is a pause. */
static int wait_after_vain_try(struct move *m, sennit_time deadline)
{
	int err = deadline ? sn_io_is_late(deadline) : -ETIMEDOUT;

	if (err)
		return err;
	if (!must_wait_for_end(m->from, m->in, source_events(m)) &&
	    !must_wait_for_end(m->to, m->out, POLLOUT))
		return sn_io_pause(&m->pause, deadline);
	return wait_for_ends(m, deadline);
}

/* Whether an end was closed, so that its number may belong to another file. */
static bool is_an_end_closed(const struct move *m)
{
	return sn_io_closing_is_over(m->from, m->begun) ||
	       sn_io_closing_is_over(m->to, m->begun);
}

/* Runs on a blocking thread. The call may have waited for the thread, and an
 * end may be closed since. */
static void *run_unless_closed(void *argument)
{
	struct move *m = argument;

	if (!is_an_end_closed(m))
		return run_move(m);
	m->result = -ECANCELED;
	return NULL;
}

/* The most bytes of a cached file that are sent in place at once. */
#define IN_PLACE ((size_t)256 * 1024)

/* The number of bytes from the current offset to the end of the file, at most
 * IN_PLACE. */
static size_t remaining_file_size(const struct move *m)
{
	off_t  at = m->from_at ? *m->from_at : lseek(m->from, 0, SEEK_CUR);
	size_t size = m->size < IN_PLACE ? m->size : IN_PLACE;

	if (at < 0 || m->in_size <= at)
		return 0;
	return (uint64_t)(m->in_size - at) < size ? (size_t)(m->in_size - at)
						  : size;
}

/* Whether to wait for the ends before the first try, so that a helper thread
 * does not try in vain. Not if nothing is known to be left in the file: the try
 * then ends although the destination has no room. And not for a single try on a
 * socket, which cannot wait, and may get another error. */
static bool waits_first(const struct move *m, sennit_time deadline)
{
	if (m->flags & SPLICE_F_NONBLOCK)
		return false;
	return m->in ||
	       (remaining_file_size(m) && (deadline || m->out != END_SOCKET));
}

/* Try on a blocking thread, because a file may have to wait for its disc. */
static ptrdiff_t try_on_blocking_thread(struct move *m, sennit_time deadline)
{
	int err = waits_first(m, deadline) ? wait_for_ends(m, deadline) : 0;

	if (!err)
		err = sennit_blocking_call_until(run_unless_closed, m, NULL,
						 deadline);
	return err ? err : m->result;
}

static ptrdiff_t try_move(struct move *m, bool in_place, sennit_time deadline)
{
	if (!in_place)
		return try_on_blocking_thread(m, deadline);
	run_move(m);
	return m->result;
}

/* Whether nothing will come, and nothing is left. The second is asked after the
 * first: bytes may have come before the end. */
static bool has_ended(int fd)
{
	int events = sn_io_poll_now(fd, POLLRDHUP);
	int left = 0;

	return events > 0 && events & POLLRDHUP &&
	       (ioctl(fd, FIONREAD, &left) || !left);
}

/* Whether splice() would not wait for the source, but return 0: a datagram
 * socket was shut down, or an urgent byte is next. With O_NONBLOCK it returns
 * -EAGAIN then. The source alone says so. That a try found nothing does not:
 * the destination may have had no room for a moment. */
static bool is_source_at_end(const struct move *m)
{
	int at_urgent = 0;

	return m->run == run_splice && m->in == END_SOCKET &&
	       m->out == END_PIPE && sn_io_poll_now(m->to, POLLOUT) > 0 &&
	       (has_ended(m->from) ||
		(!ioctl(m->from, SIOCATMARK, &at_urgent) && at_urgent));
}

static ptrdiff_t move_with_retries(struct move *m, bool in_place,
				   sennit_time deadline)
{
	for (;;) {
		ptrdiff_t n = try_move(m, in_place, deadline);
		int       err;

		if (n == -EAGAIN && is_source_at_end(m))
			return 0;
		if (n != -EAGAIN || m->flags & SPLICE_F_NONBLOCK)
			return n;
		err = wait_after_vain_try(m, deadline);
		if (err)
			return err;
		if (is_an_end_closed(m))
			return -ECANCELED;
	}
}

static ptrdiff_t move_bytes(struct move *m, bool in_place, sennit_time deadline)
{
	ptrdiff_t n = move_with_retries(m, in_place, deadline);

	if (m->backend)
		sn_io_let_others_run(m->backend);
	return n;
}

static int begin_move(struct move *m)
{
	int err;

	m->begun = sn_io_closing_now();
	m->pause = IO_SHORTEST_PAUSE;
	m->look = IO_FIRST_LOOK;
	err = sn_io_backend_here(&m->backend);
	return err ? err : find_end_kinds(m);
}

/* --- errors --------------------------------------------------------------- */

/* The system returns these errors although an end is not ready. So they are
 * looked for where the call waits before it tries. */

static bool is_path(int fd)
{
	return fcntl(fd, F_GETFL) & O_PATH;
}

static bool has_access(int fd, int mode)
{
	const int has = fcntl(fd, F_GETFL) & O_ACCMODE;

	return !is_path(fd) && (has == mode || has == O_RDWR);
}

static bool is_offset_wrong(const off_t *at, size_t size)
{
	return at && (*at < 0 || (uint64_t)*at + size > INT64_MAX);
}

static int check_sendfile_source(const struct move *m)
{
	if (!has_access(m->from, O_RDONLY))
		return -EBADF;
	return is_offset_wrong(m->from_at, m->size) ? -EINVAL : 0;
}

static bool takes_no_splice(const struct move *m)
{
	return (m->in != END_PIPE && m->out != END_PIPE) ||
	       (m->in == END_PIPE && (fcntl(m->to, F_GETFL) & O_APPEND ||
				      is_offset_wrong(m->to_at, m->size)));
}

/* In the order of the system's checks. */
static int check_splice(const struct move *m)
{
	if (is_path(m->from) || is_path(m->to))
		return -EBADF;
	if ((m->in == END_PIPE && m->from_at) ||
	    (m->out == END_PIPE && m->to_at))
		return -ESPIPE;
	if (!has_access(m->from, O_RDONLY) || !has_access(m->to, O_WRONLY))
		return -EBADF;
	return takes_no_splice(m) ? -EINVAL : 0;
}

/* --- splice --------------------------------------------------------------- */

/* All flags that splice() knows. */
#define SPLICE_FLAGS                                                    \
	((unsigned)(SPLICE_F_MOVE | SPLICE_F_NONBLOCK | SPLICE_F_MORE | \
		    SPLICE_F_GIFT))

ptrdiff_t sennit_splice(int from, int64_t *from_at, int to, int64_t *to_at,
			size_t size, unsigned flags, sennit_time deadline)
{
	struct move m = { .run = run_splice,
			  .from = from,
			  .to = to,
			  .from_at = from_at,
			  .to_at = to_at,
			  .size = size,
			  .flags = flags };
	int         err;

	/* The results of splice(), which checks the descriptors later. */
	if (!size && !IO_SIMULATED)
		return 0;
	if (flags & ~SPLICE_FLAGS && !IO_SIMULATED)
		return -EINVAL;
	err = IO_SIMULATED ? -EOPNOTSUPP : begin_move(&m);
	if (!err && !(m.in && m.out))
		err = check_splice(&m);
	return err ? err : move_bytes(&m, m.in && m.out, deadline);
}

/* --- files -------------------------------------------------------------- */

/* The most bytes that one system call moves. It refuses a size that reaches
 * beyond the largest file offset. */
#define MOST ((size_t)0x7ffff000)

/* cachestat(), since Linux 6.5. The headers of Debian 12 do not have it. */
#define CACHESTAT 451

struct cache_range {
	uint64_t at, size;
};

struct cache_pages {
	uint64_t cached, dirty, written, evicted, evicted_lately;
};

/* Whether all bytes that m asks for are in the page cache. False if the kernel
 * cannot tell. */
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

/* The source is no file: the error that sendfile() returns. */
static int refuse_to_send(const struct move *m)
{
	return has_access(m->from, O_RDONLY) && has_access(m->to, O_WRONLY)
		       ? -EINVAL
		       : -EBADF;
}

ptrdiff_t sennit_sendfile(int to, int from, int64_t *at, size_t size,
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
	err = begin_move(&m);
	if (err)
		return err;
	if (!size && m.out != END_PIPE) { /* checks, and does not wait */
		run_until_not_interrupted(&m);
		return m.result;
	}
	if (m.in && (m.in != END_TERMINAL || m.out != END_PIPE))
		return refuse_to_send(&m);
	err = check_sendfile_source(&m);
	if (err)
		return err;
	if (m.out == END_PIPE && !has_access(to, O_WRONLY))
		return -EBADF;
	if (m.out == END_PIPE)
		m.run = size ? run_splice : run_nothing_to_pipe;
	if (!size) {
		m.in = END_OTHER; /* it is not waited for */
		return move_bytes(&m, true, deadline);
	}
	part = m;
	part.size = remaining_file_size(&m);
	if (part.size && m.out && is_cached(&part))
		return move_bytes(&part, true, deadline);
	return move_bytes(&m, false, deadline);
}
