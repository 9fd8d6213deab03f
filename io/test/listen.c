/* SPDX-License-Identifier: Apache-2.0 */
/* listen.c - listeners, and acceptors on every worker, whose connections stay
 * there: what ends them and what does not.
 */
#include "operations.h"

#include "sennit/listen.h"

#include <sys/un.h>

static struct sockaddr_in loopback(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return a;
}

static int must_listen(uint32_t flags)
{
	const struct sockaddr_in a = loopback();
	int fd = sennit_listen((const struct sockaddr *)&a, sizeof(a), 0,
			       flags);

	must(fd >= 0, "sennit_listen");
	return fd;
}

static int connect_to(int listener)
{
	struct sockaddr_storage a;
	socklen_t               size = sizeof(a);
	int                     fd;

	must(!getsockname(listener, (struct sockaddr *)&a, &size),
	     "getsockname");
	fd = socket(a.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(fd >= 0, "socket");
	if (!connect(fd, (struct sockaddr *)&a, size))
		return fd;
	close(fd);
	return -1;
}

/* --- listening ---------------------------------------------------------- */

static void listen_twice(void *argument)
{
	const struct sockaddr_in none = { .sin_family = AF_INET };
	struct sockaddr_in       a;
	socklen_t                size = sizeof(a);
	const struct sockaddr   *at = (const struct sockaddr *)&a;
	int                      fd = must_listen(SENNIT_LISTEN_SHARED);
	int                      other, third;

	(void)argument;
	EXPECT(fcntl(fd, F_GETFL) & O_NONBLOCK);
	EXPECT(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	must(!getsockname(fd, (struct sockaddr *)&a, &size), "getsockname");
	other = sennit_listen(at, size, 1, SENNIT_LISTEN_SHARED);
	EXPECT(other >= 0);
	third = sennit_listen(at, size, 1, 0);
	EXPECT(third == -EADDRINUSE);
	EXPECT(sennit_listen(at, size, 1, 8) == -EINVAL);
	EXPECT(sennit_listen((const struct sockaddr *)&none, 1, 1, 0) ==
	       -EINVAL);
	close(fd);
	close(other);
}

TEST_WITH_WORKERS(only_shared_listeners_share_an_address)
{
	in_each_place(listen_twice, NULL);
}

/* --- accepting ---------------------------------------------------------- */

enum { MOST = 8 };

struct server {
	int               fd;
	sennit_group      acceptors, connections;
	pthread_mutex_t   mutex;
	pthread_t         threads[MOST]; /* that have served a connection */
	uint32_t          count;
	atomic_uint       served;
	sennit_scheduler *s;
};

static uint32_t note_thread(struct server *x)
{
	uint32_t i = 0, count;

	pthread_mutex_lock(&x->mutex);
	while (i < x->count && !pthread_equal(x->threads[i], pthread_self()))
		i++;
	if (i == x->count && i < MOST)
		x->threads[x->count++] = pthread_self();
	count = x->count;
	pthread_mutex_unlock(&x->mutex);
	return count;
}

static void serve(void *argument, int fd)
{
	struct server *x = argument;

	note_thread(x);
	atomic_fetch_add(&x->served, 1);
	EXPECT(sennit_send(fd, "x", 1, 0, SENNIT_NEVER) == 1);
	EXPECT(sennit_close(fd) == 0);
}

static void start(struct server *x, const struct world *w, int fd,
		  sennit_serve_fn *serve_one)
{
	*x = (struct server){ .fd = fd,
			      .s = w->s,
			      .mutex = PTHREAD_MUTEX_INITIALIZER };
	sennit_group_init(&x->acceptors, SENNIT_NEVER, 0);
	sennit_group_init(&x->connections, SENNIT_NEVER, 0);
	assert_int_equal(sennit_listen_each(fd, &x->acceptors, &x->connections,
					    serve_one, x),
			 0);
}

static void stop(struct server *x)
{
	sennit_group_cancel(&x->acceptors);
	EXPECT(sennit_group_wait(&x->acceptors) == -ECANCELED);
	EXPECT(sennit_group_wait(&x->connections) == 0);
	close(x->fd);
}

static void be_served(struct server *x)
{
	int  fd = connect_to(x->fd);
	char byte = 0;

	must(fd >= 0, "connect");
	EXPECT(sennit_read(fd, &byte, 1, in_ms(100000)) == 1);
	EXPECT(byte == 'x');
	close(fd);
}

static uint32_t threads_that_served(struct server *x)
{
	uint32_t count;

	be_served(x);
	pthread_mutex_lock(&x->mutex);
	count = x->count;
	pthread_mutex_unlock(&x->mutex);
	return count;
}

TEST_WITH_WORKERS(every_worker_accepts)
{
	const uint32_t wanted = w->threads ? w->threads : 1;
	struct server  x;

	start(&x, w, must_listen(SENNIT_LISTEN_SHARED), serve);
	assert_soon(threads_that_served(&x) == wanted);
	stop(&x);
	assert_int_equal(x.count, wanted);
}

/* The last acceptor serves connections, too, and not only while the others are
 * busy. */
/* Workers that were added get acceptors with the next connections. */
TEST_WITH_SEVERAL(workers_that_are_added_accept)
{
	struct server x;

	assert_int_equal(sennit_scheduler_set_workers(w->s, 1), 0);
	start(&x, w, must_listen(SENNIT_LISTEN_SHARED), serve);
	EXPECT_SOON(threads_that_served(&x) == 1);
	assert_int_equal(sennit_scheduler_set_workers(w->s, w->threads), 0);
	EXPECT_SOON(threads_that_served(&x) == w->threads);
	/* Removed workers keep theirs, and are counted once. */
	assert_int_equal(sennit_scheduler_set_workers(w->s, 1), 0);
	be_served(&x);
	assert_int_equal(sennit_scheduler_set_workers(w->s, w->threads), 0);
	be_served(&x);
	stop(&x);
	assert_int_equal(x.count, w->threads);
}

TEST_WITH_WORKERS(a_listener_that_fails_ends_the_acceptors)
{
	struct server x;

	start(&x, w, must_listen(0), serve);
	be_served(&x);
	EXPECT(sennit_shutdown(x.fd, SHUT_RDWR) == 0);
	EXPECT(sennit_group_wait(&x.acceptors) == -EINVAL);
	EXPECT(sennit_group_wait(&x.connections) == 0);
	close(x.fd);
}

TEST_WITH_WORKERS(a_listener_that_is_not_shared_serves_all)
{
	struct server x;

	start(&x, w, must_listen(0), serve);
	for (int i = 0; i < 20; i++)
		be_served(&x);
	stop(&x);
	assert_int_equal(atomic_load(&x.served), 20);
}

TEST_WITH_WORKERS(unix_sockets_are_served)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	struct server      x;
	/* An address that the system chooses. */
	int fd = sennit_listen((const struct sockaddr *)&a,
			       sizeof(a.sun_family), 0, SENNIT_LISTEN_SHARED);

	assert_true(fd >= 0);
	start(&x, w, fd, serve);
	for (int i = 0; i < 20; i++)
		be_served(&x);
	stop(&x);
}

/* --- the end ------------------------------------------------------------ */

static void serve_until_told(void *argument, int fd)
{
	struct server *x = argument;
	char           byte;

	atomic_fetch_add(&x->served, 1);
	EXPECT(sennit_recv(fd, &byte, 1, 0, SENNIT_NEVER) == 1);
	EXPECT(sennit_send(fd, "x", 1, 0, SENNIT_NEVER) == 1);
	sennit_close(fd);
}

static void tell_and_expect(int fd)
{
	char byte = 0;

	EXPECT(sennit_send(fd, "a", 1, 0, in_ms(100000)) == 1);
	EXPECT(sennit_recv(fd, &byte, 1, 0, in_ms(100000)) == 1);
	EXPECT(byte == 'x');
	close(fd);
}

TEST_WITH_WORKERS(connections_outlive_the_acceptors)
{
	struct server x;
	int           fds[4];

	start(&x, w, must_listen(SENNIT_LISTEN_SHARED), serve_until_told);
	for (int i = 0; i < 4; i++)
		must((fds[i] = connect_to(x.fd)) >= 0, "connect");
	assert_soon(atomic_load(&x.served) == 4);
	sennit_group_cancel(&x.acceptors);
	assert_int_equal(sennit_group_wait(&x.acceptors), -ECANCELED);
	for (int i = 0; i < 4; i++)
		tell_and_expect(fds[i]);
	assert_int_equal(sennit_group_wait(&x.connections), 0);
	close(x.fd);
}

TEST_WITH_WORKERS(a_cancelled_connection_ends)
{
	struct server x;
	int           fd;

	start(&x, w, must_listen(SENNIT_LISTEN_SHARED), serve_until_told);
	must((fd = connect_to(x.fd)) >= 0, "connect");
	assert_soon(atomic_load(&x.served) == 1);
	assert_int_equal(send(fd, "a", 1, 0), 1);
	sennit_group_cancel(&x.acceptors);
	assert_int_equal(sennit_group_wait(&x.acceptors), -ECANCELED);
	assert_int_equal(sennit_group_wait(&x.connections), 0);
	close(fd);
	close(x.fd);
}

/* Connections that were made before are served, and not reset. */
TEST_WITH_WORKERS(stopping_serves_who_has_connected)
{
	struct server x;
	int           fds[20];
	char          byte;

	start(&x, w, must_listen(0), serve);
	be_served(&x); /* an acceptor is running */
	for (int i = 0; i < 20; i++)
		must((fds[i] = connect_to(x.fd)) >= 0, "connect");
	stop(&x);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(recv(fds[i], &byte, 1, 0), 1);
		close(fds[i]);
	}
}

TEST_WITH_WORKERS(nobody_listens_after_the_end)
{
	struct server      x;
	struct sockaddr_in a;
	socklen_t          size = sizeof(a);
	int                fd;

	start(&x, w, must_listen(SENNIT_LISTEN_SHARED), serve);
	be_served(&x);
	must(!getsockname(x.fd, (struct sockaddr *)&a, &size), "getsockname");
	stop(&x);
	fd = sennit_listen((const struct sockaddr *)&a, size, 0, 0);
	assert_true(fd >= 0); /* -EADDRINUSE if a listener were still open */
	close(fd);
}

TEST_WITHOUT(what_does_not_listen_is_refused)
{
	struct server x = { .count = 0 };
	int           fds[2];

	sennit_group_init(&x.acceptors, SENNIT_NEVER, 0);
	open_sockets(fds);
	assert_int_equal(sennit_listen_each(fds[0], &x.acceptors, &x.acceptors,
					    serve, &x),
			 -EINVAL);
	assert_int_equal(
		sennit_listen_each(-1, &x.acceptors, &x.acceptors, serve, &x),
		-EBADF);
	assert_int_equal(sennit_group_wait(&x.acceptors), 0);
	close(fds[0]);
	close(fds[1]);
}

USES_BACKEND;
