/* SPDX-License-Identifier: Apache-2.0 */
/* limits.c - the system lacks descriptors for connections, buffer rings, or
 * room for completions: requests are served later, or in another way, and
 * nothing is lost.
 *
 * accept4() and the calls on the ring are replaced. They fail when the test
 * asks for it, and create a ring of four completions.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "clients.h"
#include "streams.h"

#include "sennit/file.h"
#include "sennit/listen.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/resource.h>

static atomic_int  accept_error;
static atomic_uint accept_errors;

/* Has a name of its own, because the type in the header is not standard C. */
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

/* No call can open a descriptor from now on. The limit is not the lowest free
 * number, because an accept in the ring briefly reserves a number when it
 * begins. It is not 0, because poll() refuses more descriptors than the
 * limit. */
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

static void *give_late(void *fds)
{
	EXPECT(!sennit_sleep(SENNIT_MILLISECOND)); /* any order is correct */
	give_two_bytes(fds);
	return NULL;
}

/* poll() refuses more descriptors than the limit, the other calls do not. */
static void receive_without_descriptors(void *unused)
{
	struct rlimit before, none;
	pthread_t     t;
	int           fds[2];

	(void)unused;
	open_sockets(fds);
	EXPECT(call_recv(fds[0], in_ms(1)) == -ETIMEDOUT);
	must(!getrlimit(RLIMIT_NOFILE, &before), "getrlimit");
	none = before;
	for (none.rlim_cur = 0; none.rlim_cur < 3; none.rlim_cur++) {
		must(!setrlimit(RLIMIT_NOFILE, &none), "setrlimit");
		EXPECT(call_recv(fds[0], in_ms(1)) == -ETIMEDOUT);
		t = must_start_thread(give_late, fds);
		EXPECT(call_recv(fds[0], SENNIT_NEVER) == 2);
		pthread_join(t, NULL);
		t = must_start_thread(give_late, fds);
		EXPECT(call_read(fds[0], SENNIT_NEVER) == 2);
		pthread_join(t, NULL);
	}
	allow(&before);
	close_both(fds);
}

TEST_WITH_WORKERS(a_receive_needs_no_more_descriptors)
{
	receive_without_descriptors(NULL);
	in_a_task(receive_without_descriptors, NULL);
	in_a_thread(receive_without_descriptors, NULL);
}

/* --- a peer that has shut down sending ---------------------------------- */

static ptrdiff_t poll_one(int fd, sennit_time deadline)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return sennit_poll_many(&p, 1, deadline);
}

static int         room_file, room_pipe[2];
static sennit_time endless = SENNIT_NEVER;

static ptrdiff_t send_file(int fd, sennit_time deadline)
{
	int64_t at = 0;

	return sennit_sendfile(fd, room_file, &at, 3, deadline);
}

static ptrdiff_t send_pipe(int fd, sennit_time deadline)
{
	return sennit_splice(room_pipe[0], NULL, fd, NULL, 3, 0, deadline);
}

static void *drain_late(void *fds)
{
	EXPECT(!sennit_sleep(SENNIT_MILLISECOND)); /* any order is correct */
	drain(fds);
	return NULL;
}

static void wait_for_room(ptrdiff_t (*call)(int fd, sennit_time deadline))
{
	const int      end = sennit_check_cancelled() ? -ECANCELED : -ETIMEDOUT;
	const uint64_t ms = end == -ECANCELED ? 100000 : 1;
	struct rlimit  limit;
	pthread_t      t;
	int            fds[2];

	open_full_sockets(fds);
	must(!shutdown(fds[1], SHUT_WR), "shutdown");
	EXPECT(call(fds[0], in_ms(ms)) == end);
	allow_no_more(&limit);
	EXPECT(call(fds[0], in_ms(ms)) == end);
	EXPECT(call(fds[0], in_ms(30 * ms)) == end);
	t = must_start_thread(drain_late, fds);
	EXPECT(call(fds[0], endless) > 0);
	pthread_join(t, NULL);
	allow(&limit);
	close_both(fds);
}

static void wait_for_room_by_each(void *unused)
{
	(void)unused;
	must(write(room_pipe[1], "abc", 3) == 3, "write");
	wait_for_room(call_write);
	wait_for_room(call_writev);
	wait_for_room(call_send);
	wait_for_room(call_sendmsg);
	wait_for_room(call_poll_out);
	wait_for_room(send_file);
	wait_for_room(send_pipe);
}

static int wait_uncancelled(void *group)
{
	sennit_group_cancel(group);
	endless = SENNIT_UNCANCELLED;
	wait_for_room_by_each(NULL);
	wait_for_room(poll_one);
	endless = SENNIT_NEVER;
	return 0;
}

static void wait_in_cancelled_group(void *unused)
{
	sennit_group g;

	(void)unused;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	EXPECT(!sennit_group_spawn(&g, wait_uncancelled, &g));
	EXPECT(sennit_group_wait(&g) == -ECANCELED);
}

/* On a thread they need a descriptor in any case. */
static void wait_for_room_of_one(void *unused)
{
	(void)unused;
	wait_for_room(poll_one);
	wait_for_room(call_select_out);
}

TEST_WITH_WORKERS(room_is_waited_for_without_descriptors)
{
	room_file = memfd_create("limits", MFD_CLOEXEC);
	must(room_file >= 0 && write(room_file, "abc", 3) == 3, "file");
	begin_pipe(room_pipe);
	wait_for_room_by_each(NULL);
	in_a_task(wait_for_room_by_each, NULL);
	in_a_thread(wait_for_room_by_each, NULL);
	wait_for_room_of_one(NULL);
	in_a_task(wait_for_room_of_one, NULL);
	in_a_task(wait_in_cancelled_group, NULL);
	close(room_file);
	close_both(room_pipe);
	(void)w;
}

/* --- signals ------------------------------------------------------------ */

static atomic_uint signalled;

static void count_signal(int number)
{
	(void)number;
	atomic_fetch_add(&signalled, 1);
}

/* The number of signals that `call` raises. The call must return -error. */
#define SIGNALS(call, error)                                      \
	(atomic_store(&signalled, 0), EXPECT((call) == -(error)), \
	 atomic_load(&signalled))

static ptrdiff_t plain_write(int fd)
{
	return write(fd, "x", 1) < 0 ? -errno : 1;
}

/* With O_DIRECT, if the file system supports it. */
static void write_past_limit_directly(void)
{
	static _Alignas(4096) char block[4096];
	int file = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC | O_DIRECT, 0600);
	unsigned system;

	if (file < 0)
		return;
	system = SIGNALS(pwrite(file, block, 4096, 8192) < 0 ? -errno : 0,
			 EFBIG);
	EXPECT(SIGNALS(sennit_pwrite(file, block, 4096, 8192, SENNIT_NEVER),
		       EFBIG) == system);
	EXPECT(SIGNALS(sennit_pwrite(file, block, 4096, 8192, 0), EFBIG) ==
	       system);
	close(file);
}

/* The same number of signals as with the system call here: a worker blocks
 * signals. */
static void write_past_limits(void *unused)
{
	int      fds[2];
	int      file = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	unsigned system;

	(void)unused;
	must(file >= 0 && lseek(file, 8192, SEEK_SET) == 8192, "file");
	system = SIGNALS(plain_write(file), EFBIG);
	EXPECT(SIGNALS(sennit_write(file, "x", 1, SENNIT_NEVER), EFBIG) ==
	       system);
	EXPECT(SIGNALS(sennit_pwrite(file, "x", 1, 8192, SENNIT_NEVER),
		       EFBIG) == system);
	EXPECT(SIGNALS(sennit_ftruncate(file, 8192, SENNIT_NEVER), EFBIG) ==
	       system);
	close(file);
	write_past_limit_directly();
	must(!pipe2(fds, O_CLOEXEC), "pipe");
	close(fds[0]);
	system = SIGNALS(plain_write(fds[1]), EPIPE);
	EXPECT(SIGNALS(sennit_write(fds[1], "x", 1, SENNIT_NEVER), EPIPE) ==
	       system);
	close(fds[1]);
}

TEST_WITH_WORKERS(a_call_that_another_thread_makes_is_signalled_here)
{
	struct rlimit before, now;

	must(!getrlimit(RLIMIT_FSIZE, &before), "getrlimit");
	now = before;
	now.rlim_cur = 4096;
	signal(SIGPIPE, count_signal);
	signal(SIGXFSZ, count_signal);
	must(!setrlimit(RLIMIT_FSIZE, &now), "setrlimit");
	write_past_limits(NULL);
	in_a_task(write_past_limits, NULL);
	in_a_thread(write_past_limits, NULL);
	must(!setrlimit(RLIMIT_FSIZE, &before), "setrlimit");
	signal(SIGXFSZ, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	(void)w;
}

/* --- listeners ---------------------------------------------------------- */

/* The connections arrive while acceptors fail, at least twice. */
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

/* The ring does not use accept4(). */
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
	assert_soon(io_waits(w->s) >= 1); /* with the library's own
					   * descriptors */
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

/* Kernels before 5.19 do not have rings of buffers; other systems may lack
 * memory. */
TEST_WITHOUT(streams_do_without_a_ring_of_buffers)
{
	static const int errors[] = { EINVAL, ENOBUFS, ENOMEM };

	for (int i = 0; i < 3; i++) {
		atomic_store(&buffers_error, errors[i]);
		receive_by_stream();
	}
	atomic_store(&buffers_error, 0);
	receive_by_stream(); /* with a ring of buffers */
}

/* --- completions -------------------------------------------------------- */

/* Many more than there is room for, and the number of yields until a busy
 * worker has processed all: it processes four in about every 16 dispatches. */
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
	for (int i = 0; i < 100; i++) /* by then they are submitted */
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
	assert_int_equal(sennit_thread_bind(c.s), 0);
	begin_pipe(c.fds);
	in_a_task(complete_all_at_once, &c);
	close_both(c.fds);
	sennit_thread_unbind();
	end_scheduler(c.s);
	atomic_store(&small_rings, false);
	assert_true(atomic_load(&overflows) ||
		    strcmp(wanted_backend, "uring") != 0);
}

USES_BACKEND;
