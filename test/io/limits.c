/* SPDX-License-Identifier: Apache-2.0 */
/* limits.c - what the system has run out of, or does not have: descriptors for
 * connections, a ring of buffers, room for completions. What is there is served
 * later, or otherwise; nothing is lost.
 *
 * accept4() and calls on the ring are defined here: they fail when told to, and
 * make a ring of four completions.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "clients.h"
#include "streams.h"

#include "sennit/listen.h"

#include <dlfcn.h>
#include <sys/resource.h>

static atomic_int  accept_error;
static atomic_uint accept_errors;

/* By a name of its own, as the header's has a type that is not of C. */
int accept_or_fail(int fd, struct sockaddr *address, socklen_t *size,
		   int flags) __asm__("accept4");

int accept_or_fail(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
	const int err = atomic_load(&accept_error);

	if (!err)
		return (int)syscall(SYS_accept4, fd, address, size, flags);
	atomic_fetch_add(&accept_errors, 1);
	errno = err;
	return -1;
}

static atomic_int  buffers_error;
static atomic_bool small_rings;
static atomic_uint overflows;

#if __has_include(<liburing.h>)
#include <liburing.h>

static void *real(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	must(f, name);
	return f;
}

int io_uring_register_buf_ring(struct io_uring         *ring,
			       struct io_uring_buf_reg *r, unsigned flags)
{
	static int (*call)(struct io_uring *, struct io_uring_buf_reg *,
			   unsigned);
	const int err = atomic_load(&buffers_error);

	if (!call)
		*(void **)&call = real("io_uring_register_buf_ring");
	return err ? -err : call(ring, r, flags);
}

int io_uring_queue_init_params(unsigned entries, struct io_uring *ring,
			       struct io_uring_params *p)
{
	static int (*call)(unsigned, struct io_uring *,
			   struct io_uring_params *);

	if (!call)
		*(void **)&call = real("io_uring_queue_init_params");
	if (atomic_load(&small_rings)) {
		entries = 2;
		p->cq_entries = 4;
	}
	return call(entries, ring, p);
}

int io_uring_submit_and_get_events(struct io_uring *ring)
{
	static int (*call)(struct io_uring *);
	int result;

	if (!call)
		*(void **)&call = real("io_uring_submit_and_get_events");
	result = call(ring);
	if (*ring->sq.kflags & IORING_SQ_CQ_OVERFLOW)
		atomic_fetch_add(&overflows, 1);
	return result;
}
#endif

/* --- descriptors -------------------------------------------------------- */

/* No call opens a descriptor from now on. Not the lowest that is free: an
 * accept of the ring holds one for a moment when it begins. Not 0: poll()
 * refuses more descriptors than the limit. */
static void allow_no_more(struct rlimit *before)
{
	struct rlimit now;

	for (int fd = 0; fd < 3; fd++)
		must(fcntl(fd, F_GETFD) >= 0, "fcntl");
	must(!getrlimit(RLIMIT_NOFILE, before), "getrlimit");
	now = *before;
	now.rlim_cur = 3;
	must(!setrlimit(RLIMIT_NOFILE, &now), "setrlimit");
}

static void allow(const struct rlimit *before)
{
	must(!setrlimit(RLIMIT_NOFILE, before), "setrlimit");
}

static void accept_without_descriptors(void *unused)
{
	struct rlimit limit;
	int           fds[2], accepted;

	(void)unused;
	open_listener(fds);
	EXPECT(sennit_accept(fds[0], NULL, NULL, 0, in_ms(1)) == -ETIMEDOUT);
	connect_to_listener(fds);
	allow_no_more(&limit);
	EXPECT(sennit_accept(fds[0], NULL, NULL, 0, SENNIT_NEVER) == -EMFILE);
	EXPECT(sennit_accept(fds[0], NULL, NULL, 0, 0) == -EMFILE);
	allow(&limit);
	atomic_store(&accept_error, ENFILE);
	EXPECT(sennit_accept(fds[0], NULL, NULL, 0, 0) == -ENFILE);
	atomic_store(&accept_error, 0);
	accepted = sennit_accept(fds[0], NULL, NULL, 0, in_ms(100000));
	EXPECT(accepted >= 0);
	close(accepted);
	close_both(fds);
}

TEST_WITH_WORKERS(an_accept_that_fails_leaves_the_connection_there)
{
	accept_without_descriptors(NULL);
	in_a_task(accept_without_descriptors, NULL);
	in_a_thread(accept_without_descriptors, NULL);
}

/* --- listeners ---------------------------------------------------------- */

/* They come while acceptors fail, which try twice or more. */
static void connect_in_vain(int clients[CLIENTS][2])
{
	for (int i = 0; i < CLIENTS; i++)
		connect_to_listener(clients[i]);
	usleep(25000);
}

static void without_descriptors(int clients[CLIENTS][2])
{
	struct rlimit limit;

	allow_no_more(&limit);
	connect_in_vain(clients);
	EXPECT(atomic_load(&served) < CLIENTS);
	allow(&limit);
}

/* The ring makes no such call. */
static void while_the_system_has_none(int clients[CLIENTS][2])
{
	const unsigned before = atomic_load(&accept_errors);

	atomic_store(&accept_error, ENFILE);
	connect_in_vain(clients);
	if (strcmp(wanted_backend, "uring") != 0)
		EXPECT_SOON(atomic_load(&accept_errors) > before);
	atomic_store(&accept_error, 0);
}

static void listen_while(const struct world *w,
			 void (*connect_them)(int clients[CLIENTS][2]))
{
	sennit_group acceptors, connections;
	int          fds[2], clients[CLIENTS][2];

	open_listener(fds);
	begin_clients(clients, fds[0]);
	atomic_store(&served, 0);
	sennit_group_init(&acceptors, SENNIT_NEVER, 0);
	sennit_group_init(&connections, SENNIT_NEVER, 0);
	assert_int_equal(sennit_listen_each(fds[0], &acceptors, &connections,
					    serve, NULL),
			 0);
	assert_soon(io_waits(w->s) >= 1); /* with descriptors of its own */
	connect_them(clients);
	end_clients(clients);
	sennit_group_cancel(&acceptors);
	EXPECT(sennit_group_wait(&acceptors) == -ECANCELED);
	EXPECT(sennit_group_wait(&connections) == 0);
	close_both(fds);
}

TEST_WITH_WORKERS(acceptors_go_on_when_descriptors_are_back)
{
	listen_while(w, without_descriptors);
	listen_while(w, while_the_system_has_none);
}

/* --- buffers ------------------------------------------------------------ */

static void receive_by_stream(void)
{
	struct waiting x = { .result = 0 };
	sennit_stream *s;

	open_sockets(x.fds);
	s = must_open(x.fds[0]);
	give_two_bytes(x.fds);
	expect_ab(s, SENNIT_NEVER);
	sennit_stream_close(s);
	must_schedule_here(wait_in_stream, &x);
	for (int i = 0; i < 100; i++)
		sennit_yield();
	give_two_bytes(x.fds);
	EXPECT_SOON(atomic_load(&x.over));
	EXPECT(x.result == 2);
	close_both(x.fds);
}

/* Kernels before 5.19 know no ring of buffers; others have no memory. */
TEST_WITHOUT(streams_do_without_a_ring_of_buffers)
{
	static const int errors[] = { EINVAL, ENOBUFS, ENOMEM };

	for (int i = 0; i < 3; i++) {
		atomic_store(&buffers_error, errors[i]);
		receive_by_stream();
	}
	atomic_store(&buffers_error, 0);
	receive_by_stream(); /* and this one with it */
}

/* --- completions -------------------------------------------------------- */

/* Many more than there is room for; how often a busy worker yields until it has
 * all: it takes four every 16 times or so. */
enum { WAITERS = 64, YIELDS = 20000 };

struct crowd {
	int               fds[2];
	atomic_uint       over;
	sennit_scheduler *s;
};

static void poll_once(void *argument)
{
	struct crowd *c = argument;

	EXPECT(sennit_poll(c->fds[0], POLLIN, SENNIT_NEVER) == POLLIN);
	c->over++;
}

static void complete_all_at_once(void *argument)
{
	struct crowd *c = argument;

	for (int i = 0; i < WAITERS; i++)
		must_schedule_here(poll_once, c);
	while (io_waits(c->s) < WAITERS)
		sennit_yield();
	for (int i = 0; i < 100; i++) /* they are submitted by then */
		sennit_yield();
	must(write(c->fds[1], "x", 1) == 1, "write");
	for (int i = 0; i < YIELDS && c->over < WAITERS; i++)
		sennit_yield();
	EXPECT(c->over == WAITERS);
}

TEST_ALONE(completions_beyond_the_ring_reach_a_busy_worker)
{
	struct crowd c = { .over = 0 };

	atomic_store(&small_rings, true);
	atomic_store(&overflows, 0);
	c.s = start_with(&(sennit_config){ .size = sizeof(sennit_config),
					   .workers = SENNIT_WORKERS_NONE });
	assert_int_equal(sennit_bind(c.s), 0);
	begin_pipe(c.fds);
	in_a_task(complete_all_at_once, &c);
	close_both(c.fds);
	sennit_unbind();
	end_scheduler(c.s);
	atomic_store(&small_rings, false);
	assert_true(atomic_load(&overflows) ||
		    strcmp(wanted_backend, "uring") != 0);
}

USES_BACKEND;
