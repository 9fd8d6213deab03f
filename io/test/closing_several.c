/* SPDX-License-Identifier: Apache-2.0 */
/* closing_several.c - one of several descriptors that a call waits for is
 * closed: the call ends, and does not poll the next file with the number. Calls
 * on other descriptors continue.
 */
#include "operations.h"

enum { SEVERAL = 5 };

struct several {
	int         fds[SEVERAL][2];
	int         result;
	atomic_bool over;
};

static void open_several(struct several *x)
{
	for (int i = 0; i < SEVERAL; i++)
		open_sockets(x->fds[i]);
	atomic_init(&x->over, false);
}

static void close_several(struct several *x, int but)
{
	for (int i = 0; i < SEVERAL; i++) {
		if (i != but)
			close(x->fds[i][0]);
		close(x->fds[i][1]);
	}
}

static void poll_them(void *argument)
{
	struct several *x = argument;
	struct pollfd   p[SEVERAL + 1] = { { .fd = -1 } };

	for (int i = 0; i < SEVERAL; i++)
		p[i + 1] = (struct pollfd){ .fd = x->fds[i][0],
					    .events = POLLIN };
	x->result = sennit_poll_many(p, SEVERAL + 1, SENNIT_NEVER);
	atomic_store(&x->over, true);
}

/* The next file with the number is ready at once. */
static void close_and_open(int number, int fds[2])
{
	EXPECT(sennit_close(number) == 0);
	open_sockets(fds);
	EXPECT(fds[0] == number || fds[1] == number);
	must(write(fds[0], "x", 1) == 1, "write");
	must(write(fds[1], "x", 1) == 1, "write");
}

static void ends(struct several *x)
{
	EXPECT_SOON(atomic_load(&x->over));
	if (x->result != -ECANCELED)
		fprintf(stderr, "ended with %d\n", x->result);
	EXPECT(x->result == -ECANCELED);
}

TEST_WITH_WORKERS(a_close_of_any_of_them_ends_the_call)
{
	for (int i = 0; i < SEVERAL; i++) {
		struct several x;
		int            next[2];

		open_several(&x);
		must_schedule(poll_them, &x);
		assert_soon(io_waits(w->s) == 1);
		close_and_open(x.fds[i][0], next);
		ends(&x);
		close_several(&x, i);
		close(next[0]);
		close(next[1]);
	}
}

/* --- a fiber of the same worker closes ---------------------------------- */

static void close_beside(void *argument)
{
	sennit_scheduler *s = argument;
	struct several    x, other;
	int               next[2];

	open_several(&x);
	open_several(&other);
	must_schedule_here(poll_them, &x);
	must_schedule_here(poll_them, &other);
	while (io_waits(s) < 2)
		sennit_yield();
	close_and_open(x.fds[2][0], next);
	ends(&x);
	EXPECT(!atomic_load(&other.over));
	must(write(other.fds[1][1], "x", 1) == 1, "write");
	EXPECT_SOON(atomic_load(&other.over));
	EXPECT(other.result == 1);
	close_several(&x, 2);
	close_several(&other, -1);
	close(next[0]);
	close(next[1]);
}

TEST_WITHOUT(a_close_by_the_same_worker_ends_the_call)
{
	in_a_task(close_beside, w->s);
}

/* --- other calls continue ----------------------------------------------- */

TEST_WITH_WORKERS(a_close_of_others_ends_no_call)
{
	struct several x;
	int            others[2];

	open_several(&x);
	open_sockets(others);
	must_schedule(poll_them, &x);
	assert_soon(io_waits(w->s) == 1);
	EXPECT(sennit_close(others[0]) == 0);
	EXPECT(sennit_close(others[1]) == 0);
	for (int i = 0; i < 100; i++) /* by then the worker has checked its
				       * waits */
		sennit_yield();
	assert_false(atomic_load(&x.over));
	must(write(x.fds[SEVERAL - 1][1], "x", 1) == 1, "write");
	assert_soon(atomic_load(&x.over));
	assert_int_equal(x.result, 1);
	close_several(&x, -1);
}

#if !defined(SN_TSAN) /* which reports a close of a descriptor in use */

/* --- closed before it runs ---------------------------------------------- */

struct woken {
	struct several x;
	int            next[2];
	unsigned       woken;
};

static void *close_zeroth(void *argument)
{
	struct woken *w = argument;

	close_and_open(w->x.fds[0][0], w->next);
	return NULL;
}

/* The first of the two that runs closes the descriptor for which the other one
 * was woken. */
static void poll_and_close(void *argument)
{
	struct woken *w = argument;

	poll_them(&w->x);
	if (w->woken++) {
		EXPECT(w->x.result == -ECANCELED);
		return;
	}
	EXPECT(w->x.result == 1);
	pthread_join(must_start_thread(close_zeroth, w), NULL);
}

static void wake_both(void *argument)
{
	sennit_scheduler *s = argument;
	struct woken      w = { .woken = 0 };

	open_several(&w.x);
	must_schedule_here(poll_and_close, &w);
	must_schedule_here(poll_and_close, &w);
	while (io_waits(s) < 2)
		sennit_yield();
	must(write(w.x.fds[0][1], "x", 1) == 1, "write");
	while (w.woken < 2)
		sennit_yield();
	close_several(&w.x, 0);
	close(w.next[0]);
	close(w.next[1]);
}

TEST_WITHOUT(who_was_woken_does_not_look_at_what_comes_next)
{
	for (int i = 0; i < 20; i++)
		in_a_task(wake_both, w->s);
}

/* --- threads ------------------------------------------------------------ */

static void *poll_as_thread(void *argument)
{
	poll_them(argument);
	return NULL;
}

/* The test cannot see whether the thread waits yet. It may find the descriptor
 * closed before. Its set gets a lower number, and so not the one that was
 * closed. */
static void close_under_thread(int i)
{
	struct several x;
	int            spare = dup(0);
	pthread_t      t;

	open_several(&x);
	close(spare);
	t = must_start_thread(poll_as_thread, &x);
	usleep(2000);
	EXPECT(sennit_close(x.fds[i][0]) == 0);
	EXPECT_SOON(atomic_load(&x.over));
	pthread_join(t, NULL);
	EXPECT(x.result == -ECANCELED || x.result == 1);
	close_several(&x, i);
}

TEST_WITHOUT(a_close_ends_the_call_of_a_thread)
{
	for (int i = 0; i < SEVERAL; i++)
		close_under_thread(i);
}

#endif

USES_BACKEND;
