/* SPDX-License-Identifier: Apache-2.0 */
/* resolve.c - getaddrinfo() on threads of the library's own, a few in the whole
 * process, which end when nothing is left to look up. What it waits for is the
 * servers' choice, and it cannot be ended: so it keeps neither the helper
 * threads nor the end of any scheduler.
 */
#include "base/atomic.h"
#include "base/list.h"
#include "base/torture.h"
#include "io/simulated/network.h"
#include "sennit/blocking.h"
#include "sennit/event.h"
#include "sennit/io.h"
#include "sennit/net.h"
#include "sennit/resolve.h"
#include "sennit/scheduler.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A lookup, which belongs to its caller and to whoever looks up: the last of
 * the two frees it. So the caller may leave at any time. */
struct lookup {
	a_u32            owners; /* any */
	struct link      link;   /* under the lock: in the queue */
	bool             queued; /* under the lock: has not begun */
	sennit_event     done;
	int              err;   /* handed by event.set */
	struct addrinfo *found; /* handed by event.set */
	struct addrinfo *asked; /* fixed: &hints or NULL */
	struct addrinfo  hints; /* fixed */
	const char      *host;  /* fixed: in text, or NULL */
	const char      *service;
	char             text[];
};

/* --- what getaddrinfo() says -------------------------------------------- */

static int errno_of(int eai)
{
	static const struct {
		int eai, err;
	} table[] = {
		{ 0, 0 },
		{ EAI_NONAME, ENOENT },
		{ EAI_NODATA, ENODATA },
		{ EAI_ADDRFAMILY, ENODATA },
		{ EAI_AGAIN, EAGAIN },
		{ EAI_FAIL, EREMOTEIO },
		{ EAI_SERVICE, EPROTONOSUPPORT },
		{ EAI_SOCKTYPE, ESOCKTNOSUPPORT },
		{ EAI_FAMILY, EAFNOSUPPORT },
		{ EAI_BADFLAGS, EINVAL },
		{ EAI_OVERFLOW, EOVERFLOW },
		{ EAI_MEMORY, ENOMEM },
	};

	if (eai == EAI_SYSTEM)
		return errno ? -errno : -EIO;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].eai == eai)
			return -table[i].err;
	return -EIO;
}

/* Without files and servers. */
static int look_up_numeric(const char *host, const char *service,
			   const struct addrinfo *hints, struct addrinfo **out)
{
	/* What libc takes for no hints. */
	struct addrinfo numeric = { .ai_flags = AI_V4MAPPED | AI_ADDRCONFIG };

	if (hints)
		numeric = *hints;
	numeric.ai_flags |= AI_NUMERICHOST | AI_NUMERICSERV;
	return errno_of(getaddrinfo(host, service, &numeric, out));
}

/* --- the record --------------------------------------------------------- */

static const char *copy_text(char **to, const char *from)
{
	char  *copy = *to;
	size_t size = from ? strlen(from) + 1 : 0;

	if (!from)
		return NULL;
	*to += size;
	return memcpy(copy, from, size);
}

static struct lookup *make(const char *host, const char *service,
			   const struct addrinfo *hints)
{
	size_t size = sizeof(struct lookup) + (host ? strlen(host) + 1 : 0) +
		      (service ? strlen(service) + 1 : 0);
	struct lookup *l = calloc(1, size);
	char          *text;

	if (!l)
		return NULL;
	a_init(&l->owners, 2);
	if (hints) {
		l->hints.ai_flags = hints->ai_flags;
		l->hints.ai_family = hints->ai_family;
		l->hints.ai_socktype = hints->ai_socktype;
		l->hints.ai_protocol = hints->ai_protocol;
		l->asked = &l->hints;
	}
	text = l->text;
	l->host = copy_text(&text, host);
	l->service = copy_text(&text, service);
	return l;
}

static void release(struct lookup *l)
{
	/* -> resolve.owners <- resolve.owners */
	if (a_sub_acqrel(&l->owners, 1) > 1)
		return;
	if (l->found)
		freeaddrinfo(l->found);
	free(l);
}

/* --- who looks up ------------------------------------------------------- */

/* In the whole process: as many lookups as run at a time. */
#define MOST_THREADS TORTURED(2u, 64u)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct link    *queued;  /* under the lock: not begun, oldest first */
static unsigned        threads; /* under the lock */

/* The child of a fork has none of the threads, one of which may have had the
 * lock. */
static void in_child(void)
{
	pthread_mutex_init(&lock, NULL);
	queued = NULL;
	threads = 0;
}

static void watch_forks(void)
{
	(void)pthread_atfork(NULL, NULL, in_child);
}

/* Returns whether another thread must be started, which then counts. */
static bool queue(struct lookup *l)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	bool                  start;

	pthread_once(&once, watch_forks);
	pthread_mutex_lock(&lock);
	sn_link_join(&queued, &l->link);
	l->queued = true;
	start = threads < MOST_THREADS;
	threads += start;
	pthread_mutex_unlock(&lock);
	return start;
}

/* NULL: there is none, and the calling thread does not count any more. */
static struct lookup *take(void)
{
	struct lookup *l = NULL;

	pthread_mutex_lock(&lock);
	if (queued) {
		l = container_of(queued, struct lookup, link);
		sn_link_leave(&queued, &l->link);
		l->queued = false;
	} else {
		threads--;
	}
	pthread_mutex_unlock(&lock);
	return l;
}

/* Nobody waits for it: it need not begin. */
static void give_up(struct lookup *l)
{
	bool was_queued;

	pthread_mutex_lock(&lock);
	was_queued = l->queued;
	if (was_queued)
		sn_link_leave(&queued, &l->link);
	l->queued = false;
	pthread_mutex_unlock(&lock);
	if (was_queued)
		release(l);
}

static void look_up(struct lookup *l)
{
	errno = 0;
	l->err =
		errno_of(getaddrinfo(l->host, l->service, l->asked, &l->found));
	sennit_event_set(&l->done);
	release(l);
}

static void *look_up_all(void *unused)
{
	struct lookup *l;

	while ((l = take()))
		look_up(l);
	return unused;
}

/* A thread that nobody joins, and that handles no signals. */
static int start_thread(void)
{
	pthread_attr_t attr;
	pthread_t      thread;
	sigset_t       all, before;
	int            err = pthread_attr_init(&attr);

	if (err)
		return -err;
	sigfillset(&all);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, &attr, look_up_all, NULL);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attr);
	return -err;
}

/* Whether nobody else will look it up: no thread was to be had. */
static bool is_alone(void)
{
	bool alone;

	pthread_mutex_lock(&lock);
	alone = threads == 1;
	threads -= !alone;
	pthread_mutex_unlock(&lock);
	return alone;
}

/* A thread that would wait for the lookup alone looks up in place. */
static void start(struct lookup *l, sennit_time deadline)
{
	if (IO_SIMULATED ||
	    (!sennit_current() && deadline >= SENNIT_UNCANCELLED))
		look_up(l);
	else if (queue(l) && start_thread() && is_alone())
		(void)sennit_blocking_call(look_up_all, NULL);
}

/* --- the caller --------------------------------------------------------- */

static int await(struct lookup *l, struct addrinfo **result,
		 sennit_time deadline)
{
	int err = sennit_event_wait_until(&l->done, deadline);

	if (err && !sennit_event_is_set(&l->done)) {
		give_up(l);
		return err;
	}
	if (!l->err) {
		*result = l->found;
		l->found = NULL;
	}
	return l->err;
}

int sennit_resolve(const char *host, const char *service,
		   const struct addrinfo *hints, struct addrinfo **result,
		   sennit_time deadline)
{
	struct lookup *l;
	int            err;

	if (!look_up_numeric(host, service, hints, result))
		return 0;
	if (!deadline)
		return -ETIMEDOUT;
	l = make(host, service, hints);
	if (!l)
		return -ENOMEM;
	start(l, deadline);
	err = await(l, result, deadline);
	release(l);
	return err;
}

/* --- connect host --------------------------------------------------------- */

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

/* The families take_winner turns, as long as both have addresses left. */
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
static int take_winner(struct race *r, int winner)
{
	int fd = r->fds[winner].fd;
	int flags = fcntl(fd, F_GETFL);

	(void)fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
	r->fds[winner] = r->fds[--r->count];
	return fd;
}

/* The simulated network has connections by its own calls alone: one address
 * after the other. */
static int connect_simulated(const struct addrinfo *all, sennit_time deadline)
{
	int err = -ENOENT;

	for (const struct addrinfo *a = all; a; a = a->ai_next) {
		int fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC,
				a->ai_protocol);

		err = fd < 0 ? -errno
			     : sennit_connect(fd, a->ai_addr, a->ai_addrlen,
					      deadline);
		if (!err)
			return fd;
		if (fd >= 0)
			sennit_close(fd);
	}
	return err;
}

static int connect_any(const struct addrinfo *all, sennit_time deadline)
{
	struct race r;
	int         fd;

	if (IO_SIMULATED)
		return connect_simulated(all, deadline);
	begin_race(&r, all);
	fd = run(&r, deadline);
	if (fd >= 0)
		fd = take_winner(&r, fd);
	while (r.count)
		drop(&r, 0);
	return fd;
}

int sennit_connect_host(const char *host, const char *service,
			sennit_time deadline)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo      *all;
	int fd = sennit_resolve(host, service, &hints, &all, deadline);

	if (fd)
		return fd;
	fd = connect_any(all, deadline);
	freeaddrinfo(all);
	return fd;
}
