/* SPDX-License-Identifier: Apache-2.0 */
#include "sennit/io.h"
#include "sennit/net.h"
#include "sennit/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdbool.h>
#include <unistd.h>

/* RFC 8305, 5: between two attempts. */
#define STAGGER (250 * SENNIT_MILLISECOND)

/* At most so many attempts at a time; the oldest makes room. */
#define ATTEMPTS 8

struct race {
	const struct addrinfo *next[2]; /* not tried: of the first address's
					 * family, and of others */
	int                    first;   /* the family of the first address */
	int                    turn;    /* which of the two is next */
	struct pollfd fds[ATTEMPTS];    /* that have begun, oldest first */
	unsigned      count;
	sennit_time   again; /* when the next one begins */
	int           err;   /* of the last that failed */
};

/* --- whose turn it is --------------------------------------------------- */

static const struct addrinfo *skip(const struct race     *r,
				   const struct addrinfo *a, bool others)
{
	while (a && (a->ai_family != r->first) != others)
		a = a->ai_next;
	return a;
}

static void begin_race(struct race *r, const struct addrinfo *all)
{
	*r = (struct race){ .first = all->ai_family, .err = -ENOENT };
	r->next[0] = all;
	r->next[1] = skip(r, all, true);
}

static bool has_more(const struct race *r)
{
	return r->next[0] || r->next[1];
}

/* The families take turns, as long as both have addresses left. */
static const struct addrinfo *take_next(struct race *r)
{
	const struct addrinfo *a;

	if (!r->next[r->turn])
		r->turn = !r->turn;
	a = r->next[r->turn];
	r->next[r->turn] = skip(r, a->ai_next, r->turn);
	r->turn = !r->turn;
	return a;
}

/* --- attempts ----------------------------------------------------------- */

static void drop(struct race *r, unsigned i)
{
	close(r->fds[i].fd);
	r->count--;
	for (; i < r->count; i++)
		r->fds[i] = r->fds[i + 1];
}

static void fail(struct race *r, int err)
{
	r->err = err;
	r->again = 0;
}

/* Begin the next attempt. Returns whether it has succeeded: the last of all. */
static bool begin_next(struct race *r)
{
	const struct addrinfo *a = take_next(r);
	int                    fd;

	if (r->count == ATTEMPTS)
		drop(r, 0);
	fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
		    a->ai_protocol);
	if (fd < 0) {
		fail(r, -errno);
		return false;
	}
	r->fds[r->count++] = (struct pollfd){ .fd = fd, .events = POLLOUT };
	r->again = sennit_after(STAGGER);
	if (!connect(fd, a->ai_addr, a->ai_addrlen))
		return true;
	if (errno != EINPROGRESS) {
		fail(r, -errno);
		drop(r, r->count - 1);
	}
	return false;
}

/* Look at attempt i, which has events: whether it has succeeded; else it is
 * gone. */
static bool end_attempt(struct race *r, unsigned i)
{
	int       err = 0;
	socklen_t size = sizeof(err);

	if (getsockopt(r->fds[i].fd, SOL_SOCKET, SO_ERROR, &err, &size))
		err = errno;
	if (!err)
		return true;
	fail(r, -err);
	drop(r, i);
	return false;
}

/* The attempt that has succeeded; -1: none yet. */
static int find_winner(struct race *r)
{
	for (unsigned i = r->count; i-- > 0;)
		if (r->fds[i].revents && end_attempt(r, i))
			return (int)i;
	return -1;
}

/* Wait until attempts have events or the next one begins. 0, or an error that
 * ends the race. */
static int wait_for_events(struct race *r, sennit_time deadline)
{
	sennit_time until = has_more(r) && r->again < deadline ? r->again
							       : deadline;
	int         n = sennit_poll_several(r->fds, r->count, until);

	if (n == -ETIMEDOUT && until != deadline)
		return 0;
	return n < 0 ? n : 0;
}

/* Those that have begun are looked at before the next one begins. */
static int run(struct race *r, sennit_time deadline)
{
	while (r->count || has_more(r)) {
		int winner, err;

		if (has_more(r) && (!r->count || sennit_now() >= r->again) &&
		    begin_next(r))
			return (int)r->count - 1;
		if (!r->count)
			continue;
		err = wait_for_events(r, deadline);
		winner = err ? err : find_winner(r);
		if (err || winner >= 0)
			return winner;
	}
	return r->err;
}

/* The winner's descriptor, as a caller of socket() expects it. */
static int take(struct race *r, int winner)
{
	int fd = r->fds[winner].fd;
	int flags = fcntl(fd, F_GETFL);

	(void)fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
	r->fds[winner] = r->fds[--r->count];
	return fd;
}

int sennit_connect_host(const char *host, const char *service,
			sennit_time deadline)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo      *all;
	struct race           r;
	int err = sennit_resolve(host, service, &hints, &all, deadline);

	if (err)
		return err;
	begin_race(&r, all);
	err = run(&r, deadline);
	if (err >= 0)
		err = take(&r, err);
	while (r.count)
		drop(&r, 0);
	freeaddrinfo(all);
	return err;
}
