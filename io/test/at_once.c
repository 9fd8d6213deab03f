/* SPDX-License-Identifier: Apache-2.0 */
/* at_once.c - calls that the system refuses, or that do nothing, return at once
 * what the system call returns, although the descriptor is not ready. And a
 * poll for an urgent byte alone ends when one comes.
 */
#include "operations.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/uio.h>

/* --- returns at once ----------------------------------------------------- */

/* `plain`: by the system call. */
struct row {
	const char *name;
	void (*open)(int fds[2]);
	ptrdiff_t (*call)(int fd, bool plain);
};

/* Two more parts than the system takes. */
enum { TOO_MANY = 1026 };

static char               bytes[64];
static const struct iovec nothing = { bytes, 0 };

static const struct iovec *too_many(void)
{
	static struct iovec v[TOO_MANY];

	for (int i = 0; i < TOO_MANY; i++)
		v[i] = (struct iovec){ bytes, 1 };
	return v;
}

static ptrdiff_t result_of(ptrdiff_t n)
{
	return n < 0 ? -errno : n;
}

static void open_counter(int fds[2])
{
	fds[0] = eventfd(0, EFD_CLOEXEC);
	fds[1] = -1;
	must(fds[0] >= 0, "eventfd");
}

static void open_epoll(int fds[2])
{
	fds[0] = epoll_create1(EPOLL_CLOEXEC);
	fds[1] = -1;
	must(fds[0] >= 0, "epoll_create1");
}

/* A descriptor of a pipe's path, with which nothing may be read. */
static void open_path(int fds[2])
{
	int  pipe[2];
	char path[32];

	begin_pipe(pipe);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", pipe[0]);
	fds[0] = open(path, O_PATH | O_CLOEXEC);
	fds[1] = pipe[1];
	must(fds[0] >= 0, "open");
	close(pipe[0]);
}

static ptrdiff_t call_pread(int fd, bool plain)
{
	return plain ? result_of(pread(fd, bytes, 1, 0))
		     : sennit_pread(fd, bytes, 1, 0, SENNIT_NEVER);
}

static ptrdiff_t call_pwrite(int fd, bool plain)
{
	return plain ? result_of(pwrite(fd, bytes, 1, 0))
		     : sennit_pwrite(fd, bytes, 1, 0, SENNIT_NEVER);
}

static ptrdiff_t call_readv_nothing(int fd, bool plain)
{
	return plain ? result_of(readv(fd, &nothing, 1))
		     : sennit_readv(fd, &nothing, 1, SENNIT_NEVER);
}

static ptrdiff_t call_writev_nothing(int fd, bool plain)
{
	return plain ? result_of(writev(fd, &nothing, 1))
		     : sennit_writev(fd, &nothing, 1, SENNIT_NEVER);
}

static ptrdiff_t call_readv_too_many(int fd, bool plain)
{
	return plain ? result_of(readv(fd, too_many(), TOO_MANY))
		     : sennit_readv(fd, too_many(), TOO_MANY, SENNIT_NEVER);
}

static ptrdiff_t call_writev_too_many(int fd, bool plain)
{
	return plain ? result_of(writev(fd, too_many(), TOO_MANY))
		     : sennit_writev(fd, too_many(), TOO_MANY, SENNIT_NEVER);
}

static const struct iovec too_long[2] = { { bytes, 1 },
					  { bytes, (size_t)PTRDIFF_MAX + 1 } };

static ptrdiff_t call_readv_too_long(int fd, bool plain)
{
	return plain ? result_of(readv(fd, too_long, 2))
		     : sennit_readv(fd, too_long, 2, SENNIT_NEVER);
}

static ptrdiff_t call_writev_too_long(int fd, bool plain)
{
	return plain ? result_of(writev(fd, too_long, 2))
		     : sennit_writev(fd, too_long, 2, SENNIT_NEVER);
}

/* Fewer bytes than a counter has. */
static ptrdiff_t call_read_some(int fd, bool plain)
{
	return plain ? result_of(read(fd, bytes, 4))
		     : sennit_read(fd, bytes, 4, SENNIT_NEVER);
}

static ptrdiff_t call_write_some(int fd, bool plain)
{
	return plain ? result_of(write(fd, bytes, 4))
		     : sennit_write(fd, bytes, 4, SENNIT_NEVER);
}

static ptrdiff_t call_send_file(int fd, bool plain)
{
	int       from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ptrdiff_t n;

	must(from >= 0, "open");
	n = plain ? result_of(sendfile(fd, from, NULL, 1))
		  : sennit_sendfile(fd, from, NULL, 1, SENNIT_NEVER);
	close(from);
	return n;
}

static const struct row rows[] = {
	{ "pread of an empty socket", open_sockets, call_pread },
	{ "pwrite of a full socket", open_full_sockets, call_pwrite },
	{ "pread of an empty pipe", begin_pipe, call_pread },
	{ "pwrite of a full pipe", open_full_pipe, call_pwrite },
	{ "pread of a path", open_path, call_pread },
	{ "pwrite of a path", open_path, call_pwrite },
	{ "read of a path", open_path, call_read_some },
	{ "readv of nothing, empty socket", open_sockets, call_readv_nothing },
	{ "readv of nothing, empty pipe", begin_pipe, call_readv_nothing },
	{ "writev of nothing, full socket", open_full_sockets,
	  call_writev_nothing },
	{ "writev of nothing, full pipe", open_full_pipe, call_writev_nothing },
	{ "readv of too many, empty socket", open_sockets,
	  call_readv_too_many },
	{ "readv of too many, empty pipe", begin_pipe, call_readv_too_many },
	{ "writev of too many, full socket", open_full_sockets,
	  call_writev_too_many },
	{ "writev of too many, full pipe", open_full_pipe,
	  call_writev_too_many },
	{ "readv of too long, empty socket", open_sockets,
	  call_readv_too_long },
	{ "readv of too long, empty pipe", begin_pipe, call_readv_too_long },
	{ "writev of too long, full socket", open_full_sockets,
	  call_writev_too_long },
	{ "writev of too long, full pipe", open_full_pipe,
	  call_writev_too_long },
	{ "write to a pipe's reader", begin_pipe, call_write_some },
	{ "read from a pipe's writer", open_pipe_to_write, call_read_some },
	{ "read from a full pipe's writer", open_full_pipe, call_read_some },
	{ "read of four bytes of a counter", open_counter, call_read_some },
	{ "write of four bytes to a counter", open_counter, call_write_some },
	{ "read of an epoll descriptor", open_epoll, call_read_some },
	{ "sendfile to a listener", open_listener, call_send_file },
};

TEST_IN_EACH_PLACE(a_call_that_cannot_proceed_returns_at_once)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int       fds[2];
		ptrdiff_t expected, n;

		rows[i].open(fds);
		signal(SIGPIPE, SIG_IGN);
		expected = rows[i].call(fds[0], true);
		n = rows[i].call(fds[0], false);
		if (n != expected)
			fprintf(stderr, "%s: %td, plain %td\n", rows[i].name, n,
				expected);
		EXPECT(n == expected);
		close(fds[0]);
		if (fds[1] >= 0)
			close(fds[1]);
	}
}

/* --- moving -------------------------------------------------------------- */

/* Whole files, and descriptors with which the system moves nothing. */
enum {
	PROGRAM,
	NO_BYTES,
	FOLDER,
	TO_WRITE,
	TO_APPEND,
	STATUS, /* has no bytes to send */
	PATH,
	EMPTY_PIPE,
	ITS_WRITER,
	FULL_PIPE,
	ITS_READER,
	SOCKET,
	KINDS
};

static char scrap[] = "/tmp/sennit-at-once-XXXXXX";

static int must_open_file(const char *name, int flags)
{
	int fd = open(name, flags | O_CLOEXEC);

	must(fd >= 0, name);
	return fd;
}

static void open_kinds(int kinds[KINDS], int *socket)
{
	int fds[2];

	strcpy(strrchr(scrap, '-'), "-XXXXXX");
	kinds[TO_WRITE] = mkostemp(scrap, O_CLOEXEC);
	must(kinds[TO_WRITE] >= 0, "mkostemp");
	close(kinds[TO_WRITE]);
	kinds[TO_WRITE] = must_open_file(scrap, O_WRONLY);
	kinds[TO_APPEND] = must_open_file(scrap, O_WRONLY | O_APPEND);
	kinds[NO_BYTES] = must_open_file(scrap, O_RDONLY);
	unlink(scrap);
	kinds[PROGRAM] = must_open_file("/proc/self/exe", O_RDONLY);
	kinds[FOLDER] = must_open_file("/", O_RDONLY | O_DIRECTORY);
	kinds[STATUS] = must_open_file("/proc/self/status", O_RDONLY);
	kinds[PATH] = must_open_file("/proc/self/exe", O_PATH);
	begin_pipe(fds);
	kinds[EMPTY_PIPE] = fds[0];
	kinds[ITS_WRITER] = fds[1];
	open_full_pipe(fds);
	kinds[FULL_PIPE] = fds[0];
	kinds[ITS_READER] = fds[1];
	open_sockets(fds);
	kinds[SOCKET] = fds[0];
	*socket = fds[1];
}

static void close_kinds(const int kinds[KINDS], int socket)
{
	for (int i = 0; i < KINDS; i++)
		close(kinds[i]);
	close(socket);
}

static const off_t offsets[] = { 0, -1, INT64_MAX - 3, 1 << 30 };

/* The offset of this index; -1: by the position. */
static off_t *offset_of(off_t *at, int i)
{
	*at = i < 0 ? 0 : offsets[i];
	return i < 0 ? NULL : at;
}

/* cell: the source, its offset, the destination, its offset. */
static void check_move(const char *what, const int cell[4], ptrdiff_t n,
		       ptrdiff_t plain)
{
	if (n != plain)
		fprintf(stderr, "%s %d, %d to %d, %d: %td, plain %td\n", what,
			cell[0], cell[1], cell[2], cell[3], n, plain);
	EXPECT(n == plain);
}

static void open_full_tcp(int fds[2])
{
	open_tcp_connection(fds);
	fill(fds[0]);
}

/* A full socket for messages, with less room than they need. */
static void open_full_short(int fds[2])
{
	const int room = 1;

	must(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds),
	     "socketpair");
	must(!setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)),
	     "setsockopt");
	fill(fds[0]);
}

/* To a full destination that does not wait. Of a whole file something could be
 * sent later, unless it is too long for one message. */
static void try_sendfile(const int cell[4], int to, int from)
{
	off_t     at, plain_at;
	ptrdiff_t plain;

	set_nonblock(to, true);
	plain = result_of(
		sendfile(to, from, offset_of(&plain_at, cell[1]), 65536));
	if (plain > 0 || plain == -EAGAIN)
		return;
	for (int once = 0; once < 2; once++)
		check_move("sendfile", cell,
			   sennit_sendfile(to, from, offset_of(&at, cell[1]),
					   65536, once ? 0 : SENNIT_NEVER),
			   plain);
}

static void send_to(void (*open_it)(int fds[2]), int number)
{
	int kinds[KINDS], socket, to[2];

	open_kinds(kinds, &socket);
	open_it(to);
	for (int kind = PROGRAM; kind <= PATH; kind++)
		for (int at = -1; at < 4; at++)
			try_sendfile((int[]){ kind, at, number, 0 }, to[0],
				     kinds[kind]);
	close(to[0]);
	close(to[1]);
	close_kinds(kinds, socket);
}

TEST_IN_EACH_PLACE(a_sendfile_that_cannot_proceed_returns_at_once)
{
	signal(SIGPIPE, SIG_IGN);
	send_to(open_full_sockets, 0);
	send_to(open_full_tcp, 1);
	send_to(open_full_short, 2);
	send_to(open_full_pipe, 3);
}

static void try_splice(const int cell[4], const int kinds[KINDS])
{
	const int from = kinds[cell[0]], to = kinds[cell[2]];
	off_t     at[2];
	ptrdiff_t plain = result_of(splice(from, offset_of(&at[0], cell[1]), to,
					   offset_of(&at[1], cell[3]), 10,
					   SPLICE_F_NONBLOCK));

	if (plain >= 0 || plain == -EAGAIN)
		return;
	check_move("splice", cell,
		   sennit_splice(from, offset_of(&at[0], cell[1]), to,
				 offset_of(&at[1], cell[3]), 10, 0,
				 SENNIT_NEVER),
		   plain);
}

TEST_IN_EACH_PLACE(a_splice_that_cannot_proceed_returns_at_once)
{
	int kinds[KINDS], socket;

	signal(SIGPIPE, SIG_IGN);
	open_kinds(kinds, &socket);
	set_nonblock(kinds[SOCKET], true);
	for (int i = 0; i < KINDS * KINDS * 16; i++)
		try_splice((int[]){ i / 16 / KINDS, i / 4 % 4 - 1,
				    i / 16 % KINDS, i % 4 - 1 },
			   kinds);
	close_kinds(kinds, socket);
}

/* --- urgent bytes -------------------------------------------------------- */

static void *send_urgent(void *fd)
{
	usleep(1000); /* in any order the result is the same */
	must(send(*(int *)fd, "!", 1, MSG_OOB) == 1, "send");
	return NULL;
}

TEST_IN_EACH_PLACE(an_urgent_byte_ends_a_poll_for_it_alone)
{
	static const short events[] = { POLLPRI, POLLPRI | POLLRDHUP };

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		int       fds[2];
		pthread_t t;

		open_tcp_connection(fds);
		t = must_start_thread(send_urgent, &fds[1]);
		EXPECT(sennit_poll(fds[0], events[i], SENNIT_NEVER) == POLLPRI);
		pthread_join(t, NULL);
		EXPECT(sennit_poll(fds[0], events[i], 0) == POLLPRI);
		close(fds[0]);
		close(fds[1]);
	}
}

USES_BACKEND;
