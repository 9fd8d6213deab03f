/* SPDX-License-Identifier: Apache-2.0 */
/* last_bytes.c - a sender sends its last bytes and closes between an attempt
 * that finds nothing and the poll() that follows. Each call on each kind of
 * socket receives the bytes, and the end after them.
 *
 * poll() is replaced: the last bytes arrive just before the library polls.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "operations.h"

#include "sennit/stream.h"

#include <dlfcn.h>

/* --- the last bytes ----------------------------------------------------- */

struct scene {
	const struct call *of;
	const struct kind *kind;
	bool               nonblock;
	int                fds[2];
	atomic_uint        over, waiting;
	atomic_uint        first, last, end; /* how many calls received what */
	atomic_ptrdiff_t   other;
};

static struct scene c;
static atomic_int   looked = -1; /* act before a poll() of this one; -1: none */

static void send_last(void)
{
	must(write(c.fds[1], "ab", 2) == 2, "write");
	must(!shutdown(c.fds[1], SHUT_WR), "shutdown");
}

/* Has a name of its own, because libc declares poll() as a function that does
 * not read *fds. */
int late_poll(struct pollfd *fds, nfds_t count, int limit) __asm__("poll");

int late_poll(struct pollfd *fds, nfds_t count, int limit)
{
	static void *at;
	int (*call)(struct pollfd *, nfds_t, int);
	int fd = count == 1 ? fds->fd : -1;

	if (fd >= 0 && atomic_load(&c.first) &&
	    atomic_compare_exchange_strong(&looked, &fd, -1))
		send_last();
	if (!at)
		at = dlsym(RTLD_NEXT, "poll");
	*(void **)(void *)&call = at;
	return call(fds, count, limit);
}

/* --- calls and sockets -------------------------------------------------- */

static ptrdiff_t call_stream(int fd, sennit_time deadline)
{
	sennit_stream *s;
	void          *bytes;
	ptrdiff_t      n = sennit_stream_open(&s, fd);

	if (n)
		return n;
	n = sennit_stream_next(s, &bytes, deadline);
	sennit_stream_close(s);
	return n;
}

static ptrdiff_t call_peek(int fd, sennit_time deadline)
{
	char      b[8];
	ptrdiff_t n = sennit_recv(fd, b, sizeof(b), MSG_PEEK, deadline);

	return n > 0 ? call_recv(fd, 0) : n;
}

static const struct call {
	const char *name;
	ptrdiff_t (*run)(int fd, sennit_time deadline);
} calls[] = {
	{ "read", call_read },     { "readv", call_readv },
	{ "recv", call_recv },     { "recvmsg", call_recvmsg },
	{ "peek", call_peek },     { "splice", call_splice_in },
	{ "stream", call_stream },
};

static void open_packets(int fds[2])
{
	must(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds),
	     "socketpair");
}

static const struct kind {
	const char *name;
	void (*open)(int fds[2]);
} kinds[] = { { "unix stream", open_sockets },
	      { "unix packets", open_packets },
	      { "tcp", open_tcp_connection } };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- two wait, and one byte arrives ------------------------------------- */

/* The call that receives the byte is not repeated, so that it does not receive
 * what is meant for the other one. */
static void receive(void)
{
	ptrdiff_t n;

	atomic_fetch_add(&c.waiting, 1);
	do {
		n = c.of->run(c.fds[0], SENNIT_NEVER);
		if (n == 1)
			atomic_fetch_add(&c.first, 1);
		else if (n == 2)
			atomic_fetch_add(&c.last, 1);
		else if (n)
			atomic_store(&c.other, n);
	} while (n > 1);
	if (!n)
		atomic_fetch_add(&c.end, 1);
	atomic_fetch_add(&c.over, 1);
}

static void receive_as_task(void *unused)
{
	(void)unused;
	receive();
}

static void *receive_as_thread(void *unused)
{
	receive();
	return unused;
}

static bool is_as_expected(void)
{
	return c.first == 1 && c.last == 1 && c.end == 1 && !c.other;
}

static void run_one(const struct world *w, const struct call *of,
		    const struct kind *kind, bool nonblock, bool in_threads)
{
	pthread_t t[2];

	c = (struct scene){ .of = of, .kind = kind, .nonblock = nonblock };
	kind->open(c.fds);
	set_nonblock(c.fds[0], nonblock);
	for (int i = 0; i < 2; i++)
		if (in_threads)
			t[i] = must_start_thread(receive_as_thread, NULL);
		else
			must_schedule(receive_as_task, NULL);
	if (in_threads)
		assert_soon(c.waiting == 2);
	else
		assert_soon(io_waits(w->s) == 2);
	atomic_store(&looked, c.fds[0]);
	must(write(c.fds[1], "a", 1) == 1, "write");
	assert_soon(c.first == 1);
	for (int i = 0; i < 20; i++)
		sennit_yield();
	if (atomic_exchange(&looked, -1) >= 0) /* the library does not poll */
		send_last();
	assert_soon(c.over == 2);
	for (int i = 0; in_threads && i < 2; i++)
		pthread_join(t[i], NULL);
	if (!is_as_expected())
		fprintf(stderr,
			"%s of %s%s%s: %u bytes, %u times the last ones, other "
			"result %td\n",
			of->name, kind->name, nonblock ? ", O_NONBLOCK" : "",
			in_threads ? ", threads" : "", c.first, c.last,
			c.other);
	EXPECT(is_as_expected());
	close(c.fds[0]);
	close(c.fds[1]);
}

static bool may_share(const struct call *of)
{
	return of->run != call_stream && of->run != call_peek;
}

TEST_WITH_WORKERS(what_comes_with_the_end_is_received)
{
	for (size_t i = 0; i < COUNT(calls); i++)
		for (size_t k = 0; k < COUNT(kinds); k++)
			for (int how = 0; how < 4; how++)
				if (may_share(&calls[i]))
					run_one(w, &calls[i], &kinds[k],
						how & 1, how & 2);
}

/* --- a guess ------------------------------------------------------------ */

/* Give the number of a socket whose last receive got all that was there to the
 * socket of the scene, without the library's knowledge (`drained` in
 * request.h). Nothing has come for it before send_last(). */
static void receive_by_guess(void *result)
{
	const int own = c.fds[0];
	int       other[2];
	char      b[8];

	open_sockets(other);
	give_two_bytes(other);
	EXPECT(sennit_recv(other[0], b, sizeof(b), 0, SENNIT_NEVER) == 2);
	must(dup3(own, other[0], O_CLOEXEC) == other[0], "dup");
	send_last();
	*(ptrdiff_t *)result = c.of->run(other[0], SENNIT_NEVER);
	close(other[0]);
	close(other[1]);
}

TEST_WITH_WORKERS(a_wrong_guess_is_no_end)
{
	for (size_t i = 0; i < COUNT(calls); i++)
		for (size_t k = 0; k < COUNT(kinds); k++)
			for (int nonblock = 0; nonblock < 2; nonblock++) {
				ptrdiff_t result = -1;

				if (calls[i].run == call_stream &&
				    kinds[k].open == open_packets)
					continue;
				c = (struct scene){ .of = &calls[i],
						    .kind = &kinds[k],
						    .nonblock = nonblock };
				kinds[k].open(c.fds);
				set_nonblock(c.fds[0], nonblock);
				in_a_task(receive_by_guess, &result);
				if (result != 2)
					fprintf(stderr, "%s of %s: %td\n",
						calls[i].name, kinds[k].name,
						result);
				EXPECT(result == 2);
				close(c.fds[0]);
				close(c.fds[1]);
			}
}

USES_BACKEND;
