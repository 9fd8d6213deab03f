/* SPDX-License-Identifier: Apache-2.0 */
/* flags.c - each flag of recv(), send() and accept() has the same effect as in
 * the system call, whichever backend carries out the call: the same result,
 * bytes, and rest.
 */
#include "operations.h"

#include <dirent.h>
#include <linux/net_tstamp.h>
#include <sys/ioctl.h>

static void open_datagrams(int fds[2])
{
	must(!socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds), "pair");
}

static void open_packets(int fds[2])
{
	must(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds),
	     "pair");
}

static const struct socket_kind {
	const char *name;
	void (*open)(int fds[2]);
} kinds[] = { { "tcp", open_tcp_connection },
	      { "unix stream", open_sockets },
	      { "unix datagrams", open_datagrams },
	      { "unix packets", open_packets } };

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* --- receiving ---------------------------------------------------------- */

/* What the peer does after it has sent two bytes. */
enum later { SENDS_MORE = 0, CLOSES, LATERS };

struct receiver {
	int         fd, flags;
	bool        plain;   /* by the system call */
	bool        message; /* recvmsg() */
	ptrdiff_t   result;
	int         message_flags;
	char        bytes[4];
	atomic_bool begun, over;
};

static ptrdiff_t receive_message(struct receiver *r)
{
	struct iovec  v[3] = { { r->bytes, 1 },
			       { r->bytes, 0 },
			       { r->bytes + 1, 3 } };
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 3 };
	ptrdiff_t     n = r->plain ? recvmsg(r->fd, &m, r->flags)
				   : sennit_recvmsg(r->fd, &m, r->flags,
						    SENNIT_NEVER);

	r->message_flags = n < 0 ? 0 : m.msg_flags & ~MSG_CMSG_CLOEXEC;
	return n;
}

static void receive(void *argument)
{
	struct receiver *r = argument;

	atomic_store(&r->begun, true);
	if (r->message)
		r->result = receive_message(r);
	else
		r->result = r->plain ? recv(r->fd, r->bytes, 4, r->flags)
				     : sennit_recv(r->fd, r->bytes, 4, r->flags,
						   SENNIT_NEVER);
	if (r->plain && r->result < 0)
		r->result = -errno;
	atomic_store(&r->over, true);
}

static void *receive_as_thread(void *r)
{
	receive(r);
	return NULL;
}

static void be_peer(struct receiver *r, int fd, enum later later)
{
	EXPECT_SOON(atomic_load(&r->begun));
	EXPECT(!sennit_sleep(SENNIT_MILLISECOND)); /* any order is correct */
	if (later == SENDS_MORE)
		EXPECT(send(fd, "cd", 2, MSG_NOSIGNAL) == 2);
	else
		EXPECT(!shutdown(fd, SHUT_WR));
	EXPECT_SOON(atomic_load(&r->over));
}

struct left {
	ptrdiff_t result;
	int       message_flags;
	char      bytes[4];
	ptrdiff_t next; /* the number of bytes that the next receive returns */
};

/* Without MSG_WAITALL the call returns the bytes that are there, before the
 * peer continues. */
static struct left try_receive(const struct socket_kind *k, int flags,
			       bool message, enum later later, int place)
{
	struct receiver r = { .flags = flags,
			      .plain = place == 0,
			      .message = message };
	struct left     left = { .result = 0 };
	pthread_t       t = pthread_self();
	char            more[8];
	int             fds[2];

	k->open(fds);
	EXPECT(send(fds[1], "ab", 2, flags & MSG_OOB) == 2);
	r.fd = fds[0];
	if (place == 2)
		must_schedule(receive, &r);
	else
		t = must_start_thread(receive_as_thread, &r);
	if (!(flags & MSG_WAITALL))
		EXPECT_SOON(atomic_load(&r.over));
	be_peer(&r, fds[1], later);
	if (place != 2)
		pthread_join(t, NULL);
	left.result = r.result;
	left.message_flags = r.message_flags;
	memcpy(left.bytes, r.bytes, 4);
	left.next = recv(fds[0], more, sizeof(more), MSG_DONTWAIT);
	close(fds[0]);
	close(fds[1]);
	return left;
}

static bool are_equal(const struct left *a, const struct left *b)
{
	return a->result == b->result && a->next == b->next &&
	       a->message_flags == b->message_flags &&
	       (a->result <= 0 ||
		!memcmp(a->bytes, b->bytes, (size_t)a->result));
}

static const int receive_flags[] = {
	0,
	MSG_PEEK,
	MSG_TRUNC,
	MSG_DONTWAIT,
	MSG_NOSIGNAL,
	MSG_CMSG_CLOEXEC,
	MSG_PEEK | MSG_TRUNC,
	MSG_WAITALL,
	MSG_WAITALL | MSG_PEEK,
	MSG_WAITALL | MSG_DONTWAIT,
	MSG_WAITALL | MSG_NOSIGNAL,
	MSG_OOB,
};

#define RECEIVE_FLAGS (sizeof(receive_flags) / sizeof(receive_flags[0]))

/* Only streams have urgent bytes, and no other bytes are there then. */
static bool makes_sense(const struct socket_kind *k, int flags)
{
	return !(flags & MSG_OOB) || k->open == open_tcp_connection;
}

static void compare_receives(const struct socket_kind *k, int flags,
			     bool message, enum later later)
{
	const struct left system = try_receive(k, flags, message, later, 0);

	for (int place = 1; place <= 2; place++) {
		struct left ours = try_receive(k, flags, message, later, place);

		if (are_equal(&ours, &system))
			continue;
		fprintf(stderr,
			"%s, flags %#x, %s, %s, of a %s: %td \"%.*s\" and "
			"%td, the system's %td \"%.*s\" and %td\n",
			k->name, (unsigned)flags, message ? "recvmsg" : "recv",
			later == CLOSES ? "the end" : "more",
			place == 1 ? "thread" : "fiber", ours.result,
			ours.result > 0 ? (int)ours.result : 0, ours.bytes,
			ours.next, system.result,
			system.result > 0 ? (int)system.result : 0,
			system.bytes, system.next);
		EXPECT(false);
	}
}

TEST_WITH_ONE(a_flag_of_a_receive_means_what_it_means_to_the_system)
{
	(void)w;
	for (size_t i = 0; i < KINDS * RECEIVE_FLAGS * 2 * LATERS; i++) {
		const struct socket_kind *k = &kinds[i % KINDS];
		const size_t              j = i / KINDS;
		const int flags = receive_flags[j % RECEIVE_FLAGS];

		if (makes_sense(k, flags))
			compare_receives(k, flags, j / RECEIVE_FLAGS % 2,
					 (enum later)(j / RECEIVE_FLAGS / 2));
	}
}

/* --- MSG_WAITALL with control data -------------------------------------- */

struct descriptor_message {
	char          control[CMSG_SPACE(sizeof(int))];
	struct iovec  v;
	struct msghdr m;
};

static struct msghdr *prepare(struct descriptor_message *x, void *bytes,
			      size_t size)
{
	*x = (struct descriptor_message){ .v = { bytes, size } };
	x->m = (struct msghdr){ .msg_iov = &x->v,
				.msg_iovlen = 1,
				.msg_control = x->control,
				.msg_controllen = sizeof(x->control) };
	return &x->m;
}

static void send_with_descriptor(int fd, int what)
{
	struct descriptor_message x;
	struct msghdr            *m = prepare(&x, "c", 1);
	struct cmsghdr           *c = CMSG_FIRSTHDR(m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &what, sizeof(what));
	must(sendmsg(fd, m, 0) == 1, "sendmsg");
}

/* The descriptor is received with the bytes that it was sent with, as the last
 * of them. */
static void receive_with_descriptor(bool plain)
{
	struct descriptor_message x;
	char                      bytes[8] = "";
	struct msghdr            *m = prepare(&x, bytes, sizeof(bytes));
	int                       fds[2], got;
	ptrdiff_t                 n;

	open_sockets(fds);
	must(write(fds[1], "ab", 2) == 2, "write");
	send_with_descriptor(fds[1], fds[0]);
	must(write(fds[1], "d", 1) == 1 && !shutdown(fds[1], SHUT_WR), "write");
	n = plain ? recvmsg(fds[0], m, MSG_WAITALL)
		  : sennit_recvmsg(fds[0], m, MSG_WAITALL, SENNIT_NEVER);
	EXPECT(n == 3 && !memcmp(bytes, "abc", 3));
	EXPECT(CMSG_FIRSTHDR(m) && CMSG_FIRSTHDR(m)->cmsg_type == SCM_RIGHTS);
	if (CMSG_FIRSTHDR(m)) {
		memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(m)), sizeof(got));
		close(got);
	}
	close(fds[0]);
	close(fds[1]);
}

static void receive_descriptors(void *unused)
{
	(void)unused;
	receive_with_descriptor(true);
	receive_with_descriptor(false);
}

TEST_WITH_ONE(a_descriptor_is_not_lost_where_all_is_waited_for)
{
	(void)w;
	in_a_task(receive_descriptors, NULL);
	in_a_thread(receive_descriptors, NULL);
}

/* The bytes that have arrived are returned, whatever ends the call. */
static void receive_until_deadline(void *unused)
{
	char b[4];
	int  fds[2];

	(void)unused;
	open_sockets(fds);
	must(write(fds[1], "ab", 2) == 2, "write");
	EXPECT(sennit_recv(fds[0], b, 4, MSG_WAITALL | MSG_PEEK, in_ms(5)) ==
	       2);
	EXPECT(sennit_recv(fds[0], b, 4, MSG_WAITALL, in_ms(5)) == 2);
	EXPECT(sennit_recv(fds[0], b, 4, MSG_WAITALL, in_ms(5)) == -ETIMEDOUT);
	must(write(fds[1], "c", 1) == 1, "write");
	EXPECT(sennit_recv(fds[0], b, 4, MSG_WAITALL, 0) == 1);
	close(fds[0]);
	close(fds[1]);
}

TEST_WITH_ONE(a_deadline_gives_what_has_come_where_all_is_waited_for)
{
	(void)w;
	in_a_task(receive_until_deadline, NULL);
	in_a_thread(receive_until_deadline, NULL);
}

/* --- sending ------------------------------------------------------------ */

static const int send_flags[] = { 0,
				  MSG_MORE,
				  MSG_EOR,
				  MSG_OOB,
				  MSG_DONTROUTE,
				  MSG_CONFIRM,
				  MSG_WAITALL,
				  MSG_NOSIGNAL,
				  MSG_DONTWAIT,
				  MSG_MORE | MSG_DONTWAIT };

#define SEND_FLAGS (sizeof(send_flags) / sizeof(send_flags[0]))

static ptrdiff_t result_of(ptrdiff_t n)
{
	return n < 0 ? -errno : n;
}

static ptrdiff_t send_by(int fd, int flags, bool message, bool plain)
{
	struct iovec        v = { "abc", 3 };
	const struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };

	if (message)
		return plain ? result_of(sendmsg(fd, &m, flags))
			     : sennit_sendmsg(fd, &m, flags, SENNIT_NEVER);
	return plain ? result_of(send(fd, "abc", 3, flags))
		     : sennit_send(fd, "abc", 3, flags, SENNIT_NEVER);
}

static void try_send(const struct socket_kind *k, int flags, bool message,
		     bool plain, ptrdiff_t results[2])
{
	char bytes[8];
	int  fds[2];

	k->open(fds);
	results[0] = send_by(fds[0], flags, message, plain);
	must(!shutdown(fds[0], SHUT_WR) || errno == ENOTCONN, "shutdown");
	results[1] = result_of(recv(fds[1], bytes, sizeof(bytes),
				    results[0] < 0 ? MSG_DONTWAIT : 0));
	close(fds[0]);
	close(fds[1]);
}

static void compare_sends(void *unused)
{
	(void)unused;
	for (size_t i = 0; i < KINDS * SEND_FLAGS * 2; i++) {
		const struct socket_kind *k = &kinds[i % KINDS];
		const int  flags = send_flags[i / KINDS % SEND_FLAGS];
		const bool message = i / KINDS / SEND_FLAGS;
		ptrdiff_t  system[2], ours[2];

		try_send(k, flags, message, true, system);
		try_send(k, flags, message, false, ours);
		if (ours[0] == system[0] && ours[1] == system[1])
			continue;
		fprintf(stderr, "%s, flags %#x: %td and %td, not %td and %td\n",
			k->name, (unsigned)flags, ours[0], ours[1], system[0],
			system[1]);
		EXPECT(false);
	}
}

TEST_WITH_ONE(a_flag_of_a_send_means_what_it_means_to_the_system)
{
	(void)w;
	in_a_task(compare_sends, NULL);
	in_a_thread(compare_sends, NULL);
}

/* --- accepting ---------------------------------------------------------- */

static const int accept_flags[] = {
	0, SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_CLOEXEC | SOCK_NONBLOCK, 1, -1
};

/* The descriptor's flags, or the error of accept. */
static int accept_by(int flags, bool plain, bool late)
{
	int fds[2], fd, found;

	open_listener(fds);
	if (!late)
		connect_to_listener(fds);
	fd = plain ? (int)result_of(accept4(fds[0], NULL, NULL, flags))
		   : sennit_accept(fds[0], NULL, NULL, flags,
				   late ? in_ms(1) : SENNIT_NEVER);
	found = fd < 0 ? fd
		       : (fcntl(fd, F_GETFD) & FD_CLOEXEC) * 2 +
				 !!(fcntl(fd, F_GETFL) & O_NONBLOCK);
	if (fd >= 0)
		close(fd);
	close(fds[0]);
	close(fds[1]);
	return found;
}

static void compare_accepts(void *unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof(accept_flags) / sizeof(int); i++) {
		const int flags = accept_flags[i];
		const int system = accept_by(flags, true, false);

		EXPECT(accept_by(flags, false, false) == system);
		EXPECT(accept_by(flags, false, true) ==
		       (system < 0 ? system : -ETIMEDOUT));
	}
}

TEST_WITH_ONE(a_flag_of_an_accept_means_what_it_means_to_the_system)
{
	(void)w;
	in_a_task(compare_accepts, NULL);
	in_a_thread(compare_accepts, NULL);
}

/* --- a peek and urgent bytes -------------------------------------------- */

/* Threads of the kernel that work for the ring. */
static unsigned kernel_threads(void)
{
	DIR           *tasks = opendir("/proc/self/task");
	unsigned       count = 0;
	struct dirent *task;

	must(tasks, "/proc/self/task");
	while ((task = readdir(tasks))) {
		char  path[300], name[32] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm",
			 task->d_name);
		f = fopen(path, "r");
		if (!f)
			continue;
		count += fgets(name, sizeof(name), f) &&
			 !strncmp(name, "iou-wrk", 7);
		fclose(f);
	}
	closedir(tasks);
	return count;
}

/* One urgent byte was taken, and one is pending. Linux 6.18 does not let a
 * thread sleep that waits to peek then: no thread of the kernel may do that. */
static void peek_beside_urgent(void *unused)
{
	const unsigned before = kernel_threads();
	int            fds[2];
	char           b[8];

	(void)unused;
	open_sockets(fds);
	must(send(fds[1], "!", 1, MSG_OOB) == 1, "send");
	if (recv(fds[0], b, 1, MSG_OOB) == 1) /* unix sockets have them here */
		must(send(fds[1], "!", 1, MSG_OOB) == 1, "send");
	EXPECT(sennit_recv(fds[0], b, sizeof(b), MSG_PEEK, in_ms(50)) ==
	       -ETIMEDOUT);
	EXPECT(kernel_threads() <= before);
	close(fds[0]);
	close(fds[1]);
}

TEST_WITH_ONE(a_peek_beside_urgent_bytes_needs_no_kernel_thread)
{
	(void)w;
	in_a_task(peek_beside_urgent, NULL);
}

/* --- errors beside bytes -------------------------------------------------- */

struct all {
	int         fds[2];
	int         flags;
	char        bytes[8];
	ptrdiff_t   result;
	atomic_bool over;
};

static void receive_all(void *argument)
{
	struct all *a = argument;

	a->result = sennit_recv(a->fds[0], a->bytes, sizeof(a->bytes),
				a->flags | MSG_WAITALL, SENNIT_NEVER);
	atomic_store(&a->over, true);
}

/* Two bytes were received or found, and more are waited for. */
static void begin_to_receive(struct all *a, const struct world *w)
{
	int left;

	must(write(a->fds[1], "ab", 2) == 2, "write");
	must_schedule_here(receive_all, a);
	if (a->flags & MSG_PEEK)
		for (int i = 0; i < 100; i++)
			sennit_yield();
	else
		assert_soon(!ioctl(a->fds[0], FIONREAD, &left) && !left);
	assert_soon(io_waits(w->s) == 1 || a->flags & MSG_PEEK);
}

static void end_of_all(struct all *a, const char *bytes)
{
	const size_t size = strlen(bytes);

	assert_soon(atomic_load(&a->over));
	assert_int_equal(a->result, size);
	assert_memory_equal(a->bytes, bytes, size);
}

/* The bytes in front of the error come first, then the error. */
static void reset_beside_bytes(const struct world *w, void (*open)(int fds[2]),
			       int                 flags)
{
	const struct linger now = { .l_onoff = 1 };
	struct all          a = { .flags = flags };

	open(a.fds);
	must(write(a.fds[0], "unread", 6) == 6, "write");
	begin_to_receive(&a, w);
	must(write(a.fds[1], "cde", 3) == 3, "write");
	(void)setsockopt(a.fds[1], SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(a.fds[1]);
	end_of_all(&a, "abcde");
	if (flags & MSG_PEEK)
		must(read(a.fds[0], a.bytes, 5) == 5, "read");
	assert_int_equal(sennit_recv(a.fds[0], a.bytes, 1, 0, SENNIT_NEVER),
			 -ECONNRESET);
	close(a.fds[0]);
}

TEST_WITHOUT(a_reset_hides_no_byte_where_all_is_waited_for)
{
	reset_beside_bytes(w, open_tcp_connection, 0);
	reset_beside_bytes(w, open_tcp_connection, MSG_PEEK);
	reset_beside_bytes(w, open_sockets, 0);
}

/* What is sent from now on puts a time into the error queue. */
static bool ask_for_times(int fd)
{
	const int on = SOF_TIMESTAMPING_TX_SOFTWARE |
		       SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_TSONLY;

	return !setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &on, sizeof(on));
}

static bool gets_time(int fd)
{
	struct pollfd p = { .fd = fd };

	return write(fd, "x", 1) == 1 && poll(&p, 1, 1000) == 1 &&
	       p.revents == POLLERR;
}

static void queue_errors(const struct world *w, int flags)
{
	struct all a = { .flags = flags };

	open_tcp_connection(a.fds);
	if (!ask_for_times(a.fds[0]) || !gets_time(a.fds[0]))
		skip();
	begin_to_receive(&a, w);
	must(write(a.fds[0], "x", 1) == 1, "write");
	for (int i = 0; i < 100; i++)
		sennit_yield();
	assert_false(atomic_load(&a.over));
	must(write(a.fds[1], "cdefgh", 6) == 6, "write");
	end_of_all(&a, "abcdefgh");
	close(a.fds[0]);
	close(a.fds[1]);
}

TEST_WITHOUT(an_error_queue_ends_no_receive_where_all_is_waited_for)
{
	queue_errors(w, 0);
	queue_errors(w, MSG_PEEK);
}

/* Each of these events ends a wait in vain. Then the bytes come, and are not
 * waited for any longer than those of a first wait. */
TEST_WITHOUT(events_in_vain_delay_no_byte)
{
	struct all a = { .flags = 0 };

	if (!strcmp(wanted_backend, "uring"))
		skip(); /* waits in a thread of the kernel */
	open_tcp_connection(a.fds);
	if (!ask_for_times(a.fds[0]) || !gets_time(a.fds[0]))
		skip();
	begin_to_receive(&a, w);
	for (int i = 0; i < 10; i++) {
		must(write(a.fds[0], "x", 1) == 1, "write");
		EXPECT(!sennit_sleep(5 * SENNIT_MILLISECOND));
		assert_soon(io_waits(w->s) == 1); /* and does not pause */
	}
	must(write(a.fds[1], "cdefgh", 6) == 6, "write");
	for (int i = 0; i < 1000 && !atomic_load(&a.over); i++)
		sennit_yield();
	EXPECT(atomic_load(&a.over));
	end_of_all(&a, "abcdefgh");
	close(a.fds[0]);
	close(a.fds[1]);
}

static void half_close_beside_error(void)
{
	struct all a = { .flags = 0 };

	open_tcp_connection(a.fds);
	if (!ask_for_times(a.fds[0]) || !gets_time(a.fds[0]))
		skip();
	must(write(a.fds[1], "abc", 3) == 3, "write");
	must(!shutdown(a.fds[1], SHUT_WR), "shutdown");
	receive_all(&a);
	end_of_all(&a, "abc");
	close(a.fds[0]);
	close(a.fds[1]);
}

TEST_WITHOUT(an_error_queue_hides_no_end_where_all_is_waited_for)
{
	(void)w;
	half_close_beside_error();
}

/* A call that waits continues as poll() does: with SO_RCVLOWAT bytes. */
TEST_WITHOUT(fewer_bytes_than_a_wait_is_for_are_left)
{
	static const char bytes[100] = "abcdefgh";
	const int         least = sizeof(bytes);
	struct all        a = { .flags = 0 };

	open_tcp_connection(a.fds);
	must(!setsockopt(a.fds[0], SOL_SOCKET, SO_RCVLOWAT, &least,
			 sizeof(least)),
	     "SO_RCVLOWAT");
	must_schedule_here(receive_all, &a);
	assert_soon(io_waits(w->s) == 1);
	for (int i = 0; i < 10; i++) /* the worker sleeps, so it has submitted
				      * the receive */
		EXPECT(!sennit_sleep(2 * SENNIT_MILLISECOND));
	must(write(a.fds[1], bytes, 50) == 50, "write");
	EXPECT(!sennit_sleep(2 * SENNIT_MILLISECOND));
	assert_false(atomic_load(&a.over));
	must(write(a.fds[1], bytes + 50, 50) == 50, "write");
	end_of_all(&a, "abcdefgh");
	close(a.fds[0]);
	close(a.fds[1]);
}

/* --- a number that is used again ------------------------------------------ */

/* The guess that nothing has come since the last receive is about a number. */
static void receive_from_no_socket(void *unused)
{
	int  fds[2], ends[2];
	char b[8];

	(void)unused;
	open_sockets(fds);
	begin_pipe(ends);
	give_two_bytes(fds);
	EXPECT(sennit_recv(fds[0], b, sizeof(b), 0, SENNIT_NEVER) == 2);
	EXPECT(!sennit_close(fds[0]));
	must(dup3(ends[1], fds[0], O_CLOEXEC) == fds[0], "dup");
	EXPECT(sennit_recv(fds[0], b, sizeof(b), 0, in_ms(1000)) == -ENOTSOCK);
	for (int i = 0; i < 2; i++) {
		close(fds[i]);
		close(ends[i]);
	}
}

/* Another number shared the guess. */
static void receive_beside(void *unused)
{
	int  fds[2], ends[2], other;
	char b[8];

	(void)unused;
	open_sockets(fds);
	begin_pipe(ends);
	other = fcntl(ends[1], F_DUPFD_CLOEXEC, fds[0] + 256);
	must(other == fds[0] + 256, "the number");
	give_two_bytes(fds);
	EXPECT(sennit_recv(fds[0], b, sizeof(b), 0, SENNIT_NEVER) == 2);
	EXPECT(sennit_recv(other, b, sizeof(b), 0, in_ms(1000)) == -ENOTSOCK);
	close(other);
	for (int i = 0; i < 2; i++) {
		close(fds[i]);
		close(ends[i]);
	}
}

TEST_WITH_ONE(a_receive_fails_whatever_the_number_was_before)
{
	(void)w;
	in_a_task(receive_from_no_socket, NULL);
	in_a_task(receive_beside, NULL);
}

USES_BACKEND;
