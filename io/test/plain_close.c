/* SPDX-License-Identifier: Apache-2.0 */
/* plain_close.c - a connection on which a fiber waits is closed by close(),
 * which the library does not notice. Once the library has accepted another
 * connection with that number, the wait ends, and takes no bytes from the new
 * connection. Any other descriptor that gets the number works as usual. */
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

/* fds[0] listens; fds[1] becomes the peer's end. */
static int accept_one(int fds[2])
{
	int fd;

	fds[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	connect_to_listener(fds);
	fd = sennit_accept(fds[0], NULL, NULL, SOCK_CLOEXEC, SENNIT_NEVER);
	must(fd >= 0, "accept");
	return fd;
}

/* The worker has had the wait for `turns` turns when its number is closed and
 * reused. */
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

/* --- before the wait has begun ------------------------------------------ */

static void poll_closed(void *argument)
{
	struct old   *o = argument;
	struct pollfd p = { .fd = o->fd, .events = POLLIN };

	o->result = sennit_poll_many(&p, 1, SENNIT_NEVER);
	EXPECT(p.revents == POLLNVAL);
	atomic_store(&o->over, true);
}

/* A ring gets most of the requests after the close. If it had one before, the
 * close of the other end ends that. */
TEST_WITHOUT(a_poll_that_has_not_begun_reports_a_closed_number)
{
	if (strcmp(wanted_backend, "uring") != 0)
		skip();
	for (int i = 0; i < ROUNDS; i++) {
		struct old o = { .fd = -1 };
		int        fds[2];

		begin_pipe(fds);
		o.fd = fds[0];
		must_schedule_here(poll_closed, &o);
		assert_soon(io_waits(w->s) == 1);
		close(fds[0]);
		close(fds[1]);
		assert_soon(atomic_load(&o.over));
		assert_int_equal(o.result, 1);
	}
}

/* --- another kind of descriptor ----------------------------------------- */

struct connection {
	int fds[2], fd;
};

/* A connection that the library has accepted and received from. */
static void use_connection(struct connection *c)
{
	char byte;

	open_listener(c->fds);
	close(c->fds[1]);
	c->fd = accept_one(c->fds);
	EXPECT(sennit_recv(c->fd, &byte, 1, 0, in_ms(1)) == -ETIMEDOUT);
}

/* *fd gets the number of the connection, which closes the connection. */
static void replace_connection(struct connection *c, int *fd)
{
	must(dup3(*fd, c->fd, O_CLOEXEC) == c->fd, "dup3");
	close(*fd);
	*fd = c->fd;
}

static void end_connection(struct connection *c)
{
	close(c->fds[0]);
	close(c->fds[1]);
}

static void operate(const struct world *w, const struct operation *of,
		    bool nonblock)
{
	struct connection c;
	struct attempt    a = { .of = of, .s = w->s, .nonblock = nonblock };

	use_connection(&c);
	begin(&a);
	replace_connection(&c, &a.fds[0]);
	said(&a, of->call(a.fds[0], in_ms(1)), -ETIMEDOUT, "not ready");
	wait_in_task(&a);
	end_attempt(&a);
	end_connection(&c);
}

TEST_WITHOUT(what_gets_the_number_is_waited_for)
{
	for (size_t i = 0; i < OPERATIONS; i++)
		for (int nonblock = 0; nonblock < 2; nonblock++)
			operate(w, &operations[i], nonblock);
}

static void send_file(int flags)
{
	struct connection c;
	char              name[] = "/tmp/sennit-plain-XXXXXX";
	int               made = mkstemp(name);
	int               file = open(name, O_RDONLY | O_CLOEXEC | flags);
	int               sockets[2], ends[2];
	int64_t           at = 0;

	must(made >= 0 && file >= 0 && write(made, "abcd", 4) == 4, "file");
	unlink(name);
	close(made);
	open_sockets(sockets);
	begin_pipe(ends);
	use_connection(&c);
	replace_connection(&c, &file);
	EXPECT(sennit_sendfile(sockets[0], file, &at, 4, in_ms(100000)) == 4);
	at = 0;
	EXPECT(sennit_sendfile(ends[1], file, &at, 4, in_ms(100000)) == 4);
	at = 0;
	EXPECT(sennit_splice(file, &at, ends[1], NULL, 4, 0, in_ms(100000)) ==
	       4);
	end_connection(&c);
	for (int i = 0; i < 2; i++) {
		close(sockets[i]);
		close(ends[i]);
	}
	close(file);
}

TEST_WITHOUT(a_file_that_gets_the_number_is_sent)
{
	send_file(0);
	send_file(O_NONBLOCK);
	(void)w;
}

static int begin_all(void)
{
	/* ThreadSanitizer reports a close of a descriptor in use. */
	if (CLOSE_IS_REPORTED)
		return 77; /* skipped */
	return 0;
}

BEFORE_ALL(begin_all);
USES_BACKEND;
