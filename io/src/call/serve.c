/* SPDX-License-Identifier: Apache-2.0 */
/* serve.c - sennit/serve.h: acceptors, connections and what stops them.
 *
 *	door         the acceptors, and the wait for options.stop
 *	connections  a member for each
 *	watch        the wait for signals
 *
 * A signal is received by one signalfd, whichever reads it first, but must stop
 * each server that has it. So servers with signals are in a list, and the one
 * that receives a signal tells all of them.
 *
 * Invariants
 *   - A server is in the list only while its group of connections is open.
 *   - `draining` is set before the door ends. Under the lock, so a caller
 *     that finds it clear may cancel the door.
 */
#include "base/compiler.h"
#include "base/list.h"
#include "base/sized.h"
#include "call/retry.h"
#include "engine/request.h"
#include "sennit/io.h"
#include "sennit/mutex.h"
#include "sennit/scheduler.h"
#include "sennit/serve.h"
#include "sennit/signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* The size of the first release's options. */
#define OPTIONS_FIRST SIZE_THROUGH(sennit_serve_options, patience)
ENDS_WITH(sennit_serve_options, patience);

struct server {
	sennit_serve_options options; /* fixed */
	sennit_group         door, connections, watch;
	sennit_signals      *signals;  /* fixed; NULL: none */
	struct link          link;     /* under the lock: in `servers` */
	bool                 opened;   /* the caller's: fd can be served */
	bool                 listed;   /* likewise: it is in the list */
	bool                 begun;    /* under the lock: it accepts */
	bool                 told;     /* under the lock: a signal came */
	bool                 draining; /* under the lock: the door may end */
	int                  failed;   /* the watch's: it ended the serving */
	uint32_t             next;     /* the watch's: a worker to try */
};

/* A mutex of fibers: cancelling many waits takes long. */
static sennit_mutex servers_lock = SENNIT_MUTEX_INIT;
static struct link *servers; /* under the lock: those with signals */

/* --- signals -------------------------------------------------------------- */

/* In the child of a fork no server runs, and another thread may have held the
 * lock. */
static void forget_servers_after_fork(void)
{
	sennit_mutex_init(&servers_lock);
	servers = NULL;
}

static void watch_forks_of_servers(void)
{
	(void)pthread_atfork(NULL, NULL, forget_servers_after_fork);
}

/* Stop it, or stop it sooner. One that has not begun stops when it has. Lock
 * held. A cancel neither waits nor calls what is not the library's. */
static void tell_server(struct server *v)
{
	if (v->begun)
		(void)sennit_group_cancel(
			v->told || v->draining ? &v->connections : &v->door);
	v->told = true;
}

static void tell_servers(int number)
{
	struct link *l;

	sennit_mutex_lock(&servers_lock);
	for (l = servers; l; l = sn_link_after(l, servers)) {
		struct server *v = container_of(l, struct server, link);

		if (sigismember(v->options.signals, number) == 1)
			tell_server(v);
	}
	sennit_mutex_unlock(&servers_lock);
}

static void stop_without_signals(struct server *v, int err)
{
	sennit_mutex_lock(&servers_lock);
	if (!v->draining) {
		v->failed = err;
		(void)sennit_group_cancel(&v->door);
	}
	sennit_mutex_unlock(&servers_lock);
}

static int watch_server_signals(void *argument);

/* The worker has another library's poller: watch on the next one. Returns
 * -EBUSY if there is no other, or another negative errno value. */
static int watch_elsewhere(struct server *v)
{
	int err;

	do
		err = sennit_group_spawn_task(
			&v->watch,
			SENNIT_MEMBER(.run = watch_server_signals,
				      .argument = v,
				      .flags = SENNIT_MEMBER_ON_WORKER,
				      .worker = v->next++));
	while (err == -EAGAIN);
	return err == -ENOENT ? -EBUSY : err;
}

static int watch_server_signals(void *argument)
{
	struct server *v = argument;
	int            got;

	do {
		got = sennit_signals_wait(v->signals, NULL, SENNIT_NEVER);
		if (got > 0)
			tell_servers(got);
	} while (got > 0 || sn_wait_for_resources(got));
	if (got == -EBUSY)
		got = watch_elsewhere(v);
	if (got && !sennit_check_cancelled())
		stop_without_signals(v, got);
	return 0;
}

/* Signals that another server receives from now on stop this one, too. The
 * groups are open. */
static int open_signals(struct server *v)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (!v->options.signals)
		return 0;
	pthread_once(&once, watch_forks_of_servers);
	sennit_mutex_lock(&servers_lock);
	sn_link_join(&servers, &v->link);
	v->listed = true;
	sennit_mutex_unlock(&servers_lock);
	return sennit_signals_open(&v->signals, v->options.signals);
}

/* The door is open. */
static int begin_watch(struct server *v)
{
	if (!v->signals)
		return 0;
	sennit_mutex_lock(&servers_lock);
	v->begun = true;
	if (v->told)
		(void)sennit_group_cancel(&v->door);
	sennit_mutex_unlock(&servers_lock);
	return sennit_group_spawn(&v->watch, watch_server_signals, v);
}

/* No signal cancels a group of *v any more. */
static void end_watch(struct server *v)
{
	if (v->listed) {
		sennit_mutex_lock(&servers_lock);
		sn_link_leave(&servers, &v->link);
		sennit_mutex_unlock(&servers_lock);
	}
	(void)sennit_group_cancel(&v->watch);
	(void)sennit_group_wait(&v->watch);
}

/* --- serving -------------------------------------------------------------- */

/* A member of the door, which it keeps open meanwhile. */
static int await_stop(void *argument)
{
	struct server *v = argument;

	if (!sennit_event_wait(v->options.stop))
		(void)sennit_group_cancel(&v->door);
	return 0;
}

static int open_door(struct server *v, int fd, sennit_serve_fn *serve_one,
		     void *argument)
{
	int err = open_signals(v);

	if (err)
		return err;
	err = sennit_listen_each(fd, &v->door, &v->connections, serve_one,
				 argument);
	v->opened = !err || err == -ECANCELED;
	if (!err && v->options.stop)
		err = sennit_group_spawn(&v->door, await_stop, v);
	/* The listener may have failed, which has closed the door. */
	if (!err || err == -ECANCELED)
		err = begin_watch(v);
	return err == -ECANCELED ? 0 : err;
}

/* Accept until something stops the server. Returns an error of the listener, or
 * what the group around the caller says. */
static int keep_door(struct server *v)
{
	int err;

	/* Ends early if the caller's group does, and the door with it. */
	(void)!sennit_group_wait_until(&v->door, SENNIT_NEVER);
	sennit_mutex_lock(&servers_lock);
	v->draining = true;
	sennit_mutex_unlock(&servers_lock);
	err = sennit_group_wait(&v->door);
	return err && err != -ECANCELED ? err : sennit_check_cancelled();
}

/* Let the connections end. Returns 0 if they did by themselves. */
static int drain_connections(struct server *v)
{
	const sennit_time deadline = v->options.patience
					     ? sennit_after(v->options.patience)
					     : 0;
	int late = sennit_group_wait_until(&v->connections, deadline);

	if (!late) /* they may have ended because the caller's group did */
		late = sennit_check_cancelled();
	end_watch(v);
	if (!late && sennit_group_is_cancelled(&v->connections))
		late = -ECANCELED;
	if (late)
		(void)sennit_group_cancel(&v->connections);
	(void)sennit_group_wait(&v->connections);
	return late;
}

static void open_groups(struct server *v)
{
	sennit_group_init(&v->connections, SENNIT_NEVER,
			  SENNIT_GROUP_KEEP_GOING);
	sennit_group_init(&v->watch, SENNIT_NEVER, 0);
	sennit_group_init(&v->door, SENNIT_NEVER, 0);
}

static int serve_and_drain(struct server *v, int fd, sennit_serve_fn *serve_one,
			   void *argument)
{
	int err, stopped, drained;

	open_groups(v);
	err = open_door(v, fd, serve_one, argument);
	if (err)
		(void)sennit_group_cancel(&v->door);
	stopped = keep_door(v);
	(void)sennit_close(fd);
	if (v->opened && v->options.stopping)
		v->options.stopping(argument);
	drained = drain_connections(v);
	if (!err)
		err = v->failed ? v->failed : stopped;
	return err ? err : drained;
}

int sennit_serve(int fd, sennit_serve_fn *serve_one, void *argument,
		 const sennit_serve_options *options)
{
	struct server v = { .signals = NULL };
	int           err = 0;

	if (fd < 0)
		return fd;
	if (!sennit_scheduler_current())
		sn_io_misuse("sennit_serve",
			     "no scheduler is bound to this thread");
	if (options)
		err = sn_sized_read(&v.options, sizeof(v.options), options,
				    OPTIONS_FIRST);
	if (err) {
		(void)sennit_close(fd);
		return err;
	}
	err = serve_and_drain(&v, fd, serve_one, argument);
	sennit_signals_close(v.signals);
	return err;
}
