/* SPDX-License-Identifier: Apache-2.0 */
/* exchange.c - one deadline for a whole exchange: connect, ask, receive all.
 *
 *	exchange
 *
 * A deadline per call does not bound an exchange: a server that sends a byte
 * now and then keeps each receive short, and the whole endless. A group's
 * deadline reaches every wait of its members, and of all that they call, so the
 * calls inside need none of their own.
 */
#include <sennit.h>
#include <sennit/io.h>
#include <sennit/net.h>

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#define SIZE 100 /* bytes of a reply */

/* --- the recipe --------------------------------------------------------- */

/* Run the function, and whatever it spawns into groups of its own, until the
 * deadline. Returns when it has returned: with 0, its error, or -ETIMEDOUT. */
static int within(uint64_t patience, sennit_member_fn *run, void *argument)
{
	sennit_group g;
	int          err, ended;

	sennit_group_init(&g, sennit_after(patience), 0);
	err = sennit_group_spawn(&g, run, argument);
	ended = sennit_group_wait(&g);
	return ended ? ended : err;
}

/* --- an exchange -------------------------------------------------------- */

struct exchange {
	int  fd;
	char reply[SIZE];
};

/* Knows of no deadline. */
static int exchange(void *argument)
{
	struct exchange *e = argument;
	size_t           have = 0;
	ptrdiff_t        n = sennit_send(e->fd, "?", 1, 0, SENNIT_NEVER);

	while (n > 0 && have < SIZE) {
		n = sennit_recv(e->fd, e->reply + have, SIZE - have, 0,
				SENNIT_NEVER);
		have += n > 0 ? (size_t)n : 0;
	}
	return n > 0 ? 0 : n ? (int)n : -ECONNRESET;
}

/* --- a server that is prompt, or keeps its clients waiting -------------- */

struct server {
	int      fd;
	int      bytes; /* that it sends */
	uint64_t pause; /* after each */
};

static int serve(void *argument)
{
	const struct server *s = argument;
	char                 byte;
	ptrdiff_t            n;

	n = sennit_recv(s->fd, &byte, 1, 0, SENNIT_NEVER);
	for (int i = 0; i < s->bytes && n > 0; i++) {
		n = sennit_send(s->fd, "!", 1, 0, SENNIT_NEVER);
		sennit_sleep(s->pause);
	}
	if (n > 0) /* until the client goes */
		(void)!sennit_recv(s->fd, &byte, 1, 0, SENNIT_NEVER);
	sennit_close(s->fd);
	return 0; /* that the client has gone is no error of the server's */
}

/* --- both --------------------------------------------------------------- */

static int run_against(struct server s, uint64_t patience)
{
	int             fds[2];
	struct exchange e;
	sennit_group    server;
	int             err;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return -errno;
	s.fd = fds[0];
	e = (struct exchange){ .fd = fds[1] };
	sennit_group_init(&server, SENNIT_NEVER, 0);
	err = sennit_group_spawn(&server, serve, &s);
	if (err)
		sennit_close(fds[0]);
	err = err ? err : within(patience, exchange, &e);
	sennit_close(fds[1]); /* the server sees it */
	sennit_group_wait(&server);
	return err;
}

static int program(void *unused)
{
	const struct server fast = { .bytes = SIZE };
	/* Never late with a byte, and far too late with all of them. */
	const struct server tardy = { .bytes = SIZE,
				      .pause = 20 * SENNIT_MILLISECOND };
	int                 prompt, slow;

	(void)unused;
	prompt = run_against(fast, 60 * SENNIT_SECOND);
	printf("a prompt server: %s\n", sennit_strerror(prompt));
	slow = run_against(tardy, 200 * SENNIT_MILLISECOND);
	printf("a slow server: %s\n", sennit_strerror(slow));
	return prompt || slow != -ETIMEDOUT;
}

int main(void)
{
	int result;

	return sennit_run(program, NULL, NULL, &result) || result;
}
