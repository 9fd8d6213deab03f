/* SPDX-License-Identifier: Apache-2.0 */
/* meanwhile.c - between two system calls of one call, something happens that a
 * check of one of them does not see: no byte is lost, and no call waits in the
 * system.
 *
 * The functions of libc between which it happens are replaced.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "operations.h"

#include <dlfcn.h>
#include <sys/ioctl.h>

/* The descriptor that the call is about, and its other end. */
static int end[2] = { -1, -1 };

/* What happens then. NULL: nothing. */
static void (*before_splice)(void), (*after_splice)(void), (*after_poll)(void);

static void *next_of(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	must(f, name);
	return f;
}

static void happen(void (*it)(void))
{
	const int err = errno;

	if (it)
		it();
	errno = err;
}

ssize_t splice(int from, loff_t *from_at, int to, loff_t *to_at, size_t size,
	       unsigned flags)
{
	ssize_t (*call)(int, loff_t *, int, loff_t *, size_t, unsigned);
	ssize_t n;

	*(void **)(void *)&call = next_of("splice");
	happen(before_splice);
	n = call(from, from_at, to, to_at, size, flags);
	happen(after_splice);
	return n;
}

/* Has a name of its own, because libc declares poll() as a function that does
 * not read *fds. */
int poll_and_act(struct pollfd *fds, nfds_t count, int limit) __asm__("poll");

int poll_and_act(struct pollfd *fds, nfds_t count, int limit)
{
	int (*call)(struct pollfd *, nfds_t, int);
	int n;

	*(void **)(void *)&call = next_of("poll");
	n = call(fds, count, limit);
	if (count && fds->fd == end[0])
		happen(after_poll);
	return n;
}

static void close_ends(int fds[2])
{
	close(fds[0]);
	close(fds[1]);
	fds[0] = fds[1] = -1;
}

/* --- room in a pipe ------------------------------------------------------ */

static int pipe_ends[2], tries;

/* Before the second try another writer fills the pipe. */
static void take_room(void)
{
	if (tries == 1)
		fill(pipe_ends[1]);
}

/* After each try its reader makes room. */
static void make_room(void)
{
	char bytes[4096];

	tries++;
	set_nonblock(pipe_ends[0], true);
	while (read(pipe_ends[0], bytes, sizeof(bytes)) > 0)
		;
	set_nonblock(pipe_ends[0], false);
}

/* The source gets no more bytes, but has some. */
static void splice_the_rest(int type)
{
	must(!socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, end), "socketpair");
	begin_pipe(pipe_ends);
	fill(pipe_ends[1]);
	must(write(end[1], "ab", 2) == 2, "write");
	must(!shutdown(end[0], SHUT_RD), "shutdown");
	tries = 0;
	before_splice = take_room;
	after_splice = make_room;
	EXPECT(sennit_splice(end[0], NULL, pipe_ends[1], NULL, 2, 0,
			     SENNIT_NEVER) == 2);
	before_splice = after_splice = NULL;
	EXPECT(tries > 2);
	close_ends(end);
	close_ends(pipe_ends);
}

static void splice_each(void *unused)
{
	(void)unused;
	splice_the_rest(SOCK_STREAM);
	splice_the_rest(SOCK_DGRAM);
	splice_the_rest(SOCK_SEQPACKET);
}

TEST_WITHOUT(a_full_pipe_is_not_the_end_of_the_source)
{
	(void)w;
	in_each_place(splice_each, NULL);
}

/* --- an urgent byte ------------------------------------------------------ */

/* Nothing was there. Now an urgent byte comes, with more behind it. */
static void give_urgent(void)
{
	char bytes[2];

	after_poll = NULL;
	must(send(end[1], "U", 1, MSG_OOB) == 1 &&
		     send(end[1], "ef", 2, 0) == 2,
	     "send");
	while (recv(end[0], bytes, 2, MSG_PEEK | MSG_DONTWAIT) != 2)
		sched_yield();
}

static void receive_all(void *unused)
{
	char bytes[10], urgent = 0;
	int  fds[2];

	(void)unused;
	open_tcp_connection(fds); /* accept4() looks for end[0] */
	memcpy(end, fds, sizeof(end));
	must(write(end[1], "abc", 3) == 3, "write");
	after_poll = give_urgent;
	EXPECT(sennit_recv(end[0], bytes, sizeof(bytes), MSG_WAITALL,
			   in_ms(5000)) == 3);
	EXPECT(!after_poll);
	EXPECT(recv(end[0], &urgent, 1, MSG_OOB | MSG_DONTWAIT) == 1 &&
	       urgent == 'U');
	close_ends(end);
}

TEST_WITHOUT(a_receive_takes_nothing_behind_an_urgent_byte)
{
	(void)w;
	in_each_place(receive_all, NULL);
}

/* --- a listener ---------------------------------------------------------- */

static bool seems_no_listener;

/* A listener of Bluetooth never seems to be one, others not before they
 * listen. */
int getsockopt(int fd, int level, int option, void *value, socklen_t *size)
{
	int (*call)(int, int, int, void *, socklen_t *);
	int result;

	*(void **)(void *)&call = next_of("getsockopt");
	result = call(fd, level, option, value, size);
	if (!result && level == SOL_SOCKET && option == SO_ACCEPTCONN &&
	    seems_no_listener)
		*(int *)value = 0;
	return result;
}

/* As poll_and_act(): its type in libc is another one in ISO C. */
int accept_by_flag(int fd, struct sockaddr *address, socklen_t *size,
		   int flags) __asm__("accept4");

/* It would wait in the system if a listener had not this flag. */
int accept_by_flag(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
	int (*call)(int, struct sockaddr *, socklen_t *, int);

	*(void **)(void *)&call = next_of("accept4");
	if (fd == end[0]) {
		EXPECT(fcntl(fd, F_GETFL) & O_NONBLOCK);
		set_nonblock(fd, true);
	}
	return call(fd, address, size, flags);
}

static void accept_none(void *unused)
{
	(void)unused;
	open_listener(end);
	seems_no_listener = true;
	EXPECT(sennit_accept(end[0], NULL, NULL, SOCK_CLOEXEC, in_ms(1)) ==
	       -ETIMEDOUT);
	seems_no_listener = false;
	close_ends(end);
}

TEST_WITHOUT(what_seems_no_listener_keeps_no_worker)
{
	(void)w;
	in_each_place(accept_none, NULL);
}

USES_BACKEND;
