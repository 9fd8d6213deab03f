/* SPDX-License-Identifier: Apache-2.0 */
/* stream_buffers.c - a fiber that waits holds no buffer; a stream that nobody
 * reads holds few; streams that hold all buffers do not stop others; a closed
 * stream releases its buffers.
 */
#include "streams.h"

#include <time.h>

/* --- streams that are not read ------------------------------------------ */

enum { MUCH = 600 * 1024 };

struct slow {
	int          fds[2];
	sennit_event go;
	size_t       sent;
	atomic_bool  armed, over;
};

static void begin_and_wait(void *argument)
{
	struct slow   *x = argument;
	sennit_stream *s = must_open(x->fds[0]);
	void          *bytes;
	ptrdiff_t      n;
	size_t         had = 0;

	EXPECT(sennit_stream_next(s, &bytes, 0) == -ETIMEDOUT);
	atomic_store(&x->armed, true);
	EXPECT(!sennit_event_wait(&x->go));
	while ((n = sennit_stream_next(s, &bytes, SENNIT_NEVER)) > 0) {
		check_pattern(bytes, had, (size_t)n);
		had += (size_t)n;
	}
	EXPECT(n == 0);
	EXPECT(had == x->sent);
	sennit_stream_close(s);
	atomic_store(&x->over, true);
}

/* Send until the socket has been full for this many attempts in a row. */
static void send_all_that_goes(struct slow *x)
{
	char bytes[1024];

	set_nonblock(x->fds[1], true);
	for (int tries = 0; tries < 200 && x->sent < 4 * MUCH;) {
		ssize_t n;

		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = nth(x->sent + i);
		n = write(x->fds[1], bytes, sizeof(bytes));
		if (n > 0) {
			x->sent += (size_t)n;
			tries = 0;
		} else {
			tries++;
			sennit_sleep(100 * SENNIT_MICROSECOND);
		}
	}
}

TEST_WITH_WORKERS(who_does_not_ask_slows_down_the_sender)
{
	struct slow x = { .sent = 0 };

	sennit_event_init(&x.go, SENNIT_EVENT_MANUAL);
	open_sockets(x.fds);
	must_schedule(begin_and_wait, &x);
	assert_soon(atomic_load(&x.armed));
	send_all_that_goes(&x);
	assert_true(x.sent < MUCH);
	shutdown(x.fds[1], SHUT_WR);
	sennit_event_set(&x.go);
	assert_soon(atomic_load(&x.over));
	close_both(x.fds);
}

/* The CPU time that the process uses in a tenth of a second. */
static uint64_t busy_time(void)
{
	struct timespec before, after;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	sennit_sleep(100 * SENNIT_MILLISECOND);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	return (uint64_t)(after.tv_sec - before.tv_sec) * SENNIT_SECOND +
	       (uint64_t)after.tv_nsec - (uint64_t)before.tv_nsec;
}

TEST_WITH_WORKERS(what_nobody_asks_for_wakes_nobody_up)
{
	struct slow x = { .sent = 2 };
	const char  bytes[2] = { nth(0), nth(1) };
	bool        quiet = false;

	sennit_event_init(&x.go, SENNIT_EVENT_MANUAL);
	open_sockets(x.fds);
	must_schedule(begin_and_wait, &x);
	assert_soon(atomic_load(&x.armed));
	assert_int_equal(write(x.fds[1], bytes, 2), 2);
	for (int i = 0; i < 20 && !quiet; i++)
		quiet = busy_time() < 20 * SENNIT_MILLISECOND;
	shutdown(x.fds[1], SHUT_WR);
	sennit_event_set(&x.go);
	assert_soon(atomic_load(&x.over));
	close_both(x.fds);
	assert_true(quiet);
}

/* --- streams that hold buffers ------------------------------------------ */

enum { HOLDERS = 300 };

struct holders {
	int          fds[HOLDERS][2];
	sennit_event go;
	atomic_uint  have, over;
};

struct holder {
	struct holders *all;
	int             i;
};

static void have_and_hold(void *argument)
{
	struct holder *h = argument;
	sennit_stream *s = must_open(h->all->fds[h->i][0]);
	void          *bytes;

	for (int i = 0; i < 2; i++) {
		EXPECT(sennit_stream_next(s, &bytes, SENNIT_NEVER) == 2);
		atomic_fetch_add(&h->all->have, 1);
		if (!i)
			EXPECT(!sennit_event_wait(&h->all->go));
		EXPECT(!memcmp(bytes, "ab", 2));
	}
	EXPECT(sennit_stream_next(s, &bytes, SENNIT_NEVER) == 0);
	sennit_stream_close(s);
	atomic_fetch_add(&h->all->over, 1);
}

/* A worker has 256 buffers. */
TEST_WITH_WORKERS(who_holds_all_buffers_stops_nobody)
{
	static struct holders all;

	atomic_store(&all.have, 0);
	atomic_store(&all.over, 0);
	sennit_event_init(&all.go, SENNIT_EVENT_MANUAL);
	for (int i = 0; i < HOLDERS; i++) {
		struct holder h = { &all, i };

		open_sockets(all.fds[i]);
		assert_int_equal(
			sennit_schedule_copy(have_and_hold, &h, sizeof(h)), 0);
	}
	for (int i = 0; i < HOLDERS; i++)
		give_two_bytes(all.fds[i]);
	assert_soon(atomic_load(&all.have) == HOLDERS);
	sennit_event_set(&all.go);
	for (int i = 0; i < HOLDERS; i++) {
		give_two_bytes(all.fds[i]);
		shutdown(all.fds[i][1], SHUT_WR);
	}
	assert_soon(atomic_load(&all.over) == HOLDERS);
	for (int i = 0; i < HOLDERS; i++)
		close_both(all.fds[i]);
}

/* --- closed streams ----------------------------------------------------- */

/* The ring's buffers are aligned to pages, the allocator's are not. */
static bool is_of_ring(const void *bytes)
{
	return (uintptr_t)bytes % SENNIT_STREAM_BUFFER == 0;
}

static void open_and_close(void)
{
	int            fds[2];
	sennit_stream *s;
	void          *bytes;

	open_sockets(fds);
	s = must_open(fds[0]);
	EXPECT(sennit_stream_next(s, &bytes, 0) == -ETIMEDOUT);
	for (int i = 0; i < 3; i++) {
		give_two_bytes(fds);
		/* The worker processes completions while it waits. */
		EXPECT(sennit_poll(fds[1], POLLIN, sennit_after(20000)) ==
		       -ETIMEDOUT);
	}
	EXPECT(sennit_stream_next(s, &bytes, SENNIT_NEVER) > 0);
	sennit_stream_close(s); /* with some buffers that were not read */
	close_both(fds);
}

enum { AT_ONCE = 3 };

static void have_several_of_ring(void)
{
	int            fds[AT_ONCE][2];
	sennit_stream *s[AT_ONCE];
	void          *bytes;

	for (int i = 0; i < AT_ONCE; i++) {
		open_sockets(fds[i]);
		give_two_bytes(fds[i]);
		s[i] = must_open(fds[i][0]);
		EXPECT(sennit_stream_next(s[i], &bytes, SENNIT_NEVER) == 2);
		EXPECT(is_of_ring(bytes) ||
		       strcmp(wanted_backend, "uring") != 0);
	}
	for (int i = 0; i < AT_ONCE; i++) {
		sennit_stream_close(s[i]);
		close_both(fds[i]);
	}
}

static void open_and_close_often(void *argument)
{
	(void)argument;
	for (int i = 0; i < 300; i++)
		open_and_close();
	have_several_of_ring();
}

TEST_WITH_WORKERS(a_closed_stream_gives_its_buffers_back)
{
	open_and_close_often(NULL);
	in_a_task(open_and_close_often, NULL);
}

/* --- a waiting fiber has no buffer -------------------------------------- */

static atomic_int buffers; /* buffers of the allocator that are in use */

/* The offset of those buffers in a page. */
#define MARK 64

static void *allocate(void *context, size_t size, size_t alignment)
{
	bool   buffer = size == SENNIT_STREAM_BUFFER && alignment <= MARK;
	size_t least = buffer ? SENNIT_STREAM_BUFFER : sizeof(void *);
	void  *memory;

	(void)context;
	if (posix_memalign(&memory, alignment < least ? least : alignment,
			   buffer ? 2 * size : size))
		return NULL;
	atomic_fetch_add(&buffers, buffer);
	return (char *)memory + (buffer ? MARK : 0);
}

static void release(void *context, void *memory, size_t size)
{
	bool buffer = size == SENNIT_STREAM_BUFFER &&
		      (uintptr_t)memory % SENNIT_STREAM_BUFFER == MARK;

	(void)context;
	atomic_fetch_sub(&buffers, buffer);
	free((char *)memory - (buffer ? MARK : 0));
}

enum { IDLE = 40 };

TEST_WITH_WORKERS(who_waits_has_no_buffer)
{
	const sennit_allocator a = { allocate, release, NULL };
	struct waiting         x[IDLE];
	sennit_scheduler      *s =
		move_to(SENNIT_CONFIG(.workers = w->workers, .allocator = &a));

	atomic_store(&buffers, 0);
	for (int i = 0; i < IDLE; i++) {
		x[i] = (struct waiting){ .result = 0 };
		open_sockets(x[i].fds);
		must_schedule(wait_in_stream, &x[i]);
	}
	assert_soon(io_waits(s) == IDLE);
	assert_int_equal(atomic_load(&buffers), 0);
	for (int i = 0; i < IDLE; i++)
		give_two_bytes(x[i].fds);
	for (int i = 0; i < IDLE; i++) {
		assert_soon(atomic_load(&x[i].over));
		assert_int_equal(x[i].result, 2);
		close_both(x[i].fds);
	}
	assert_int_equal(atomic_load(&buffers), 0);
	move_back(w, s);
}

USES_BACKEND;
