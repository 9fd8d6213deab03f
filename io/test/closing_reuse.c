/* SPDX-License-Identifier: Apache-2.0 */
/* closing_reuse.c - a descriptor on which fibers wait is closed, and its number
 * is reused before they run: none of them reads from the new file.
 */
#include "operations.h"

enum { BYTES = 4 };

struct reuse {
	int         old[2], new[2];
	ptrdiff_t   result;
	atomic_bool over;
};

static void receive_old(void *argument)
{
	struct reuse *r = argument;
	char          bytes[BYTES];

	r->result = sennit_recv(r->old[0], bytes, BYTES, 0, SENNIT_NEVER);
	atomic_store(&r->over, true);
}

/* Another pair of sockets gets the number, and has bytes to receive. */
static void *close_and_open(void *argument)
{
	struct reuse *r = argument;
	int           fds[2];

	EXPECT(sennit_close(r->old[0]) == 0);
	open_sockets(fds);
	r->new[0] = r->old[0];
	r->new[1] = fds[1] == r->old[0] ? fds[0] : fds[1];
	EXPECT(fds[0] == r->old[0] || fds[1] == r->old[0]);
	must(write(r->new[1], "abcd", BYTES) == BYTES, "write");
	return NULL;
}

/* The worker stays in this call, so no fiber runs between the close() and the
 * reuse of the number. */
static void close_and_open_beside(struct reuse *r)
{
	pthread_join(must_start_thread(close_and_open, r), NULL);
}

static void end_reuse(struct reuse *r)
{
	char bytes[BYTES] = "";

	EXPECT_SOON(atomic_load(&r->over));
	EXPECT(is_closed(r->result));
	EXPECT(sennit_recv(r->new[0], bytes, BYTES, 0, in_ms(100000)) == BYTES);
	EXPECT(!memcmp(bytes, "abcd", BYTES));
	close(r->old[1]);
	close(r->new[0]);
	close(r->new[1]);
}

#if !defined(SN_TSAN)

/* Two fibers wait for one byte. The one that receives it closes the descriptor
 * before the other one has run. */
struct woken {
	struct reuse      r;
	atomic_uint       over;
	sennit_scheduler *s;
};

static void take_byte_and_close(void *argument)
{
	struct woken *x = argument;
	char          byte;
	ptrdiff_t     n = sennit_recv(x->r.old[0], &byte, 1, 0, SENNIT_NEVER);

	if (n == 1)
		close_and_open_beside(&x->r);
	else
		x->r.result = n;
	atomic_fetch_add(&x->over, 1);
}

static void wake_both(void *argument)
{
	struct woken x = { .s = argument };

	open_sockets(x.r.old);
	must_schedule_here(take_byte_and_close, &x);
	must_schedule_here(take_byte_and_close, &x);
	while (io_waits(x.s) < 2)
		sennit_yield();
	for (int i = 0; i < 40; i++) /* by then the request is submitted */
		sennit_yield();
	must(write(x.r.old[1], "x", 1) == 1, "write");
	while (atomic_load(&x.over) < 2)
		sennit_yield();
	atomic_store(&x.r.over, true);
	end_reuse(&x.r);
}

TEST_WITHOUT(who_was_woken_does_not_read_what_comes_next)
{
	for (int i = 0; i < 20; i++)
		in_a_task(wake_both, w->s);
}

#endif

/* The worker waits for the thread that closes. So it either has not submitted
 * the wait to the kernel, or has submitted it 40 dispatches ago. */
static void reuse_beside(sennit_scheduler *s, int dispatches)
{
	struct reuse r = { .result = 0 };

	open_sockets(r.old);
	must_schedule_here(receive_old, &r);
	assert_soon(io_waits(s) == 1);
	while (dispatches--)
		sennit_yield();
	close_and_open_beside(&r);
	end_reuse(&r);
}

TEST_WITHOUT(what_a_number_means_next_is_not_read)
{
	for (int i = 0; i < 20; i++)
		reuse_beside(w->s, i % 2 ? 40 : 0);
}

USES_BACKEND;
