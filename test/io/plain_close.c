/* SPDX-License-Identifier: Apache-2.0 */
/* plain_close.c - a connection on which a fiber waits is closed by close(), of
 * which the library knows nothing; once it has accepted another one with that
 * number, the wait ends, and takes nothing from it. */
#include "operations.h"

#if defined(SN_TSAN)
enum { CLOSE_IS_REPORTED = true };
#else
enum { CLOSE_IS_REPORTED = false };
#endif

enum { BYTES = 4, ROUNDS = 30 };

struct old {
	int         fd;
	ptrdiff_t   result;
	atomic_bool over;
};

static void receive_old(void *argument)
{
	struct old *o = argument;
	char        bytes[BYTES];

	o->result = sennit_recv(o->fd, bytes, BYTES, 0, SENNIT_NEVER);
	atomic_store(&o->over, true);
}

/* fds[0] listens, fds[1] becomes the other end. */
static int accept_one(int fds[2])
{
	int fd;

	fds[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	connect_to_listener(fds);
	fd = sennit_accept(fds[0], NULL, NULL, SOCK_CLOEXEC, SENNIT_NEVER);
	must(fd >= 0, "accept");
	return fd;
}

/* The worker knows of the wait for `turns` turns when its number is closed and
 * used again. */
static void reuse(const struct world *w, int fds[2], int turns)
{
	struct old o = { .fd = accept_one(fds) };
	char       bytes[BYTES] = "";
	int        old_peer = fds[1];
	int        fd;

	must_schedule_here(receive_old, &o);
	assert_soon(io_waits(w->s) == 1);
	while (turns--)
		sennit_yield();
	fds[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	connect_to_listener(fds);
	must(write(fds[1], "abcd", BYTES) == BYTES, "write");
	must(!close(o.fd), "close");
	fd = sennit_accept(fds[0], NULL, NULL, SOCK_CLOEXEC, SENNIT_NEVER);
	assert_int_equal(fd, o.fd);
	assert_soon(atomic_load(&o.over));
	assert_int_equal(o.result, -ECANCELED);
	assert_int_equal(
		sennit_recv(fd, bytes, BYTES, MSG_WAITALL, SENNIT_NEVER),
		BYTES);
	assert_memory_equal(bytes, "abcd", BYTES);
	assert_int_equal(sennit_close(fd), 0);
	close(fds[1]);
	close(old_peer);
}

TEST_WITHOUT(an_accepted_number_ends_older_waits)
{
	int fds[2];

	open_listener(fds);
	close(fds[1]);
	for (int i = 0; i < ROUNDS; i++)
		reuse(w, fds, i % 2 ? 40 : 0);
	close(fds[0]);
}

static int begin_all(void)
{
	/* ThreadSanitizer reports who closes what others may use. */
	if (CLOSE_IS_REPORTED)
		return 77; /* skipped */
	return 0;
}

BEFORE_ALL(begin_all);
USES_BACKEND;
