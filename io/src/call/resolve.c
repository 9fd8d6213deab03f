/* SPDX-License-Identifier: Apache-2.0 */
/* resolve.c - getaddrinfo() on threads of the library, with a limit for the
 * whole process. A thread ends when nothing is left to look up. How long
 * getaddrinfo() waits depends on the servers, and it cannot be cancelled. So it
 * does not run on the threads of blocking calls, which other calls need, and
 * the end of a scheduler does not wait for it.
 */
#include "base/atomic.h"
#include "base/list.h"
#include "base/masked_thread.h"
#include "base/torture.h"
#include "simulated/network.h"
#include "sennit/blocking.h"
#include "sennit/event.h"
#include "sennit/io.h"
#include "sennit/net.h"
#include "sennit/resolve.h"
#include "sennit/scheduler.h"
#include "sennit/socket_option.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A lookup. Its caller and the thread that looks up each have a reference, and
 * the last one frees it. So the caller may return at any time. */
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

/* --- errors of getaddrinfo() -------------------------------------------- */

static int errno_of_eai(int eai)
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

/* Convert numeric addresses, without reading files or asking servers. */
static int look_up_numeric(const char *host, const char *service,
			   const struct addrinfo *hints, struct addrinfo **out)
{
	/* The defaults of libc without hints. */
	struct addrinfo numeric = { .ai_flags = AI_V4MAPPED | AI_ADDRCONFIG };

	if (hints)
		numeric = *hints;
	numeric.ai_flags |= AI_NUMERICHOST | AI_NUMERICSERV;
	return errno_of_eai(getaddrinfo(host, service, &numeric, out));
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

static struct lookup *make_lookup(const char *host, const char *service,
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

static void release_lookup(struct lookup *l)
{
	/* -> resolve.owners <- resolve.owners */
	if (a_sub_acqrel(&l->owners, 1) > 1)
		return;
	if (l->found)
		freeaddrinfo(l->found);
	free(l);
}

/* --- threads ------------------------------------------------------------ */

/* The most threads in the process, and so the most lookups at a time. */
#define MOST_THREADS TORTURED(2u, 64u)

static pthread_mutex_t lookup_lock = PTHREAD_MUTEX_INITIALIZER;
static struct link    *queued; /* under the lock: not begun, oldest first */
static unsigned        lookup_threads; /* under the lock */

/* In the child of a fork there are no such threads. One of them may have held
 * the lock during the fork. */
static void reset_lookups_after_fork(void)
{
	pthread_mutex_init(&lookup_lock, NULL);
	queued = NULL;
	lookup_threads = 0;
}

static void register_fork_handler(void)
{
	(void)pthread_atfork(NULL, NULL, reset_lookups_after_fork);
}

/* Enqueue a lookup. Returns whether the caller must start a thread; the thread
 * is then already counted. */
static bool enqueue_lookup(struct lookup *l)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	bool                  start;

	pthread_once(&once, register_fork_handler);
	pthread_mutex_lock(&lookup_lock);
	sn_link_join(&queued, &l->link);
	l->queued = true;
	start = lookup_threads < MOST_THREADS;
	lookup_threads += start;
	pthread_mutex_unlock(&lookup_lock);
	return start;
}

/* Dequeue a lookup. If there is none, returns NULL, and the calling thread is
 * no longer counted. */
static struct lookup *dequeue_lookup(void)
{
	struct lookup *l = NULL;

	pthread_mutex_lock(&lookup_lock);
	if (queued) {
		l = container_of(queued, struct lookup, link);
		sn_link_leave(&queued, &l->link);
		l->queued = false;
	} else {
		lookup_threads--;
	}
	pthread_mutex_unlock(&lookup_lock);
	return l;
}

/* The caller no longer waits: if the lookup has not begun, cancel it. */
static void cancel_queued_lookup(struct lookup *l)
{
	bool was_queued;

	pthread_mutex_lock(&lookup_lock);
	was_queued = l->queued;
	if (was_queued)
		sn_link_leave(&queued, &l->link);
	l->queued = false;
	pthread_mutex_unlock(&lookup_lock);
	if (was_queued)
		release_lookup(l);
}

static void run_lookup(struct lookup *l)
{
	errno = 0;
	l->err = errno_of_eai(
		getaddrinfo(l->host, l->service, l->asked, &l->found));
	sennit_event_set(&l->done);
	release_lookup(l);
}

static void *run_queued_lookups(void *unused)
{
	struct lookup *l;

	while ((l = dequeue_lookup()))
		run_lookup(l);
	return unused;
}

/* Start a detached thread that blocks all signals. */
static int start_lookup_thread(void)
{
	pthread_attr_t attr;
	pthread_t      thread;
	int            err = pthread_attr_init(&attr);

	if (err)
		return -err;
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = sn_masked_thread_start(&thread, &attr, run_queued_lookups, NULL);
	(void)pthread_attr_destroy(&attr);
	return err;
}

/* No thread could be started. Returns whether no other thread is running
 * either, so that the caller must look up itself. Otherwise the thread that was
 * not started is no longer counted. */
static bool is_only_lookup_thread(void)
{
	bool alone;

	pthread_mutex_lock(&lookup_lock);
	alone = lookup_threads == 1;
	lookup_threads -= !alone;
	pthread_mutex_unlock(&lookup_lock);
	return alone;
}

/* An unbound thread without a deadline looks up in place. */
static void start_lookup(struct lookup *l, sennit_time deadline)
{
	if (IO_SIMULATED ||
	    (!sennit_scheduler_current() && deadline >= SENNIT_UNCANCELLED))
		run_lookup(l);
	else if (enqueue_lookup(l) && start_lookup_thread() &&
		 is_only_lookup_thread())
		(void)sennit_blocking_call(run_queued_lookups, NULL);
}

/* --- the caller --------------------------------------------------------- */

static int await_lookup(struct lookup *l, struct addrinfo **result,
			sennit_time deadline)
{
	int err = sennit_event_wait_until(&l->done, deadline);

	if (err && !sennit_event_is_set(&l->done)) {
		cancel_queued_lookup(l);
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
	l = make_lookup(host, service, hints);
	if (!l)
		return -ENOMEM;
	start_lookup(l, deadline);
	err = await_lookup(l, result, deadline);
	release_lookup(l);
	return err;
}

/* --- connecting to a host ------------------------------------------------- */

/* RFC 8305, 5: the delay between two attempts. */
#define STAGGER (250 * SENNIT_MILLISECOND)

/* The most attempts at a time. A further one replaces the oldest. */
#define ATTEMPTS 8

struct race {
	const struct addrinfo *next[2]; /* not yet tried: of the first address's
					 * family, and of the others */
	int                    first;   /* the family of the first address */
	int                    turn;    /* index in `next` of the next one */
	struct pollfd          fds[ATTEMPTS]; /* the attempts, oldest first */
	unsigned               count;
	sennit_time            again; /* when the next attempt begins */
	int                    err;   /* of the last attempt that failed */
};

/* --- the order of addresses --------------------------------------------- */

static const struct addrinfo *skip_other_family(const struct race     *r,
						const struct addrinfo *a,
						bool                   others)
{
	while (a && (a->ai_family != r->first) != others)
		a = a->ai_next;
	return a;
}

static void begin_race(struct race *r, const struct addrinfo *all)
{
	*r = (struct race){ .first = all->ai_family, .err = -ENOENT };
	r->next[0] = all;
	r->next[1] = skip_other_family(r, all, true);
}

static bool has_more(const struct race *r)
{
	return r->next[0] || r->next[1];
}

/* Return the next address. The families alternate as long as both have
 * addresses. */
static const struct addrinfo *next_address(struct race *r)
{
	const struct addrinfo *a;

	if (!r->next[r->turn])
		r->turn = !r->turn;
	a = r->next[r->turn];
	r->next[r->turn] = skip_other_family(r, a->ai_next, r->turn);
	r->turn = !r->turn;
	return a;
}

/* --- attempts ----------------------------------------------------------- */

static void close_attempt(struct race *r, unsigned i)
{
	close(r->fds[i].fd);
	r->count--;
	for (; i < r->count; i++)
		r->fds[i] = r->fds[i + 1];
}

static void note_failed_attempt(struct race *r, int err)
{
	r->err = err;
	r->again = 0;
}

/* Begin the next attempt. Returns whether it has succeeded at once. It is then
 * the last one in fds. */
static bool begin_next_attempt(struct race *r)
{
	const struct addrinfo *a = next_address(r);
	int                    fd;

	if (r->count == ATTEMPTS)
		close_attempt(r, 0);
	fd = socket(a->ai_family, a->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC,
		    a->ai_protocol);
	if (fd < 0) {
		note_failed_attempt(r, -errno);
		return false;
	}
	r->fds[r->count++] = (struct pollfd){ .fd = fd, .events = POLLOUT };
	r->again = sennit_after(STAGGER);
	if (!connect(fd, a->ai_addr, a->ai_addrlen))
		return true;
	if (errno != EINPROGRESS) {
		note_failed_attempt(r, -errno);
		close_attempt(r, r->count - 1);
	}
	return false;
}

/* Check attempt i, which has events. Returns whether it has succeeded. If not,
 * it is removed. */
static bool check_attempt(struct race *r, unsigned i)
{
	int       err = 0;
	socklen_t size = sizeof(err);

	if (getsockopt(r->fds[i].fd, SOL_SOCKET, SO_ERROR, &err, &size))
		err = errno;
	if (!err)
		return true;
	note_failed_attempt(r, -err);
	close_attempt(r, i);
	return false;
}

/* Return the attempt that has succeeded; -1: none yet. */
static int find_winner(struct race *r)
{
	for (unsigned i = r->count; i-- > 0;)
		if (r->fds[i].revents && check_attempt(r, i))
			return (int)i;
	return -1;
}

/* Wait until attempts have events or the next one should begin. Returns 0, or a
 * negative errno that ends the race. */
static int wait_for_attempts(struct race *r, sennit_time deadline)
{
	sennit_time until = has_more(r) && r->again < deadline ? r->again
							       : deadline;
	int         n = sennit_poll_many(r->fds, r->count, until);

	if (n == -ETIMEDOUT && until != deadline)
		return 0;
	return n < 0 ? n : 0;
}

/* Attempts that have begun are checked before the next one begins. */
static int run_race(struct race *r, sennit_time deadline)
{
	while (r->count || has_more(r)) {
		int winner, err;

		if (has_more(r) && (!r->count || sennit_now() >= r->again) &&
		    begin_next_attempt(r))
			return (int)r->count - 1;
		if (!r->count)
			continue;
		err = wait_for_attempts(r, deadline);
		winner = err ? err : find_winner(r);
		if (err || winner >= 0)
			return winner;
	}
	return r->err;
}

/* Remove the successful attempt from the race and return its descriptor:
 * without O_NONBLOCK, as socket() returns it, and with TCP_NODELAY. */
static int finish_winner(struct race *r, int winner)
{
	int fd = r->fds[winner].fd;
	int flags = fcntl(fd, F_GETFL);

	(void)fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
	(void)!sennit_socket_set(fd, SENNIT_SOCKET_NO_DELAY, 1);
	r->fds[winner] = r->fds[--r->count];
	return fd;
}

/* The simulated network supports only its own connect calls, so the addresses
 * are tried one after the other. */
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
	fd = run_race(&r, deadline);
	if (fd >= 0)
		fd = finish_winner(&r, fd);
	while (r.count)
		close_attempt(&r, 0);
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
