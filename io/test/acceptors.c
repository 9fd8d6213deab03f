/* SPDX-License-Identifier: Apache-2.0 */
/* acceptors.c - the cost of acceptors for a server with few stacks and for an
 * idle one, and what happens to acceptors whose accept() always fails.
 */
#include "operations.h"

#include "sennit/listen.h"

struct server {
	int          fd;
	sennit_group acceptors, connections;
	atomic_uint  served;
};

static atomic_bool refused; /* accept() fails, as under a seccomp filter */
static atomic_uint refusals;

/* Replaces accept4(). Its address is a union in glibc's
 * declaration. */
int refusing_accept(int fd, struct sockaddr *address, socklen_t *size,
		    int flags) __asm__("accept4");

int refusing_accept(int fd, struct sockaddr *address, socklen_t *size,
		    int flags)
{
	if (!atomic_load(&refused))
		return (int)syscall(SYS_accept4, fd, address, size, flags);
	atomic_fetch_add(&refusals, 1);
	errno = EPERM;
	return -1;
}

static void serve(void *argument, int fd)
{
	struct server *x = argument;

	atomic_fetch_add(&x->served, 1);
	EXPECT(sennit_send(fd, "x", 1, 0, SENNIT_NEVER) == 1);
	EXPECT(sennit_close(fd) == 0);
}

static void start(struct server *x)
{
	struct sockaddr_in a = { .sin_family = AF_INET };

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*x = (struct server){ .fd = sennit_listen((struct sockaddr *)&a,
						  sizeof(a), 0,
						  SENNIT_LISTEN_SHARED) };
	must(x->fd >= 0, "sennit_listen");
	sennit_group_init(&x->acceptors, SENNIT_NEVER, 0);
	sennit_group_init(&x->connections, SENNIT_NEVER, 0);
	assert_int_equal(sennit_listen_each(x->fd, &x->acceptors,
					    &x->connections, serve, x),
			 0);
}

static void stop(struct server *x)
{
	sennit_group_cancel(&x->acceptors);
	EXPECT(sennit_group_wait(&x->acceptors) == -ECANCELED);
	EXPECT(sennit_group_wait(&x->connections) == 0);
	close(x->fd);
}

static int connect_to(const struct server *x)
{
	int fds[2] = { x->fd, socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };

	connect_to_listener(fds);
	return fds[1];
}

static void be_served(const struct server *x)
{
	int  fd = connect_to(x);
	char byte = 0;

	EXPECT(sennit_read(fd, &byte, 1, SENNIT_NEVER) == 1);
	EXPECT(byte == 'x');
	close(fd);
}

/* --- stacks --------------------------------------------------------------- */

/* For each worker: one stack for the acceptor, one for the code that runs
 * meanwhile, and one for a connection that waits. One more for the calling
 * thread. */
enum { WORKERS = 4, STACKS = 3 * WORKERS };

TEST_ALONE(acceptors_need_a_stack_each)
{
	sennit_scheduler *s;
	struct server     x;

	must(!sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = WORKERS,
							.max_fibers = STACKS)),
	     "sennit_scheduler_create");
	must(!sennit_thread_bind(s), "sennit_thread_bind");
	start(&x);
	for (int i = 0; i < 20; i++)
		be_served(&x);
	stop(&x);
	sennit_thread_unbind();
	assert_int_equal(sennit_scheduler_shutdown(s, SENNIT_NEVER), 0);
}

/* --- idle ----------------------------------------------------------------- */

struct waits {
	unsigned io, others;
};

static void count_waits(void *context, const sennit_report_entry *e)
{
	struct waits *n = context;

	if (e->state == SENNIT_REPORT_BLOCKED)
		*(e->waits_for == SENNIT_WAITS_FOR_IO ? &n->io
						      : &n->others) += 1;
}

static struct waits count_all_waits(sennit_scheduler *s)
{
	struct waits n = { 0 };

	sennit_report_visit(s, count_waits, &n);
	return n;
}

/* No fiber waits for a time after which it would act. */
TEST_WITH_WORKERS(an_idle_server_has_acceptors_alone)
{
	const unsigned wanted = w->threads ? w->threads : 1;
	struct server  x;

	start(&x);
	if (w->threads)
		assert_int_equal(sennit_scheduler_set_workers(w->s, 1), 0);
	be_served(&x);
	assert_soon(count_all_waits(w->s).io == wanted &&
		    !count_all_waits(w->s).others);
	stop(&x);
}

/* --- errors --------------------------------------------------------------- */

enum { IN_A_ROW = 16 }; /* of listen.c */

#define PAUSE (10 * SENNIT_MILLISECOND)

TEST_WITH_WORKERS(acceptors_that_are_refused_pause_and_end)
{
	const unsigned each = w->threads ? w->threads : 1;
	sennit_time    began, took;
	struct server  x;
	int            fds[20];

	start(&x);
	be_served(&x);
	atomic_store(&refusals, 0);
	began = sennit_now();
	atomic_store(&refused, true);
	for (int i = 0; i < 20; i++)
		fds[i] = connect_to(&x);
	assert_soon(atomic_load(&refusals) > 2 * IN_A_ROW);
	took = sennit_now() - began;
	/* Each acceptor may be about to make one more call. */
	EXPECT(atomic_load(&refusals) <= each * (IN_A_ROW + took / PAUSE + 2));
	sennit_group_cancel(&x.acceptors);
	EXPECT(sennit_group_wait(&x.acceptors) == -ECANCELED);
	atomic_store(&refused, false);
	EXPECT(sennit_group_wait(&x.connections) == 0);
	for (int i = 0; i < 20; i++)
		close(fds[i]);
	close(x.fd);
}

USES_BACKEND;
