/* SPDX-License-Identifier: Apache-2.0 */
/* urgent.c - receives with MSG_WAITALL end at an urgent byte where those of the
 * system do: with MSG_PEEK and without, with SO_OOBINLINE and without, whether
 * the byte is there or comes while the call waits, with more behind it and
 * without.
 */
#include "operations.h"

/* What comes before the call and while it waits. A piece in capital letters is
 * urgent. */
struct cell {
	const char *before[3], *later[2];
	ptrdiff_t   apart, in_line; /* the results, the latter with
				     * SO_OOBINLINE */
	bool        waits;          /* until its deadline */
};

static const struct cell cells[] = {
	{ { "abc", "U", "ef" }, { NULL }, 3, 3, false },
	{ { "abc", "U" }, { NULL }, 3, 3, false },
	{ { "U", "ef" }, { NULL }, 2, 3, true },
	{ { "abc" }, { "U" }, 3, 3, false },
	{ { "abc" }, { "U", "ef" }, 3, 3, false },
	{ { "abc" }, { "de", "U" }, 5, 5, false },
	{ { "abc", "de" }, { NULL }, 5, 5, true },
};

#define CELLS (sizeof(cells) / sizeof(cells[0]))

struct scene {
	const struct cell *of;
	int                fds[2];
	atomic_bool        begun, over;
};

static void give(const int fds[2], const char *piece)
{
	const int flags = *piece < 'a' ? MSG_OOB : 0;

	must(send(fds[1], piece, strlen(piece), flags) ==
		     (ssize_t)strlen(piece),
	     "send");
}

static void *give_later(void *argument)
{
	struct scene *x = argument;

	while (!atomic_load(&x->begun))
		sched_yield();
	usleep(1000); /* in any order the result is the same */
	for (size_t i = 0; i < 2 && x->of->later[i]; i++)
		give(x->fds, x->of->later[i]);
	return NULL;
}

static void expect_result(const struct scene *x, int flags, bool in_line)
{
	const struct cell *c = x->of;
	const ptrdiff_t    right = in_line ? c->in_line : c->apart;
	const sennit_time  deadline = c->waits ? in_ms(20) : SENNIT_NEVER;
	char               b[10];
	ptrdiff_t          n;

	n = sennit_recv(x->fds[0], b, sizeof(b), flags, deadline);
	if (n != right)
		print_error("cell %td, flags %#x, inline %d: %td\n", c - cells,
			    (unsigned)flags, in_line, n);
	EXPECT(n == right);
	EXPECT(!c->waits || sennit_now() >= deadline);
}

static void receive(const struct cell *c, int flags, bool in_line)
{
	const int    on = in_line;
	struct scene x = { .of = c };
	pthread_t    giver;

	open_tcp_connection(x.fds);
	must(!setsockopt(x.fds[0], SOL_SOCKET, SO_OOBINLINE, &on, sizeof(on)),
	     "SO_OOBINLINE");
	for (size_t i = 0; i < 3 && c->before[i]; i++)
		give(x.fds, c->before[i]);
	giver = must_start_thread(give_later, &x);
	atomic_store(&x.begun, true);
	expect_result(&x, flags, in_line);
	pthread_join(giver, NULL);
	close(x.fds[0]);
	close(x.fds[1]);
}

static void receive_each(void *unused)
{
	(void)unused;
	for (size_t i = 0; i < CELLS; i++)
		for (int way = 0; way < 4; way++)
			receive(&cells[i],
				MSG_WAITALL | (way & 1 ? MSG_PEEK : 0),
				way & 2);
}

TEST_WITHOUT(a_receive_ends_at_an_urgent_byte)
{
	(void)w;
	in_each_place(receive_each, NULL);
}

USES_BACKEND;
