/* SPDX-License-Identifier: Apache-2.0 */
/* listen.c - listeners, and an acceptor on each worker.
 *
 * A task cannot be sent to a certain worker. So candidates are sent to the
 * workers in turn, from the thread of a blocking call. One that starts where
 * there is no acceptor becomes it. The others wait until all of their round
 * have started, and end: tasks that wait are shared out among workers
 * (worker/balance.h), while tasks that end at once would all be run by the
 * first worker awake. Where a worker has got none there is another round.
 *
 * Who looks after the acceptors sleeps until one of them, which has accepted,
 * finds that there are more workers: so it costs an idle server no wake-up.
 */
#include "sennit/listen.h"

#include "base/atomic.h"
#include "sennit/blocking.h"
#include "sennit/event.h"
#include "sennit/fiber.h"
#include "sennit/io.h"
#include "sennit/mutex.h"
#include "sennit/net.h"
#include "sennit/poller.h"
#include "sennit/scheduler.h"
#include "sennit/wait_group.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* --- one listener ------------------------------------------------------- */

static int set(int fd, int option)
{
	const int on = 1;

	return setsockopt(fd, SOL_SOCKET, option, &on, sizeof(on)) ? -errno : 0;
}

static int begin_listening(int fd, const struct sockaddr *address,
			   socklen_t size, int backlog, uint32_t flags)
{
	const bool is_unix = address->sa_family == AF_UNIX; /* has no ports */
	int        err = is_unix ? 0 : set(fd, SO_REUSEADDR);

	if (!err && !is_unix && (flags & SENNIT_LISTEN_SHARED))
		err = set(fd, SO_REUSEPORT);
	if (err)
		return err;
	if (bind(fd, address, size) ||
	    listen(fd, backlog > 0 ? backlog : SOMAXCONN))
		return -errno;
	return 0;
}

int sennit_listen(const struct sockaddr *address, socklen_t size, int backlog,
		  uint32_t flags)
{
	int fd, err;

	if (flags & ~SENNIT_LISTEN_SHARED || size < sizeof(address->sa_family))
		return -EINVAL;
	fd = socket(address->sa_family,
		    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	err = begin_listening(fd, address, size, backlog, flags);
	if (err)
		close(fd);
	return err ? err : fd;
}

/* --- acceptors ---------------------------------------------------------- */

/* What sennit_listen_each was asked for. */
struct order {
	int              fd;
	bool             shared; /* others may listen there, too */
	sennit_group    *connections;
	sennit_serve_fn *serve;
	void            *argument;
};

/* The workers that have an acceptor, in the frame of who looks after them. */
struct acceptors {
	struct order      order;
	sennit_group      group; /* of candidates and acceptors */
	sennit_mutex      mutex;
	uint32_t          count;
	a_u32             wanted;  /* who looks after them writes */
	a_u32             ended;   /* 1: an acceptor has; they write */
	sennit_event      more;    /* there are more workers, or `ended` */
	sennit_poller   **workers; /* known by their pollers */
	sennit_wait_group started; /* candidates of a round */
};

struct connection {
	sennit_serve_fn *serve;
	void            *argument;
	int              fd;
};

static int serve(void *argument)
{
	const struct connection *c = argument;

	c->serve(c->fd, c->argument);
	return 0;
}

static void begin(const struct order *o, int fd)
{
	const struct connection c = { o->serve, o->argument, fd };

	if (sennit_group_spawn_here(o->connections, serve, &c, sizeof(c)))
		close(fd);
}

/* How long to wait for descriptors or memory of the system's. */
#define RETRY (10 * SENNIT_MILLISECOND)

/* Whether the error passes, and some time has: false, too, once cancelled. */
static bool passes(int err)
{
	switch (err) {
	case -EMFILE:
	case -ENFILE:
	case -ENOBUFS:
	case -ENOMEM:
		return !sennit_sleep_until(sennit_after(RETRY));
	default:
		return false;
	}
}

/* Whether accept's error has to do with a connection, or passes. */
static bool goes_on(int err)
{
	switch (err) {
	case -ECONNABORTED:
	case -EPERM:
	case -EPROTO:
	case -ENETDOWN:
	case -ENOPROTOOPT:
	case -EHOSTDOWN:
	case -ENONET:
	case -EHOSTUNREACH:
	case -ENETUNREACH:
		return true;
	default:
		return passes(err);
	}
}

/* Connections that are taken at the end. */
#define LAST 1024

/* Workers that were removed and have an acceptor go on, and count. */
static void look_for_workers(struct acceptors *a)
{
	if (unlikely(sennit_scheduler_workers(sennit_current()) >
		     a_load_rlx(&a->wanted)))
		sennit_event_set(&a->more);
}

static int accept_all(struct acceptors *a, int listener)
{
	const struct order *o = &a->order;
	int                 fd;

	do {
		fd = sennit_accept(listener, NULL, NULL, SOCK_CLOEXEC,
				   SENNIT_NEVER);
		if (fd >= 0)
			begin(o, fd);
		look_for_workers(a);
	} while (fd >= 0 || goes_on(fd));
	if (fd != -ECANCELED && fd != -ETIMEDOUT && !sennit_cancelled())
		return fd;
	for (int i = 0; i < LAST; i++) {
		fd = sennit_accept(listener, NULL, NULL, SOCK_CLOEXEC, 0);
		if (fd < 0)
			break;
		begin(o, fd);
	}
	return 0;
}

/* A listener at the address of fd. The connections of acceptors that were
 * faster may have taken all descriptors: an error would end those, too. */
static int listen_beside(int fd)
{
	struct sockaddr_storage address;
	socklen_t               size = sizeof(address);
	struct sockaddr        *of_fd = (struct sockaddr *)&address;
	int                     listener;

	if (getsockname(fd, of_fd, &size))
		return -errno;
	do
		listener = sennit_listen(of_fd, size, 0, SENNIT_LISTEN_SHARED);
	while (passes(listener));
	return listener;
}

static int accept_elsewhere(struct acceptors *a)
{
	int listener, err;

	if (!a->order.shared)
		return accept_all(a, a->order.fd);
	listener = listen_beside(a->order.fd);
	if (listener < 0)
		return sennit_cancelled() ? 0 : listener;
	err = accept_all(a, listener);
	sennit_close(listener);
	return err;
}

/* --- candidates --------------------------------------------------------- */

/* The calling worker's place among those that have an acceptor; -1: it had one
 * already, or there are enough. */
static int claim(struct acceptors *a)
{
	sennit_poller *here = sennit_poller_current();
	int            place = -1;
	uint32_t       i = 0;

	sennit_mutex_lock(&a->mutex);
	while (i < a->count && a->workers[i] != here)
		i++;
	if (i == a->count && a->count < a_load_rlx(&a->wanted)) {
		a->workers[a->count++] = here;
		place = (int)i;
	}
	sennit_mutex_unlock(&a->mutex);
	return place;
}

/* A worker without a poller has never waited for I/O: see that it has one. */
static int candidate(void *argument)
{
	struct acceptors *a = argument;
	int               place = -1;
	int               err;

	if (sennit_io_backend())
		place = claim(a);
	sennit_wait_group_done(&a->started);
	if (place < 0) {
		sennit_wait_group_wait(&a->started);
		return 0;
	}
	err = place ? accept_elsewhere(a) : accept_all(a, a->order.fd);
	a_store_rlx(&a->ended, 1); /* the event orders it */
	sennit_event_set(&a->more);
	return err;
}

/* Of a round, for each worker. */
#define CANDIDATES 4

static void spawn_one(struct acceptors *a)
{
	sennit_wait_group_add(&a->started, 1);
	if (sennit_group_spawn(&a->group, candidate, a))
		sennit_wait_group_done(&a->started);
}

/* From an unbound thread, from which tasks go to the workers in turn. */
static void *spawn_for_each(void *argument)
{
	struct acceptors *a = argument;

	sennit_wait_group_add(&a->started, 1); /* until all are sent */
	for (uint32_t i = 0; i < CANDIDATES * a_load_rlx(&a->wanted); i++)
		spawn_one(a);
	sennit_wait_group_done(&a->started);
	return NULL;
}

static uint32_t count(struct acceptors *a)
{
	uint32_t n;

	sennit_mutex_lock(&a->mutex);
	n = a->count;
	sennit_mutex_unlock(&a->mutex);
	return n;
}

/* Between two rounds, as a worker without an acceptor is busy. */
#define FIRST_PAUSE SENNIT_MILLISECOND
#define LAST_PAUSE  SENNIT_SECOND

static void place_all(struct acceptors *a)
{
	const uint32_t wanted = a_load_rlx(&a->wanted);
	sennit_time    pause = FIRST_PAUSE;

	if (wanted == 1)
		spawn_one(a);
	else
		sennit_blocking_call(spawn_for_each, a);
	sennit_wait_group_wait(&a->started);
	while (count(a) < wanted && !a_load_rlx(&a->ended) &&
	       !sennit_sleep_until(sennit_after(pause))) {
		sennit_blocking_call(spawn_for_each, a);
		sennit_wait_group_wait(&a->started);
		if (pause < LAST_PAUSE)
			pause *= 2;
	}
}

/* Room for all workers that there are now. False: none was added, or there is
 * no memory, and the next connection comes here again. */
static bool make_room(struct acceptors *a)
{
	const uint32_t  now = sennit_scheduler_workers(sennit_current());
	sennit_poller **more;

	if (now <= a_load_rlx(&a->wanted))
		return false;
	sennit_mutex_lock(&a->mutex);
	more = realloc(a->workers, now * sizeof(*more));
	if (more) {
		a->workers = more;
		a_store_rlx(&a->wanted, now);
	}
	sennit_mutex_unlock(&a->mutex);
	return more;
}

static void place_more(struct acceptors *a)
{
	while (!a_load_rlx(&a->ended) &&
	       !sennit_event_wait_until(&a->more, SENNIT_NEVER))
		if (make_room(a))
			place_all(a);
}

static int look_after(void *argument)
{
	struct acceptors a = { .order = *(const struct order *)argument };
	uint32_t         workers = sennit_scheduler_workers(sennit_current());
	int              err;

	workers += !workers;
	a_init(&a.wanted, workers);
	a.workers = calloc(workers, sizeof(*a.workers));
	if (!a.workers)
		return -ENOMEM;
	sennit_event_init(&a.more, SENNIT_EVENT_AUTO, false);
	sennit_wait_group_init(&a.started, 0);
	sennit_group_init(&a.group, SENNIT_NEVER, 0);
	place_all(&a);
	place_more(&a);
	err = sennit_group_wait(&a.group);
	free(a.workers);
	return err == -ECANCELED ? 0 : err;
}

static int is_set(int fd, int option, bool *on)
{
	int       value = 0;
	socklen_t size = sizeof(value);

	if (getsockopt(fd, SOL_SOCKET, option, &value, &size))
		return -errno;
	*on = value;
	return 0;
}

int sennit_listen_each(int fd, sennit_group *acceptors,
		       sennit_group *connections, sennit_serve_fn *serve_one,
		       void *argument)
{
	struct order o = { .fd = fd,
			   .connections = connections,
			   .serve = serve_one,
			   .argument = argument };
	bool         listens = false;
	int          err = is_set(fd, SO_ACCEPTCONN, &listens);

	if (!err && !listens)
		err = -EINVAL;
	if (!err)
		err = is_set(fd, SO_REUSEPORT, &o.shared);
	if (err)
		return err;
	return sennit_group_spawn_copy(acceptors, look_after, &o, sizeof(o));
}
