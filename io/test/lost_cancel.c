/* SPDX-License-Identifier: Apache-2.0 */
/* lost_cancel.c - the kernel loses cancel requests: each call that is cancelled
 * by io_uring ends nevertheless, whatever the reason for which it is cancelled.
 *
 * The functions of liburing that submit entries are replaced: a cancel request
 * becomes a no-op, LOST times for each call.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "operations.h"

#include "sennit/group.h"
#include "sennit/stream.h"

#include <dlfcn.h>

#if __has_include(<liburing.h>)

#include <liburing.h>

enum { LOST = 3 };

static unsigned lost;

/* Set in the tests of many calls: which cancel requests are lost. */
static bool (*loses)(void);

static bool is_lost(void)
{
	if (loses)
		return loses();
	if (lost == LOST)
		return false;
	lost++;
	return true;
}

static void lose_cancels(const struct io_uring *ring)
{
	const struct io_uring_sq *sq = &ring->sq;

	for (unsigned i = sq->sqe_tail - io_uring_sq_ready(ring);
	     i != sq->sqe_tail; i++) {
		struct io_uring_sqe *e = &sq->sqes[i & sq->ring_mask];

		if (e->opcode == IORING_OP_ASYNC_CANCEL && is_lost())
			e->opcode = IORING_OP_NOP;
	}
}

static void *next_of(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	must(f, name);
	return f;
}

#define LOSING(name, parameters, arguments)               \
	int name parameters                               \
	{                                                 \
		int(*call) parameters;                    \
		*(void **)(void *)&call = next_of(#name); \
		lose_cancels(ring);                       \
		return call arguments;                    \
	}

LOSING(io_uring_submit, (struct io_uring * ring), (ring))
LOSING(io_uring_submit_and_get_events, (struct io_uring * ring), (ring))
LOSING(io_uring_submit_and_wait_timeout,
       (struct io_uring * ring, struct io_uring_cqe **c, unsigned count,
	struct __kernel_timespec *limit, sigset_t *mask),
       (ring, c, count, limit, mask))

/* --- calls --------------------------------------------------------------- */

static ptrdiff_t do_read(int fd, sennit_time deadline)
{
	char b[8];

	return sennit_read(fd, b, sizeof(b), deadline);
}

static ptrdiff_t do_recv(int fd, sennit_time deadline)
{
	char b[8];

	return sennit_recv(fd, b, sizeof(b), 0, deadline);
}

static ptrdiff_t do_poll(int fd, sennit_time deadline)
{
	return sennit_poll(fd, POLLIN, deadline);
}

static ptrdiff_t do_stream(int fd, sennit_time deadline)
{
	sennit_stream *s;
	void          *bytes;
	ptrdiff_t      n;

	EXPECT(!sennit_stream_open(&s, fd));
	n = sennit_stream_next(s, &bytes, deadline);
	sennit_stream_close(s);
	return n;
}

static ptrdiff_t (*const calls[])(int fd, sennit_time deadline) = {
	do_read, do_recv, do_poll, do_stream
};

enum reason { DEADLINE, GROUP, CLOSED_HERE, CLOSED_BY_THREAD, REASONS };

/* --- cells --------------------------------------------------------------- */

static struct cell {
	size_t      call;
	enum reason reason;
	int         fds[2];
	bool        busy; /* another fiber always runs */
	bool        begun, ended;
	ptrdiff_t   result;
} x;

static int run_call(void *unused)
{
	(void)unused;
	x.begun = true;
	x.result = calls[x.call](x.fds[0], x.reason == DEADLINE ? in_ms(5)
								: SENNIT_NEVER);
	x.ended = true;
	return 0;
}

static void run_until_end(void *unused)
{
	(void)unused;
	while (!x.ended)
		sennit_yield();
}

static void *close_as_thread(void *unused)
{
	(void)unused;
	sennit_close(x.fds[0]);
	return NULL;
}

/* The request is in the kernel by now: the worker has slept. */
static void end_call(sennit_group *g)
{
	if (x.reason == GROUP)
		sennit_group_cancel(g);
	else if (x.reason == CLOSED_HERE)
		sennit_close(x.fds[0]);
	else if (x.reason == CLOSED_BY_THREAD)
		pthread_join(must_start_thread(close_as_thread, NULL), NULL);
}

static void try_cell(size_t call, enum reason reason, bool busy)
{
	const ptrdiff_t right = reason == DEADLINE ? -ETIMEDOUT : -ECANCELED;
	sennit_group    g;

	x = (struct cell){ .call = call, .reason = reason, .busy = busy };
	open_sockets(x.fds);
	lost = 0;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	EXPECT(!sennit_group_spawn_task(
		&g, SENNIT_MEMBER(.run = run_call,
				  .flags = SENNIT_MEMBER_SAME_THREAD)));
	while (!x.begun)
		EXPECT(!sennit_sleep(2 * SENNIT_MILLISECOND));
	EXPECT(!sennit_sleep(2 * SENNIT_MILLISECOND));
	if (busy)
		must_schedule_here(run_until_end, NULL);
	end_call(&g);
	(void)!sennit_group_wait(&g);
	EXPECT(x.result == right);
	EXPECT(lost == LOST);
	if (reason < CLOSED_HERE)
		close(x.fds[0]);
	close(x.fds[1]);
}

static void try_each(void *unused)
{
	(void)unused;
	for (size_t call = 0; call < sizeof(calls) / sizeof(*calls); call++)
		for (int r = DEADLINE; r < REASONS; r++)
			for (int busy = 0; busy < 2; busy++)
				try_cell(call, (enum reason)r, busy);
}

TEST_WITHOUT(a_call_ends_although_cancel_requests_are_lost)
{
	(void)w;
	if (strcmp(wanted_backend, "uring") != 0)
		skip();
	in_a_task(try_each, NULL);
}

/* --- more calls than the submission queue has entries --------------------- */

/* The first cancel request of each call is lost. Then SOME have an effect, and
 * no further one before the calls that those ended have returned. */
enum { MANY = 300, SOME = 10 };

static struct many {
	int         fds[2];
	unsigned    asked;
	atomic_uint begun, ended;
	atomic_bool released;
} many;

static bool loses_all_but_some(void)
{
	const unsigned number = many.asked++;

	return !atomic_load(&many.released) &&
	       (number < MANY || number >= MANY + SOME);
}

static int receive_one(void *unused)
{
	(void)unused;
	atomic_fetch_add(&many.begun, 1);
	EXPECT(do_recv(many.fds[0], SENNIT_NEVER) == -ECANCELED);
	atomic_fetch_add(&many.ended, 1);
	return 0;
}

static void cancel_many(void *unused)
{
	sennit_group g;

	(void)unused;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (unsigned i = 0; i < MANY; i++)
		EXPECT(!sennit_group_spawn_task(
			&g, SENNIT_MEMBER(.run = receive_one,
					  .flags = SENNIT_MEMBER_SAME_THREAD)));
	while (atomic_load(&many.begun) < MANY)
		EXPECT(!sennit_sleep(2 * SENNIT_MILLISECOND));
	sennit_group_cancel(&g);
	(void)!sennit_group_wait(&g);
}

TEST_WITH_ONE(a_call_ends_although_another_cannot_be_cancelled)
{
	(void)w;
	if (strcmp(wanted_backend, "uring") != 0)
		skip();
	open_sockets(many.fds);
	loses = loses_all_but_some;
	must_schedule(cancel_many, NULL);
	EXPECT_SOON(atomic_load(&many.ended) >= SOME);
	atomic_store(&many.released, true);
	EXPECT_SOON(atomic_load(&many.ended) == MANY);
	loses = NULL;
	close(many.fds[0]);
	close(many.fds[1]);
}

#else

TEST_WITHOUT(no_io_uring)
{
	(void)w;
	skip();
}

#endif

USES_BACKEND;
