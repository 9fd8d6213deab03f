/* SPDX-License-Identifier: Apache-2.0 */
/* closing.c - a descriptor is closed while a fiber of another worker, or a
 * thread, waits on it: the wait ends. Waits on the next file with that number
 * continue.
 */
#include "operations.h"

#include "testing/random.h"

#include <signal.h>

static void close_first(void *argument)
{
	struct attempt *a = argument;

	EXPECT(sennit_close(a->fds[0]) == 0);
}

static void ends_closed(struct attempt *a, const char *by)
{
	assert_soon(atomic_load(&a->over));
	if (!is_closed(a->result))
		said(a, a->result, -ECANCELED, by);
	close(a->fds[1]);
}

/* Each operation waits, and its descriptor is closed by close_first(a). */
static void close_each(const struct world *w, const char *by,
		       void (*close_by)(sennit_task_fn *, void *))
{
	for (size_t i = 0; i < 2 * OPERATIONS; i++) {
		struct attempt a = { .of = &operations[i / 2],
				     .s = w->s,
				     .nonblock = i % 2 };

		begin(&a);
		must_schedule(call_to_wait, &a);
		assert_soon(io_waits(w->s) == 1);
		close_by(close_first, &a);
		ends_closed(&a, by);
	}
}

static void directly(sennit_task_fn *f, void *argument)
{
	f(argument);
}

TEST_WITH_WORKERS(closing_ends_the_waits_of_other_workers)
{
	close_each(w, "closed by the bound thread", directly);
	close_each(w, "closed by a task", in_a_task);
}

TEST_WITH_WORKERS(a_thread_that_closes_ends_the_waits_of_fibers)
{
	close_each(w, "closed by a thread", in_a_thread);
}

#if !defined(SN_TSAN) /* which reports a close of a descriptor in use */

/* --- threads that wait -------------------------------------------------- */

static void *call_as_thread(void *argument)
{
	call_to_wait(argument);
	return NULL;
}

/* The test cannot see whether the thread has begun to wait. It may find fd
 * closed before. */
static void close_under_thread(const struct world *w, size_t i)
{
	struct attempt a = { .of = &operations[i], .s = w->s };
	pthread_t      t;

	begin(&a);
	t = must_start_thread(call_as_thread, &a);
	for (size_t k = i % 4; k--;)
		usleep(300);
	EXPECT(sennit_close(a.fds[0]) == 0);
	assert_soon(atomic_load(&a.over));
	pthread_join(t, NULL);
	if (!is_closed(a.result))
		said(&a, a.result, -ECANCELED, "closed under a thread");
	close(a.fds[1]);
}

/* The library's own descriptor that threads poll is opened by the first
 * wait. */
static void wait_in_vain(void *unused)
{
	int fds[2];

	(void)unused;
	open_sockets(fds);
	EXPECT(sennit_poll(fds[0], POLLIN, in_ms(1)) == -ETIMEDOUT);
	close(fds[0]);
	close(fds[1]);
}

TEST_WITHOUT(closing_ends_the_waits_of_threads)
{
	in_a_thread(wait_in_vain, NULL);
	/* Calls that open descriptors may get the number. */
	for (size_t i = 0; i < OPERATIONS; i++)
		if (operations[i].call != call_poll_many &&
		    operations[i].call != call_select_among &&
		    !strstr(operations[i].name, "splice") &&
		    !strstr(operations[i].name, "sendfile"))
			close_under_thread(w, i);
}

#endif

/* --- many --------------------------------------------------------------- */

enum { MANY = 200 };

struct reader {
	int         fds[2];
	ptrdiff_t   result;
	atomic_bool over;
};

static void receive_one(void *argument)
{
	struct reader *r = argument;
	char           byte;

	r->result = sennit_recv(r->fds[0], &byte, 1, 0, SENNIT_NEVER);
	atomic_store(&r->over, true);
}

TEST_WITH_WORKERS(closing_ends_no_wait_on_others)
{
	static struct reader r[MANY];

	for (int i = 0; i < MANY; i++) {
		open_sockets(r[i].fds);
		atomic_store(&r[i].over, false);
		must_schedule(receive_one, &r[i]);
	}
	assert_soon(io_waits(w->s) == MANY);
	for (int i = 0; i < MANY; i += 2)
		EXPECT(sennit_close(r[i].fds[0]) == 0);
	for (int i = 0; i < MANY; i += 2) {
		assert_soon(atomic_load(&r[i].over));
		assert_true(is_closed(r[i].result));
	}
	assert_int_equal(io_waits(w->s), MANY / 2);
	for (int i = 1; i < MANY; i += 2) {
		must(write(r[i].fds[1], "x", 1) == 1, "write");
		assert_soon(atomic_load(&r[i].over));
		assert_int_equal(r[i].result, 1);
		close(r[i].fds[0]);
	}
	for (int i = 0; i < MANY; i++)
		close(r[i].fds[1]);
}

/* The wait on the next file with the number continues, whatever else is
 * closed. */
TEST_WITH_WORKERS(a_wait_on_the_next_meaning_goes_on)
{
	struct reader r = { .result = 0 };
	struct reader other = { .result = 0 };
	int           number;

	open_sockets(other.fds);
	open_sockets(r.fds);
	number = r.fds[0];
	must_schedule(receive_one, &r);
	assert_soon(io_waits(w->s) == 1);
	EXPECT(sennit_close(number) == 0);
	assert_soon(atomic_load(&r.over));
	close(r.fds[1]);
	open_sockets(r.fds);
	assert_int_equal(r.fds[0], number);
	atomic_store(&r.over, false);
	must_schedule(receive_one, &r);
	must_schedule(receive_one, &other);
	assert_soon(io_waits(w->s) == 2);
	EXPECT(sennit_close(other.fds[0]) == 0);
	assert_soon(atomic_load(&other.over));
	for (int i = 0; i < 100; i++) /* by then the worker has checked its
				       * waits */
		sennit_yield();
	assert_false(atomic_load(&r.over));
	must(write(r.fds[1], "x", 1) == 1, "write");
	assert_soon(atomic_load(&r.over));
	assert_int_equal(r.result, 1);
	close(r.fds[0]);
	close(r.fds[1]);
	close(other.fds[1]);
}

#if !defined(SN_TSAN)

/* --- at once ------------------------------------------------------------ */

enum { RACES = LOAD(4000) };

struct race {
	struct reader r;
	uint64_t      random;
	atomic_bool   begun;
};

static void receive_in_race(void *argument)
{
	struct race *x = argument;

	(void)sennit_io_backend(); /* creates the library's descriptors first */
	atomic_store(&x->begun, true);
	receive_one(&x->r);
}

static void close_in_race(void *argument)
{
	struct race *x = argument;

	EXPECT_SOON(atomic_load(&x->begun));
	for (uint64_t k = random_from(&x->random) % 256; k--;)
		atomic_load(&x->begun);
	EXPECT(sennit_close(x->r.fds[0]) == 0);
}

/* The number stays unused until the call has ended. The call finds fd closed
 * before it waits or while it waits. */
TEST_WITH_WORKERS(a_call_that_begins_when_fd_is_closed_ends)
{
	struct race x = { .random = random_stream(7) };

	for (int i = 0; i < RACES; i++) {
		atomic_store(&x.begun, false);
		atomic_store(&x.r.over, false);
		open_sockets(x.r.fds);
		must_schedule(receive_in_race, &x);
		if (i % 8)
			close_in_race(&x);
		else
			in_a_task(close_in_race, &x);
		assert_soon(atomic_load(&x.r.over));
		if (!is_closed(x.r.result))
			fail_msg("ended with %td", x.r.result);
		close(x.r.fds[1]);
	}
}

#endif

static int begin_all(void)
{
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

BEFORE_ALL(begin_all);
USES_BACKEND;
