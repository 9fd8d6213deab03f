/* SPDX-License-Identifier: Apache-2.0 */
/* shut_down.c - calls that wait for room in a full unix socket end when it is
 * shut down: each call, on each type of socket, shut down by the program for
 * sending and by the peer for receiving. No event says so, so the calls look;
 * the longer they wait, the less often.
 *
 * send() is replaced, and counts; clock_gettime() is, and may be slow.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "operations.h"

#include "sennit/group.h"

#include <dlfcn.h>
#include <signal.h>

/* --- calls --------------------------------------------------------------- */

static ptrdiff_t do_write(int fd, sennit_time deadline)
{
	return sennit_write(fd, "a", 1, deadline);
}

static ptrdiff_t do_write_nothing(int fd, sennit_time deadline)
{
	return sennit_write(fd, "", 0, deadline);
}

static ptrdiff_t do_writev(int fd, sennit_time deadline)
{
	const struct iovec v = { (void *)(uintptr_t) "a", 1 };

	return sennit_writev(fd, &v, 1, deadline);
}

static ptrdiff_t do_send(int fd, sennit_time deadline)
{
	return sennit_send(fd, "a", 1, 0, deadline);
}

static ptrdiff_t do_send_nothing(int fd, sennit_time deadline)
{
	return sennit_send(fd, "", 0, 0, deadline);
}

static ptrdiff_t do_sendmsg(int fd, sennit_time deadline)
{
	struct iovec        v = { (void *)(uintptr_t) "a", 1 };
	const struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };

	return sennit_sendmsg(fd, &m, 0, deadline);
}

static ptrdiff_t do_splice(int fd, sennit_time deadline)
{
	int       ends[2];
	ptrdiff_t n;

	begin_pipe(ends);
	must(write(ends[1], "a", 1) == 1, "write");
	n = sennit_splice(ends[0], NULL, fd, NULL, 1, 0, deadline);
	close(ends[0]);
	close(ends[1]);
	return n;
}

static ptrdiff_t do_sendfile(int fd, sennit_time deadline)
{
	int       file = memfd_create("shut_down", MFD_CLOEXEC);
	int64_t   at = 0;
	ptrdiff_t n;

	must(write(file, "a", 1) == 1, "write");
	n = sennit_sendfile(fd, file, &at, 1, deadline);
	close(file);
	return n;
}

static const struct call {
	const char *name;
	ptrdiff_t (*run)(int fd, sennit_time deadline);
	bool in_messages; /* of no bytes: a stream takes them at once */
} calls[] = {
	{ "write", do_write, false },
	{ "write of nothing", do_write_nothing, true },
	{ "writev", do_writev, false },
	{ "send", do_send, false },
	{ "send of nothing", do_send_nothing, true },
	{ "sendmsg", do_sendmsg, false },
	{ "splice", do_splice, false },
	{ "sendfile", do_sendfile, false },
};

enum { CALLS = sizeof(calls) / sizeof(calls[0]), WAYS = 2 };

static const int types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET };

enum { TYPES = sizeof(types) / sizeof(types[0]) };

/* --- cells --------------------------------------------------------------- */

static struct cell {
	const struct call *call;
	int                type, fds[2];
	bool               by_peer; /* it shuts receiving down */
	sennit_time        deadline;
	ptrdiff_t          result;
} cells[CALLS * TYPES * WAYS];

static int run_cell(void *argument)
{
	struct cell *c = argument;

	c->result = c->call->run(c->fds[0], c->deadline);
	return 0;
}

static size_t open_cells(void)
{
	size_t n = 0;

	for (size_t i = 0; i < CALLS * TYPES * WAYS; i++) {
		struct cell *c = &cells[n];

		*c = (struct cell){ .call = &calls[i / WAYS / TYPES],
				    .type = types[i / WAYS % TYPES],
				    .by_peer = i % WAYS };
		if (c->call->in_messages && c->type == SOCK_STREAM)
			continue;
		if (c->by_peer && c->type == SOCK_DGRAM)
			continue; /* the system waits, too */
		must(!socketpair(AF_UNIX, c->type | SOCK_CLOEXEC, 0, c->fds),
		     "socketpair");
		fill(c->fds[0]);
		n++;
	}
	return n;
}

static void close_cells(size_t n)
{
	for (size_t i = 0; i < n; i++) {
		close(cells[i].fds[0]);
		close(cells[i].fds[1]);
	}
}

static void shut(const struct cell *c)
{
	must(!(c->by_peer ? shutdown(c->fds[1], SHUT_RD)
			  : shutdown(c->fds[0], SHUT_WR)),
	     "shutdown");
}

static void begin_cells(sennit_group *g, size_t n, sennit_time deadline)
{
	sennit_group_init(g, SENNIT_NEVER, 0);
	for (size_t i = 0; i < n; i++) {
		cells[i].deadline = deadline;
		EXPECT(!sennit_group_spawn_task(
			g, SENNIT_MEMBER(.run = run_cell, .argument = &cells[i],
					 .flags = SENNIT_MEMBER_SAME_THREAD)));
	}
}

static void expect_results(size_t n, ptrdiff_t right)
{
	for (size_t i = 0; i < n; i++) {
		const struct cell *c = &cells[i];

		if (c->result != right)
			print_error("%s, type %d, shut down by the %s: %td\n",
				    c->call->name, c->type,
				    c->by_peer ? "peer" : "program", c->result);
		EXPECT(c->result == right);
	}
}

static void shut_while_waiting(const struct world *w, sennit_time deadline)
{
	sennit_group g;
	const size_t n = open_cells();

	begin_cells(&g, n, deadline);
	assert_soon(io_waits(w->s) == n);
	if (deadline == SENNIT_UNCANCELLED)
		sennit_group_cancel(&g);
	for (size_t i = 0; i < n; i++)
		shut(&cells[i]);
	(void)!sennit_group_wait(&g);
	expect_results(n, -EPIPE);
	close_cells(n);
}

TEST_WITHOUT(a_call_that_waits_for_room_ends)
{
	shut_while_waiting(w, in_ms(20000));
}

/* As above, in a cancelled group. */
TEST_WITHOUT(a_call_that_cannot_be_cancelled_ends)
{
	shut_while_waiting(w, SENNIT_UNCANCELLED);
}

static void *shut_receiving_later(void *fd)
{
	usleep(1000); /* any order is correct */
	must(!shutdown(*(int *)fd, SHUT_RD), "shutdown");
	return NULL;
}

static void send_uncancelled(void *unused)
{
	int       fds[2];
	pthread_t t;

	(void)unused;
	open_full_sockets(fds);
	t = must_start_thread(shut_receiving_later, &fds[1]);
	EXPECT(do_send(fds[0], SENNIT_UNCANCELLED) == -EPIPE);
	pthread_join(t, NULL);
	t = must_start_thread(shut_receiving_later, &fds[1]);
	EXPECT(do_splice(fds[0], SENNIT_UNCANCELLED) == -EPIPE);
	pthread_join(t, NULL);
	close(fds[0]);
	close(fds[1]);
}

TEST_WITHOUT(a_thread_that_cannot_be_cancelled_ends)
{
	(void)w;
	in_a_thread(send_uncancelled, NULL);
}

/* --- looks --------------------------------------------------------------- */

static atomic_uint tries;

ssize_t send(int fd, const void *from, size_t size, int flags)
{
	ssize_t (*call)(int, const void *, size_t, int);

	*(void **)(void *)&call = dlsym(RTLD_NEXT, "send");
	atomic_fetch_add(&tries, 1);
	return call(fd, from, size, flags);
}

/* Four pauses, twice as long each time, take 960 ms; a fifth the rest. Before
 * the first the call tries once or twice, and after each once. */
TEST_WITHOUT(a_long_wait_looks_seldom)
{
	int fds[2];

	(void)w;
	open_full_sockets(fds);
	atomic_store(&tries, 0);
	EXPECT(sennit_send(fds[0], "a", 1, 0, in_ms(1000)) == -ETIMEDOUT);
	EXPECT(atomic_load(&tries) <= 8);
	close(fds[0]);
	close(fds[1]);
}

static atomic_bool is_clock_slow;

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int (*call)(clockid_t, struct timespec *);
	int err;

	*(void **)(void *)&call = dlsym(RTLD_NEXT, "clock_gettime");
	err = call(clock, now);
	if (atomic_load(&is_clock_slow))
		usleep(100000);
	return err;
}

static void *shut_sending_later(void *fd)
{
	usleep(2000000); /* any order is correct */
	atomic_store(&is_clock_slow, false);
	must(!shutdown(*(int *)fd, SHUT_WR), "shutdown");
	return NULL;
}

/* As if the process were stopped after it has read the clock, for longer than
 * the time until the first look. */
TEST_WITHOUT(a_look_that_is_late_is_not_forgotten)
{
	int       fds[2];
	pthread_t t;

	(void)w;
	open_full_sockets(fds);
	t = must_start_thread(shut_sending_later, &fds[0]);
	atomic_store(&is_clock_slow, true);
	EXPECT(do_send(fds[0], SENNIT_UNCANCELLED) == -EPIPE);
	pthread_join(t, NULL);
	close(fds[0]);
	close(fds[1]);
}

static int ignore_signal(void)
{
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

BEFORE_ALL(ignore_signal);
USES_BACKEND;
