/* SPDX-License-Identifier: Apache-2.0 */
/* closing_between.c - a request is woken after a close has begun and before it
 * has happened, or its descriptor is closed between a try and the wait. The
 * request is older than the close, so it must neither access nor wait for the
 * next file with the number. A request that is younger than the close is not
 * affected by it. The test replaces close(), poll() and epoll_create1() to
 * force that order. */
#include "operations.h"

#include "sennit/splice.h"

#include <dlfcn.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

enum { BYTES = 4 };

enum stage { NONE, HELD, GO_ON };

/* Take a byte from fd, by the call under test. */
typedef ptrdiff_t take_fn(int fd, char *byte);

struct scene {
	take_fn            *take;
	int                 old[2], new[2];
	atomic_int          held;   /* close() of this one is blocked; -1:
				     * none */
	atomic_int          late;   /* close() of this one returns late; -1:
				     * none */
	atomic_int          before; /* closed before a set is created; -1:
				     * none */
	atomic_int          looked; /* poll() of this one is delayed; -1:
				     * none */
	atomic_bool         polled; /* a thread is in ppoll() */
	bool                sent;   /* the next file with the number is
				     * readable */
	_Atomic(enum stage) stage;
	atomic_uint         over, received, closed;
	atomic_ptrdiff_t    other; /* any other result */
};

#define NOBODY .held = -1, .late = -1, .before = -1, .looked = -1

static struct scene c = { NOBODY };

static void use_the_number(void)
{
	int fds[2];

	open_sockets(fds);
	EXPECT(fds[0] == c.old[0] || fds[1] == c.old[0]);
	c.new[0] = c.old[0];
	c.new[1] = fds[1] == c.old[0] ? fds[0] : fds[1];
	if (c.sent)
		must(write(c.new[1], "abcd", BYTES) == BYTES, "write");
}

static void hold(void)
{
	atomic_store(&c.stage, HELD);
	while (atomic_load(&c.stage) != GO_ON)
		usleep(100);
}

int close(int fd)
{
	const bool held = fd >= 0 && fd == atomic_load(&c.held);
	const bool late = fd >= 0 && fd == atomic_load(&c.late);
	int        result;

	if (held)
		hold();
	result = (int)syscall(SYS_close, fd);
	if (held)
		use_the_number();
	if (late)
		hold();
	return result;
}

static void *close_old(void *unused)
{
	EXPECT(sennit_close(c.old[0]) == 0);
	return unused;
}

static void *close_before(void *fd)
{
	EXPECT(sennit_close(*(int *)fd) == 0);
	return NULL;
}

/* Until just now the lowest free number was in use for another descriptor. */
int epoll_create1(int flags)
{
	int fd = atomic_exchange(&c.before, -1);

	if (fd >= 0)
		pthread_join(must_start_thread(close_before, &fd), NULL);
	return (int)syscall(SYS_epoll_create1, flags);
}

/* Replaces poll(), which headers declare as a function that does not read
 * *fds. */
int late_poll(struct pollfd *fds, nfds_t count, int ms) __asm__("poll");

/* The number is reused before the system polls it. */
int late_poll(struct pollfd *fds, nfds_t count, int ms)
{
	const struct timespec limit = { .tv_nsec = ms * 1000000L };
	const int             fd = count == 1 ? fds[0].fd : -1;

	if (fd >= 0 && fd == atomic_load(&c.looked)) {
		atomic_store(&c.looked, -1);
		pthread_join(must_start_thread(close_old, NULL), NULL);
		use_the_number();
	}
	return ppoll(fds, count, ms < 0 ? NULL : &limit, NULL);
}

/* --- a wait while a close is under way ------------------------------------ */

static ptrdiff_t take_by_receiving(int fd, char *byte)
{
	return sennit_recv(fd, byte, 1, 0, SENNIT_NEVER);
}

static ptrdiff_t take_by_splicing(int fd, char *byte)
{
	int       p[2];
	ptrdiff_t n;

	must(!pipe2(p, O_CLOEXEC), "pipe2");
	n = sennit_splice(fd, NULL, p[1], NULL, 1, 0, SENNIT_NEVER);
	if (n == 1)
		must(read(p[0], byte, 1) == 1, "read");
	close(p[0]);
	close(p[1]);
	return n;
}

static void receive_one(void *unused)
{
	char      byte;
	ptrdiff_t n;

	(void)unused;
	n = c.take(c.old[0], &byte);
	if (n == 1 && byte == 'x')
		c.received++;
	else if (is_closed(n))
		c.closed++;
	else
		c.other = n;
	c.over++;
}

static void yield(int times)
{
	while (times--)
		sennit_yield();
}

/* The byte wakes both fibers while the close is blocked. The library cannot
 * know then whether the number was reused, so both waits end. epoll does not
 * report the descriptor any more, so they end when the close has ended. */
static void close_between(void)
{
	pthread_t t;

	atomic_store(&c.held, c.old[0]);
	t = must_start_thread(close_old, NULL);
	while (atomic_load(&c.stage) != HELD)
		usleep(100);
	must(write(c.old[1], "x", 1) == 1, "write");
	while (!c.over && !strcmp(wanted_backend, "uring"))
		sennit_yield();
	yield(100);
	atomic_store(&c.held, -1);
	atomic_store(&c.stage, GO_ON);
	pthread_join(t, NULL);
}

static void ends_before_what_is_next(const struct world *w, take_fn *take)
{
	char bytes[BYTES] = "";

	for (int i = 0; i < 5; i++) {
		c = (struct scene){ .take = take, NOBODY, .sent = true };
		open_sockets(c.old);
		must_schedule_here(receive_one, NULL);
		must_schedule_here(receive_one, NULL);
		assert_soon(io_waits(w->s) == 2);
		yield(40); /* by then the kernel has the request */
		close_between();
		assert_soon(c.over == 2);
		assert_int_equal(c.other, 0);
		assert_int_equal(c.received + c.closed, 2);
		EXPECT(sennit_recv(c.new[0], bytes, BYTES, 0, in_ms(100000)) ==
		       BYTES);
		assert_memory_equal(bytes, "abcd", BYTES);
		close(c.old[1]);
		close(c.new[0]);
		close(c.new[1]);
	}
}

TEST_WITHOUT(an_older_request_ends)
{
	ends_before_what_is_next(w, take_by_receiving);
}

TEST_WITHOUT(an_older_splice_ends)
{
	ends_before_what_is_next(w, take_by_splicing);
}

/* --- between a try and its wait ------------------------------------------ */

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *limit,
	  const sigset_t *mask)
{
	typedef int ppoll_fn(struct pollfd *, nfds_t, const struct timespec *,
			     const sigset_t *);
	ppoll_fn   *real;

	if (count == 2)
		atomic_store(&c.polled, true);
	*(void **)&real = dlsym(RTLD_NEXT, "ppoll");
	return real(fds, count, limit, mask);
}

static void *receive_as_thread(void *result)
{
	char byte;

	*(ptrdiff_t *)result = sennit_recv(c.old[0], &byte, 1, 0, SENNIT_NEVER);
	return NULL;
}

/* A thread waits on the descriptor, so the close is recorded, but only the
 * thread is notified. */
static void splice_what_is_closed(bool sent)
{
	ptrdiff_t beside = 0;
	pthread_t t;

	c = (struct scene){ .take = take_by_splicing, NOBODY, .sent = sent };
	open_sockets(c.old);
	t = must_start_thread(receive_as_thread, &beside);
	assert_soon(atomic_load(&c.polled));
	atomic_store(&c.looked, c.old[0]);
	must_schedule_here(receive_one, NULL);
	assert_soon(c.over == 1);
	pthread_join(t, NULL);
	assert_true(is_closed(beside));
	assert_int_equal(c.other, 0);
	assert_int_equal(c.closed, 1);
	close(c.old[1]);
	close(c.new[0]);
	close(c.new[1]);
}

TEST_WITHOUT(a_splice_does_not_wait_for_what_is_next)
{
	splice_what_is_closed(false);
}

TEST_WITHOUT(a_splice_does_not_try_what_is_next)
{
	splice_what_is_closed(true);
}

/* --- the end that the call does not wait for ------------------------------ */

static void splice_one(void *result)
{
	*(ptrdiff_t *)result = sennit_splice(c.new[0], NULL, c.old[0], NULL, 1,
					     0, SENNIT_NEVER);
	c.over++;
}

/* From an empty pipe to a socket whose number is reused before the byte
 * arrives. */
TEST_WITHOUT(a_splice_does_not_write_to_what_is_next)
{
	ptrdiff_t result = 0;
	int       next[2];
	char      byte;

	c = (struct scene){ NOBODY };
	open_sockets(c.old);
	must(!pipe2(c.new, O_CLOEXEC), "pipe2");
	must_schedule_here(splice_one, &result);
	assert_soon(io_waits(w->s) == 1);
	pthread_join(must_start_thread(close_old, NULL), NULL);
	open_sockets(next);
	EXPECT(next[0] == c.old[0]);
	must(write(c.new[1], "x", 1) == 1, "write");
	assert_soon(c.over == 1);
	assert_int_equal(result, -ECANCELED);
	assert_int_equal(read(c.new[0], &byte, 1), 1);
	close(c.old[1]);
	for (int i = 0; i < 2; i++) {
		close(next[i]);
		close(c.new[i]);
	}
}

/* --- a younger request ---------------------------------------------------- */

static void half_close(int fds[2])
{
	must(!shutdown(fds[1], SHUT_WR), "shutdown");
}

static ptrdiff_t poll_one(int fd, sennit_time deadline)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	return sennit_poll_many(&p, 1, deadline);
}

/* The calls that wait with a set. In every case the peer has shut down
 * sending. */
static ptrdiff_t (*const waits[])(int fd, sennit_time deadline) = {
	call_send,      call_write,        call_poll_out,
	poll_one,       call_splice_out,   call_sendfile,
	call_poll_many, call_select_among, call_select_out,
};

enum { WAITS = sizeof(waits) / sizeof(waits[0]) };

struct younger {
	int       fds[2];
	unsigned  which;
	ptrdiff_t result;
};

static void wait_on_what_is_next(void *argument)
{
	struct younger *y = argument;

	y->result = waits[y->which](y->fds[0], SENNIT_NEVER);
	c.over++;
}

static void wait_beside_a_late_close(const struct world *w, unsigned which)
{
	struct younger y = { .which = which };
	pthread_t      t;

	c = (struct scene){ NOBODY };
	open_sockets(c.old);
	atomic_store(&c.late, c.old[0]);
	t = must_start_thread(close_old, NULL);
	while (atomic_load(&c.stage) != HELD)
		usleep(100);
	atomic_store(&c.late, -1);
	open_full_sockets(y.fds);
	half_close(y.fds);
	EXPECT(y.fds[0] == c.old[0]);
	must_schedule_here(wait_on_what_is_next, &y);
	if (waits[which] != call_poll_many &&
	    waits[which] != call_select_among) { /* these see the end of the
						  * stream */
		assert_soon(io_waits(w->s) == 1);
		yield(40);
	}
	atomic_store(&c.stage, GO_ON);
	pthread_join(t, NULL);
	yield(40);
	drain(y.fds);
	assert_soon(c.over == 1);
	if (y.result <= 0)
		fprintf(stderr, "wait %u: %td\n", which, y.result);
	EXPECT(y.result > 0);
	close(c.old[1]);
	close(y.fds[0]);
	close(y.fds[1]);
}

TEST_WITHOUT(a_younger_wait_goes_on)
{
	for (unsigned i = 0; i < WAITS; i++)
		wait_beside_a_late_close(w, i);
}

/* The number of the set was closed after the wait began. */
static void wait_by_a_new_number(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < WAITS; i++) {
		ptrdiff_t result;
		int       fds[2], spare;

		c = (struct scene){ NOBODY };
		open_sockets(fds);
		if (waits[i] != call_poll_many &&
		    waits[i] != call_select_among) {
			fill(fds[0]);
			half_close(fds);
		}
		spare = dup(fds[0]);
		atomic_store(&c.before, spare);
		result = waits[i](fds[0], in_ms(20));
		if (result != -ETIMEDOUT)
			fprintf(stderr, "wait %u: %td\n", i, result);
		EXPECT(result == -ETIMEDOUT);
		if (atomic_exchange(&c.before, -1) >= 0)
			close(spare); /* no set was created */
		close(fds[0]);
		close(fds[1]);
	}
}

TEST_WITHOUT(a_set_may_get_a_number_that_was_closed)
{
	(void)w;
	in_each_place(wait_by_a_new_number, NULL);
}

USES_BACKEND;
