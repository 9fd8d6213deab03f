/* SPDX-License-Identifier: Apache-2.0 */
/* watched.c - TCP sockets that the library has accepted or connected stay
 * registered with epoll: bytes that arrive in every order, and numbers that are
 * reused without the library's knowledge.
 */
#include "operations.h"

#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

/* A connection; the library made both ends. */
struct connection {
	int         listener;
	int         fds[2]; /* accepted, connected */
	atomic_bool over;
};

static int listen_here(struct sockaddr_in *a)
{
	socklen_t size = sizeof(*a);
	int       fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*a = (struct sockaddr_in){ .sin_family = AF_INET };
	a->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	must(!bind(fd, (struct sockaddr *)a, size) && !listen(fd, 16) &&
		     !getsockname(fd, (struct sockaddr *)a, &size),
	     "listen");
	return fd;
}

static void open_connection(struct connection *c)
{
	struct sockaddr_in a;

	atomic_store(&c->over, false);
	c->listener = listen_here(&a);
	c->fds[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	EXPECT(!sennit_connect(c->fds[1], (struct sockaddr *)&a, sizeof(a),
			       SENNIT_NEVER));
	c->fds[0] = sennit_accept(c->listener, NULL, NULL, SOCK_CLOEXEC,
				  SENNIT_NEVER);
	must(c->fds[0] >= 0, "accept");
	close(c->listener);
}

static void say(int fd, const char *bytes)
{
	EXPECT(sennit_send(fd, bytes, strlen(bytes), 0, SENNIT_NEVER) ==
	       (ptrdiff_t)strlen(bytes));
}

/* Receive up to `size` bytes, and check them. */
static void hear(int fd, size_t size, const char *bytes)
{
	char      got[64];
	ptrdiff_t n = sennit_recv(fd, got, size, 0, SENNIT_NEVER);

	EXPECT(n == (ptrdiff_t)strlen(bytes) && !memcmp(got, bytes, (size_t)n));
}

static void answer(void *argument)
{
	struct connection *c = argument;
	char               byte;

	while (sennit_recv(c->fds[0], &byte, 1, 0, SENNIT_NEVER) == 1)
		EXPECT(sennit_send(c->fds[0], &byte, 1, 0, SENNIT_NEVER) == 1);
	EXPECT(!sennit_close(c->fds[0]));
	atomic_store(&c->over, true);
}

static void await(atomic_bool *over)
{
	while (!atomic_load(over))
		sennit_yield();
}

/* Bytes that the first receive leaves, and bytes that arrive with the end. */
static void come_in_every_order(void *unused)
{
	struct connection c;

	(void)unused;
	open_connection(&c);
	for (int i = 0; i < 20; i++) {
		say(c.fds[1], "abcd");
		hear(c.fds[0], 1, "a"); /* the buffer is full: there may be
					 * more */
		hear(c.fds[0], 2, "bc");
		hear(c.fds[0], 64, "d"); /* the buffer is not full: there is no
					  * more */
		say(c.fds[1], "e");
		sennit_yield(); /* the event may be processed before the wait */
		sennit_sleep_until(sennit_after(SENNIT_MILLISECOND));
		EXPECT(sennit_poll(c.fds[0], POLLIN, SENNIT_NEVER) == POLLIN);
		hear(c.fds[0], 64, "e");
	}
	say(c.fds[1], "the end");
	EXPECT(!sennit_close(c.fds[1]));
	hear(c.fds[0], 64, "the end");
	hear(c.fds[0], 64, "");
	EXPECT(!sennit_close(c.fds[0]));
}

TEST_WITH_WORKERS(bytes_come_through_in_every_order)
{
	in_a_task(come_in_every_order, NULL);
}

/* --- reused numbers ----------------------------------------------------- */

/* The next receive on it would rely on the registration. */
static void watch(const struct connection *c)
{
	struct connection *both = (struct connection *)(uintptr_t)c;

	must_schedule_here(answer, both);
	for (int i = 0; i < 3; i++) {
		say(c->fds[1], "x");
		hear(c->fds[1], 64, "x");
	}
}

static void write_later(void *argument)
{
	const int *fd = argument;

	sennit_sleep_until(sennit_after(SENNIT_MILLISECOND));
	must(write(*fd, "y", 1) == 1, "write");
}

/* fds[1] is registered, and then becomes one end of a pair that the library
 * does not know. */
static void replace_behind_its_back(bool bytes_first)
{
	struct connection c;
	int               pair[2];

	open_connection(&c);
	watch(&c);
	must(shutdown(c.fds[1], SHUT_WR) == 0, "shutdown");
	await(&c.over);
	open_sockets(pair);
	must(dup2(pair[0], c.fds[1]) == c.fds[1], "dup2");
	if (bytes_first)
		must(write(pair[1], "y", 1) == 1, "write");
	else
		must_schedule_here(write_later, &pair[1]);
	hear(c.fds[1], 64, "y");
	EXPECT(!sennit_close(c.fds[1]));
	close(pair[0]);
	close(pair[1]);
}

static void replace(void *unused)
{
	(void)unused;
	replace_behind_its_back(true);
	replace_behind_its_back(false);
}

TEST_WITH_WORKERS(a_number_closed_behind_its_back_is_waited_for_anew)
{
	in_a_task(replace, NULL);
}

/* The socket stays open with another number; its old number is another
 * connection. */
static void duplicate(void *unused)
{
	struct connection a, b;
	int               copy;

	(void)unused;
	open_connection(&a);
	watch(&a);
	copy = dup(a.fds[1]);
	must(copy >= 0, "dup");
	EXPECT(!sennit_close(a.fds[1]));
	open_connection(&b);
	EXPECT(b.fds[1] == a.fds[1] || b.fds[0] == a.fds[1] ||
	       b.listener == a.fds[1]);
	watch(&b);
	must(write(copy, "z", 1) == 1, "write"); /* the answer causes an
						  * event */
	for (int i = 0; i < 3; i++) {
		say(b.fds[1], "x");
		hear(b.fds[1], 64, "x");
	}
	close(copy);
	EXPECT(!sennit_close(b.fds[1]));
	await(&a.over);
	await(&b.over);
}

TEST_WITH_WORKERS(a_socket_that_has_a_copy_is_not_taken_for_the_next)
{
	in_a_task(duplicate, NULL);
}

/* No fiber waits when it is closed, and the number is reused at once. */
static void use_again(void *unused)
{
	(void)unused;
	for (int i = 0; i < 20; i++) {
		struct connection c;

		open_connection(&c);
		watch(&c);
		if (i % 2)
			close(c.fds[1]);
		else
			EXPECT(!sennit_close(c.fds[1]));
		await(&c.over);
	}
}

TEST_WITH_WORKERS(numbers_are_used_again_by_connections)
{
	in_a_task(use_again, NULL);
}

#if !defined(SN_TSAN) /* which replaces epoll_ctl() itself */

/* --- the cost of a wait -------------------------------------------------- */

static atomic_long registrations;

/* Replaces libc's function. */
int epoll_ctl(int epoll, int what, int fd, struct epoll_event *event)
{
	atomic_fetch_add(&registrations, 1);
	return (int)syscall(SYS_epoll_ctl, epoll, what, fd, event);
}

enum { ROUNDS = 2000 };

static void ask_often(void *unused)
{
	struct connection c;
	long              before;

	(void)unused;
	open_connection(&c);
	watch(&c);
	before = atomic_load(&registrations);
	for (int i = 0; i < ROUNDS; i++) {
		say(c.fds[1], "x");
		hear(c.fds[1], 64, "x");
	}
	/* A few if the system does not run the process for 10 ms. */
	EXPECT(atomic_load(&registrations) - before < ROUNDS / 4);
	EXPECT(!sennit_close(c.fds[1]));
	await(&c.over);
}

TEST_WITH_WORKERS(a_wait_registers_nothing_again)
{
	in_a_task(ask_often, NULL);
}

#endif

USES_BACKEND;
