/* SPDX-License-Identifier: Apache-2.0 */
/* order.c - accesses before a write happen before accesses after the read of
 * it. ThreadSanitizer checks it.
 */
#include "operations.h"

struct queued_task {
	int         fds[2];
	bool        by_sennit;
	int         content;
	atomic_uint over;
};

static void fill_and_send(void *argument)
{
	struct queued_task *p = argument;

	p->content = 42;
	if (p->by_sennit)
		EXPECT(sennit_write(p->fds[1], "x", 1, SENNIT_NEVER) == 1);
	else
		must(write(p->fds[1], "x", 1) == 1, "write");
	atomic_fetch_add(&p->over, 1);
}

static void receive_and_open(void *argument)
{
	struct queued_task *p = argument;
	char                byte;

	EXPECT(sennit_read(p->fds[0], &byte, 1, SENNIT_NEVER) == 1);
	EXPECT(p->content == 42);
	p->content = 0;
	atomic_fetch_add(&p->over, 1);
}

static void *send_as_thread(void *argument)
{
	fill_and_send(argument);
	return NULL;
}

/* Through a socket or a pipe, by this library or by system calls, from a thread
 * or a task. The reader may have to wait or not. */
static void pass_parcel(const struct world *w, unsigned i)
{
	struct queued_task p = { .by_sennit = i % 2 };
	pthread_t          t = 0;

	if (i & 2)
		open_sockets(p.fds);
	else
		begin_pipe(p.fds);
	must_schedule(receive_and_open, &p);
	if (i & 4)
		assert_soon(io_waits(w->s) == 1);
	if (i & 8)
		t = must_start_thread(send_as_thread, &p);
	else
		must_schedule(fill_and_send, &p);
	assert_soon(atomic_load(&p.over) == 2);
	if (t)
		pthread_join(t, NULL);
	close(p.fds[0]);
	close(p.fds[1]);
}

TEST_WITH_WORKERS(what_was_done_before_a_write_is_seen_after_the_read)
{
	for (unsigned i = 0; i < 16; i++)
		pass_parcel(w, i);
}

USES_BACKEND;
