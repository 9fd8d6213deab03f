/* SPDX-License-Identifier: Apache-2.0 */
/* operations.h - for tests of libsennit-io: its backends, its operations, and
 * counts of the fibers that wait in them. */
#ifndef SN_TEST_OPERATIONS_H
#define SN_TEST_OPERATIONS_H

#include "testing/with_workers.h"
#include "sennit/io.h"
#include "sennit/net.h"
#include "sennit/splice.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <netinet/in.h>
#include <sys/mman.h>

/* --- with backend ------------------------------------------------------ */

/* Run the tests of libsennit-io with the backend that SENNIT_TEST_IO names:
 * epoll; uring, skipped if there is none; or refused: a filter refuses the
 * system calls that old kernels lack, and epoll must work. */

static const char *wanted_backend = "epoll";

/* cachestat(), which the headers of Debian 12 do not have. */
#define TEST_CACHESTAT 451

/* From now on io_uring_setup() fails, as in a container; cachestat() fails, as
 * before Linux 6.5; preadv2() and pwritev2() fail, as under qemu-user. */
static inline void refuse_new_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 5, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_preadv2, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwritev2, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TEST_CACHESTAT, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	const struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]), .filter = filter
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		printf("skipped: no filters here\n");
		exit(77);
	}
}

static inline const char *backend_here(void)
{
	sennit_scheduler *s;
	const char       *name;

	if (sennit_scheduler_create(
		    &s, SENNIT_CONFIG(.workers = SENNIT_WORKERS_NONE)) ||
	    sennit_thread_bind(s))
		exit(3);
	name = sennit_io_backend();
	sennit_thread_unbind();
	(void)!sennit_scheduler_shutdown(s, SENNIT_NEVER);
	return name;
}

static inline int choose_backend(void)
{
	const char *wanted = getenv("SENNIT_TEST_IO");
	const char *here;

	if (wanted && !strcmp(wanted, "refused"))
		refuse_new_calls();
	else if (wanted)
		wanted_backend = wanted;
	setenv("SENNIT_IO",
	       wanted && !strcmp(wanted, "refused") ? "uring" : wanted_backend,
	       1);
	here = backend_here();
	if (!here || strcmp(here, wanted_backend) != 0) {
		printf("no %s here but %s\n", wanted_backend, here);
		return wanted && !strcmp(wanted, "uring") ? 77 : 1;
	}
	return 0;
}

#define USES_BACKEND BEFORE_ALL(choose_backend)

/* --- at an offset -------------------------------------------------------- */

/* Some libcs do not have them, and a libc with 32-bit offsets has two versions
 * of each. The kernel takes the offset in two halves. */
static inline ssize_t plain_preadv2(int fd, const struct iovec *v, int count,
				    int64_t at, int flags)
{
	return syscall(SYS_preadv2, fd, v, (long)count, (long)at,
		       (long)(at >> 32), (long)flags);
}

static inline ssize_t plain_pwritev2(int fd, const struct iovec *v, int count,
				     int64_t at, int flags)
{
	return syscall(SYS_pwritev2, fd, v, (long)count, (long)at,
		       (long)(at >> 32), (long)flags);
}

/* --- waits -------------------------------------------------------------- */

static inline void count_io_waits(void *context, const sennit_report_entry *e)
{
	if (e->state == SENNIT_REPORT_BLOCKED &&
	    (e->waits_for == SENNIT_WAITS_FOR_IO ||
	     e->waits_for == SENNIT_WAITS_FOR_SELECT))
		++*(unsigned *)context;
}

/* The number of fibers that wait for I/O, or in a select. */
static inline unsigned io_waits(sennit_scheduler *s)
{
	unsigned count = 0;

	sennit_report_visit(s, count_io_waits, &count);
	return count;
}

static inline sennit_time in_ms(uint64_t ms)
{
	return sennit_after(ms * SENNIT_MILLISECOND);
}

/* --- operations -------------------------------------------------------- */

/* Every operation that may wait, with the functions that make it wait and that
 * let it continue.
 *
 *	open        opens fds[0], on which the operation would wait, and
 *	            fds[1], the other end
 *	call        performs the operation; returns its result
 *	make_ready  makes the operation able to continue
 *	done        the result of call then; 0: anything above 0 */

struct operation {
	const char *name;
	void (*open)(int fds[2]);
	ptrdiff_t (*call)(int fd, sennit_time deadline);
	void (*make_ready)(int fds[2]);
	ptrdiff_t done;
	ptrdiff_t gone; /* the result if the other end is closed */
};

/* --- other ends --------------------------------------------------------- */

static inline void must(bool holds, const char *what)
{
	if (holds)
		return;
	perror(what);
	abort();
}

static inline void open_sockets(int fds[2])
{
	must(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds),
	     "socketpair");
}

static inline void begin_pipe(int fds[2])
{
	must(!pipe2(fds, O_CLOEXEC), "pipe");
}

static inline void set_nonblock(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	must(!fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK),
	     "fcntl");
}

static inline void fill(int fd)
{
	static const char zeroes[4096];

	set_nonblock(fd, true);
	while (write(fd, zeroes, sizeof(zeroes)) > 0)
		;
	while (write(fd, zeroes, 1) > 0)
		;
	must(errno == EAGAIN, "fill");
	set_nonblock(fd, false);
}

static inline void open_full_sockets(int fds[2])
{
	open_sockets(fds);
	fill(fds[0]);
}

static inline void open_pipe_to_write(int fds[2])
{
	int ends[2];

	begin_pipe(ends);
	fds[0] = ends[1];
	fds[1] = ends[0];
}

static inline void open_full_pipe(int fds[2])
{
	open_pipe_to_write(fds);
	fill(fds[0]);
}

static inline void drain(int fds[2])
{
	char bytes[4096];

	set_nonblock(fds[1], true);
	while (read(fds[1], bytes, sizeof(bytes)) > 0)
		;
	set_nonblock(fds[1], false);
}

static inline void give_two_bytes(int fds[2])
{
	must(write(fds[1], "ab", 2) == 2, "write");
}

static inline void open_listener(int fds[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t          size = sizeof(a);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	fds[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(fds[0] >= 0 && fds[1] >= 0, "socket");
	must(!bind(fds[0], (struct sockaddr *)&a, size), "bind");
	must(!listen(fds[0], 16), "listen");
}

static inline void connect_to_listener(int fds[2])
{
	struct sockaddr_in a;
	socklen_t          size = sizeof(a);

	must(!getsockname(fds[0], (struct sockaddr *)&a, &size), "getsockname");
	must(!connect(fds[1], (struct sockaddr *)&a, size), "connect");
}

/* Connect fds[1]. The server's end of the connection takes the place of the
 * listener. */
static inline void accept_from_listener(int fds[2])
{
	const int listener = fds[0];

	connect_to_listener(fds);
	fds[0] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	must(fds[0] >= 0, "accept");
	close(listener);
}

static inline void open_tcp_connection(int fds[2])
{
	open_listener(fds);
	accept_from_listener(fds);
}

/* --- operations --------------------------------------------------------- */

static inline ptrdiff_t is_ab(ptrdiff_t n, const char *bytes)
{
	EXPECT(n != 2 || !memcmp(bytes, "ab", 2));
	return n;
}

static inline ptrdiff_t call_read(int fd, sennit_time deadline)
{
	char b[8] = "";

	return is_ab(sennit_read(fd, b, sizeof(b), deadline), b);
}

static inline ptrdiff_t call_readv(int fd, sennit_time deadline)
{
	char               b[8] = "";
	const struct iovec v[2] = { { b, 1 }, { b + 1, 7 } };

	return is_ab(sennit_readv(fd, v, 2, deadline), b);
}

static inline ptrdiff_t call_recv(int fd, sennit_time deadline)
{
	char b[8] = "";

	return is_ab(sennit_recv(fd, b, sizeof(b), 0, deadline), b);
}

static inline ptrdiff_t call_recvmsg(int fd, sennit_time deadline)
{
	char          b[8] = "";
	struct iovec  v = { b, sizeof(b) };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };

	return is_ab(sennit_recvmsg(fd, &m, 0, deadline), b);
}

static inline ptrdiff_t call_write(int fd, sennit_time deadline)
{
	return sennit_write(fd, "abc", 3, deadline);
}

static inline ptrdiff_t call_writev(int fd, sennit_time deadline)
{
	const struct iovec v[2] = { { "a", 1 }, { "bc", 2 } };

	return sennit_writev(fd, v, 2, deadline);
}

static inline ptrdiff_t call_send(int fd, sennit_time deadline)
{
	return sennit_send(fd, "abc", 3, 0, deadline);
}

static inline ptrdiff_t call_sendmsg(int fd, sennit_time deadline)
{
	struct iovec        v = { "abc", 3 };
	const struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };

	return sennit_sendmsg(fd, &m, 0, deadline);
}

static inline ptrdiff_t call_accept(int fd, sennit_time deadline)
{
	int connection = sennit_accept(fd, NULL, NULL, SOCK_CLOEXEC, deadline);

	if (connection < 0)
		return connection;
	close(connection);
	return 1;
}

static inline ptrdiff_t call_poll_in(int fd, sennit_time deadline)
{
	int events = sennit_poll(fd, POLLIN, deadline);

	return events & (POLLIN | POLLHUP) && events > 0 ? POLLIN : events;
}

static inline ptrdiff_t call_poll_out(int fd, sennit_time deadline)
{
	int events = sennit_poll(fd, POLLOUT, deadline);

	return events & (POLLOUT | POLLHUP) && events > 0 ? POLLOUT : events;
}

/* Waits for several descriptors; `silent` has nothing to read. */
static inline ptrdiff_t poll_among(int silent, int fd, sennit_time deadline)
{
	struct pollfd p[] = { { .fd = -1 },
			      { .fd = silent, .events = POLLIN },
			      { .fd = fd, .events = POLLIN },
			      { .fd = fd, .events = POLLPRI } };
	int           n = sennit_poll_many(p, 4, deadline);

	EXPECT(n <= 0 || (p[2].revents & POLLIN));
	EXPECT(!p[1].revents && !p[0].revents);
	return n > 0 ? 1 : n;
}

static inline ptrdiff_t call_poll_many(int fd, sennit_time deadline)
{
	int       fds[2];
	ptrdiff_t result;

	begin_pipe(fds);
	result = poll_among(fds[0], fd, deadline);
	close(fds[0]);
	close(fds[1]);
	return result;
}

/* The result of a select with one case. */
static inline ptrdiff_t call_select(sennit_case k, sennit_time deadline)
{
	size_t which = 77;
	int    err = sennit_select_until(&k, 1, &which, deadline);

	EXPECT(which == (err ? 77 : 0));
	return err ? err : k.result;
}

static inline ptrdiff_t call_select_in(int fd, sennit_time deadline)
{
	ptrdiff_t events = call_select(sennit_case_readable(fd), deadline);

	return events > 0 && events & (POLLIN | POLLHUP) ? POLLIN : events;
}

static inline ptrdiff_t call_select_out(int fd, sennit_time deadline)
{
	ptrdiff_t events = call_select(sennit_case_writable(fd), deadline);

	return events > 0 && events & (POLLOUT | POLLHUP) ? POLLOUT : events;
}

/* In a select with cases of all kinds. `silent` has nothing to read, and `late`
 * does not happen. */
static inline ptrdiff_t select_among(int silent, int fd, sennit_time late,
				     sennit_time deadline)
{
	sennit_channel never = SENNIT_CHANNEL_INIT(0);
	sennit_event   unset = SENNIT_EVENT_INIT(SENNIT_EVENT_AUTO);
	sennit_future  open = SENNIT_FUTURE_INIT;
	sennit_case    cases[9];
	size_t         which = 77;
	int            err;

	cases[0] = sennit_case_readable(silent);
	cases[1] = sennit_case_receive(&never, NULL);
	cases[2] = cases[6] = sennit_case_readable(fd);
	cases[3] = sennit_case_event(&unset);
	cases[4] = sennit_case_deadline(late);
	cases[5] = sennit_case_future(&open, NULL);
	cases[7] = sennit_case_send(&never, NULL);
	cases[8] = sennit_case_readable(-1);
	err = sennit_select_until(cases, 9, &which, deadline);
	EXPECT(which == 77 || which == 2 || which == 6);
	EXPECT((which == 77) == (err != 0));
	sennit_channel_destroy(&never); /* no fiber uses it any more */
	sennit_event_destroy(&unset);
	sennit_future_destroy(&open);
	if (err)
		return err;
	return cases[which].result < 0 ? cases[which].result : 1;
}

static inline ptrdiff_t call_select_among(int fd, sennit_time deadline)
{
	int       fds[2];
	ptrdiff_t result;

	begin_pipe(fds);
	result = select_among(fds[0], fd, sennit_after(GIVE_UP), deadline);
	close(fds[0]);
	close(fds[1]);
	return result;
}

static inline ptrdiff_t call_splice_in(int fd, sennit_time deadline)
{
	int       fds[2];
	char      b[8] = "";
	ptrdiff_t n;

	begin_pipe(fds);
	n = sennit_splice(fd, NULL, fds[1], NULL, 8, 0, deadline);
	close(fds[1]);
	EXPECT(read(fds[0], b, sizeof(b)) == (n > 0 ? n : 0));
	close(fds[0]);
	return is_ab(n, b);
}

static inline ptrdiff_t call_splice_out(int fd, sennit_time deadline)
{
	int       fds[2];
	char      b[8] = "";
	ptrdiff_t n;

	begin_pipe(fds);
	must(write(fds[1], "abc", 3) == 3, "write");
	n = sennit_splice(fds[0], NULL, fd, NULL, 3, 0, deadline);
	close(fds[1]);
	if (n != -EPIPE) /* what was not moved is still there */
		EXPECT(read(fds[0], b, sizeof(b)) == (n > 0 ? 0 : 3));
	close(fds[0]);
	return n;
}

static inline ptrdiff_t call_sendfile(int fd, sennit_time deadline)
{
	int       file = memfd_create("operations", MFD_CLOEXEC);
	int64_t   at = 1;
	ptrdiff_t n;

	must(write(file, "_abc", 4) == 4, "write");
	n = sennit_sendfile(fd, file, &at, 10, deadline);
	EXPECT(at == (n > 0 ? 1 + n : 1));
	close(file);
	return n;
}

static const struct operation operations[] = {
	{ "read socket", open_sockets, call_read, give_two_bytes, 2, 0 },
	{ "read pipe", begin_pipe, call_read, give_two_bytes, 2, 0 },
	{ "readv socket", open_sockets, call_readv, give_two_bytes, 2, 0 },
	{ "readv pipe", begin_pipe, call_readv, give_two_bytes, 2, 0 },
	{ "recv", open_sockets, call_recv, give_two_bytes, 2, 0 },
	{ "recvmsg", open_sockets, call_recvmsg, give_two_bytes, 2, 0 },
	{ "write socket", open_full_sockets, call_write, drain, 3, -EPIPE },
	{ "write pipe", open_full_pipe, call_write, drain, 3, -EPIPE },
	{ "writev socket", open_full_sockets, call_writev, drain, 3, -EPIPE },
	{ "writev pipe", open_full_pipe, call_writev, drain, 3, -EPIPE },
	{ "send", open_full_sockets, call_send, drain, 3, -EPIPE },
	{ "sendmsg", open_full_sockets, call_sendmsg, drain, 3, -EPIPE },
	{ "accept", open_listener, call_accept, connect_to_listener, 1, 1 },
	{ "poll in", open_sockets, call_poll_in, give_two_bytes, POLLIN,
	  POLLIN },
	{ "poll out", open_full_sockets, call_poll_out, drain, POLLOUT,
	  POLLOUT },
	{ "poll several", open_sockets, call_poll_many, give_two_bytes, 1, 1 },
	{ "select in", open_sockets, call_select_in, give_two_bytes, POLLIN,
	  POLLIN },
	{ "select out", open_full_sockets, call_select_out, drain, POLLOUT,
	  POLLOUT },
	{ "select among", open_sockets, call_select_among, give_two_bytes, 1,
	  1 },
	{ "splice socket", open_sockets, call_splice_in, give_two_bytes, 2, 0 },
	{ "splice pipe", begin_pipe, call_splice_in, give_two_bytes, 2, 0 },
	{ "splice to socket", open_full_sockets, call_splice_out, drain, 3,
	  -EPIPE },
	{ "splice to pipe", open_full_pipe, call_splice_out, drain, 3, -EPIPE },
	{ "sendfile", open_full_sockets, call_sendfile, drain, 3, -EPIPE },
	{ "sendfile to pipe", open_full_pipe, call_sendfile, drain, 3, -EPIPE },
};

#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))

/* --- attempt ----------------------------------------------------------- */

/* One try of an operation, and a wait that something else ends. */

/* What is tried, in one of the places. */
struct attempt {
	const struct operation *of;
	int                     fds[2];
	sennit_scheduler       *s;
	bool                    nonblock;
	ptrdiff_t               result;
	atomic_bool             over;
};

/* -EBADF: the call had not entered the kernel yet. */
static inline bool is_closed(ptrdiff_t result)
{
	return result == -ECANCELED || result == -EBADF;
}

static inline void begin(struct attempt *a)
{
	a->of->open(a->fds);
	set_nonblock(a->fds[0], a->nonblock);
	atomic_store(&a->over, false);
}

static inline void end_attempt(struct attempt *a)
{
	close(a->fds[0]);
	if (a->fds[1] >= 0)
		close(a->fds[1]);
}

static inline void said(const struct attempt *a, ptrdiff_t result,
			ptrdiff_t expected, const char *when)
{
	if (result == expected)
		return;
	fprintf(stderr, "%s%s, %s: %td, expected %td\n", a->of->name,
		a->nonblock ? " (O_NONBLOCK)" : "", when, result, expected);
	EXPECT(false);
}

static inline void call_to_wait(void *argument)
{
	struct attempt *a = argument;

	a->result = a->of->call(a->fds[0], SENNIT_NEVER);
	atomic_store(&a->over, true);
}

static inline void make_ready(void *argument)
{
	struct attempt *a = argument;

	a->of->make_ready(a->fds);
}

static inline void wait_in_task(struct attempt *a)
{
	must_schedule(call_to_wait, a);
	EXPECT_SOON(io_waits(a->s) == 1);
	in_a_thread(make_ready, a);
	EXPECT_SOON(atomic_load(&a->over));
	said(a, a->result, a->of->done, "made ready by a thread");
}

#endif
