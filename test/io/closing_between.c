/* SPDX-License-Identifier: Apache-2.0 */
/* closing_between.c - a request is woken while a close has begun and has not
 * happened yet; or its descriptor is closed between a try and its wait. It is
 * older than the close, so it must neither touch nor wait for what the number
 * means next. The program's own close() and poll() make that order certain. */
#include "operations.h"

#include "sennit/splice.h"

#include <dlfcn.h>
#include <sys/syscall.h>

enum { BYTES = 4 };

enum stage { NONE, HELD, GO_ON };

/* Take a byte from fd, by the call under test. */
typedef ptrdiff_t take_fn(int fd, char *byte);

struct scene {
	take_fn            *take;
	int                 old[2], new[2];
	atomic_int          held;   /* close() of this one is held up, or -1 */
	atomic_int          looked; /* poll() of this one comes late, or -1 */
	atomic_bool         polled; /* a thread is in ppoll() */
	bool                sent;   /* what the number means next is ready */
	_Atomic(enum stage) stage;
	atomic_uint         over, received, closed;
	atomic_ptrdiff_t    other; /* a result that is neither */
};

static struct scene c = { .held = -1, .looked = -1 };

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

int close(int fd)
{
	const bool held = fd >= 0 && fd == atomic_load(&c.held);
	int        result;

	if (held) {
		atomic_store(&c.stage, HELD);
		while (atomic_load(&c.stage) != GO_ON)
			usleep(100);
	}
	result = (int)syscall(SYS_close, fd);
	if (held)
		use_the_number();
	return result;
}

static void *close_old(void *unused)
{
	EXPECT(sennit_close(c.old[0]) == 0);
	return unused;
}

/* poll(), which headers declare as one that reads nothing. */
int late_poll(struct pollfd *fds, nfds_t count, int ms) __asm__("poll");

/* The number means something else before the system looks. */
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

/* The byte wakes both fibers while the close is held up: nobody can know
 * whether the number means something else by now, so both end. */
static void close_between(void)
{
	pthread_t t;

	atomic_store(&c.held, c.old[0]);
	t = must_start_thread(close_old, NULL);
	while (atomic_load(&c.stage) != HELD)
		usleep(100);
	must(write(c.old[1], "x", 1) == 1, "write");
	while (!c.over)
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
		c = (struct scene){
			.take = take, .held = -1, .looked = -1, .sent = true
		};
		open_sockets(c.old);
		must_schedule_here(receive_one, NULL);
		must_schedule_here(receive_one, NULL);
		assert_soon(io_waits(w->s) == 2);
		yield(40); /* the kernel knows of it by then */
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

/* A thread waits on the descriptor, so the close is noted, and nobody is told
 * of it but the thread. */
static void splice_what_is_closed(bool sent)
{
	ptrdiff_t beside = 0;
	pthread_t t;

	c = (struct scene){
		.take = take_by_splicing, .held = -1, .looked = -1, .sent = sent
	};
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

/* --- the end that is not waited for --------------------------------------- */

static void splice_one(void *result)
{
	*(ptrdiff_t *)result = sennit_splice(c.new[0], NULL, c.old[0], NULL, 1,
					     0, SENNIT_NEVER);
	c.over++;
}

/* From a pipe that is empty to a socket whose number means another one before
 * the byte comes. */
TEST_WITHOUT(a_splice_does_not_write_to_what_is_next)
{
	ptrdiff_t result = 0;
	int       next[2];
	char      byte;

	c = (struct scene){ .held = -1, .looked = -1 };
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

USES_BACKEND;
