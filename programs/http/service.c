/* SPDX-License-Identifier: Apache-2.0 */
#include "http/service.h"

#include <sennit/address.h>
#include <sennit/io.h>
#include <sennit/listen.h>
#include <sennit/signals.h>
#include <sennit/socket_option.h>

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* --- connections -------------------------------------------------------- */

/* Wait for the connection's turn. A stop cancels that wait, and the connection
 * is still served, because all connections end by the stop's deadline. */
static void take_turn(struct http_service *v, struct http_user *user)
{
	if (http_supply_take(&v->turns, user, HTTP_TURN, SENNIT_NEVER))
		(void)!http_supply_take(&v->turns, user, HTTP_TURN,
					SENNIT_UNCANCELLED);
	atomic_fetch_add(&v->connections, 1);
}

/* Send answers without waiting for the client to acknowledge the previous
 * one. */
static void send_at_once(int fd)
{
	(void)!sennit_socket_set(fd, SENNIT_SOCKET_NO_DELAY, 1);
}

static void serve(void *service, int fd)
{
	struct http_service *v = service;
	struct http_user     user;
	struct http_stream   s = { .fd = fd, .stop = &v->stop, .user = &user };
	union {
		struct sockaddr     any;
		struct sockaddr_in6 six;
	} peer = { .any = { .sa_family = AF_UNSPEC } };
	socklen_t size = sizeof(peer);

	atomic_fetch_add(&v->accepted, 1);
	if (fd >= v->users.scarce && http_user_is_reset(fd)) {
		sennit_close(fd);
		return;
	}
	(void)getpeername(fd, &peer.any, &size);
	http_user_enter(&v->users, &user, fd, &peer.any);
	if (fd >= v->users.scarce) /* connections in progress need some
				    * descriptors */
		(void)!http_users_wait(&v->users, SENNIT_NEVER);
	take_turn(v, &user);
	if (http_user_begin(&user)) {
		send_at_once(fd);
		v->serve(&s, &peer.any, v->context);
	}
	atomic_fetch_sub(&v->connections, 1);
	http_supply_give(&user, HTTP_TURN);
	http_user_leave(&user);
}

/* --- the stop ----------------------------------------------------------- */

bool http_service_ending(const struct http_service *v)
{
	return atomic_load_explicit(&v->ending, memory_order_relaxed);
}

/* The next process answers health checks, so this one does not announce that it
 * ends. */
static int hand_over(void *service)
{
	struct http_service *v = service;

	if (!http_listener_hand_over(&v->listener)) {
		atomic_store(&v->handed_over, true);
		(void)kill(getpid(), SIGTERM);
	}
	return 0;
}

static void wait_for_end(struct http_service *v)
{
	(void)!sennit_signals_wait(v->signals, NULL, SENNIT_NEVER);
	atomic_store(&v->ending, true);
	if (v->drain && !atomic_load(&v->handed_over))
		(void)!sennit_signals_wait(v->signals, NULL,
					   sennit_after(v->drain));
}

static int end_at_second_signal(void *argument)
{
	struct http_service *v = argument;
	int                  left = atomic_load(&v->handed_over) ? 2 : 1;

	/* the first signal may be the process's own: see hand_over */
	while (left && sennit_signals_wait(v->signals, NULL, SENNIT_NEVER) > 0)
		left--;
	if (!left)
		_exit(1);
	return 0;
}

/* A second after the patience, close the connections that are left, which ends
 * their fibers. */
static int end_late(void *argument)
{
	struct http_service *v = argument;

	if (!sennit_sleep_until(v->stop.until + SENNIT_SECOND))
		http_users_end_all(&v->users);
	return 0;
}

static void end_at_last(int unused)
{
	(void)unused;
	_exit(1);
}

/* End the process two to three seconds after the patience, even if a worker
 * does not end: with a signal, which needs no thread that responds. */
static void set_alarm(const struct http_service *v)
{
	const uint64_t seconds = v->stop_patience / SENNIT_SECOND + 3;

	signal(SIGALRM, end_at_last);
	(void)alarm(seconds < UINT32_MAX ? (unsigned)seconds : UINT32_MAX);
}

static void stop(struct http_service *v)
{
	sennit_group impatience;

	/* Connections accepted so far are served. */
	sennit_group_cancel(&v->acceptors);
	sennit_group_wait(&v->acceptors);
	http_listener_close(&v->listener);
	v->stop.until = sennit_after(v->stop_patience);
	set_alarm(v);
	v->stop.idle_grace = v->idle_grace;
	atomic_store_explicit(&v->stop.begun, true, memory_order_release);
	sennit_group_cancel(&v->fibers);
	sennit_group_init(&impatience, SENNIT_NEVER, 0);
	/* here, where there is a poller for certain */
	(void)!sennit_group_spawn_task(
		&impatience,
		SENNIT_MEMBER(.run = end_at_second_signal, .argument = v,
			      .flags = SENNIT_MEMBER_SAME_THREAD));
	(void)!sennit_group_spawn(&impatience, end_late, v);
	sennit_group_wait(&v->fibers);
	sennit_group_cancel(&impatience);
	sennit_group_wait(&impatience);
	v->overran = sennit_now() >= v->stop.until;
}

/* Start accepting. Returns 0, or -1 after a message. */
static int begin(struct http_service *v)
{
	int err = sennit_listen_each(v->listener.fd, &v->acceptors, &v->fibers,
				     serve, v);

	if (!err)
		err = sennit_group_spawn(&v->acceptors, http_users_usher,
					 &v->users);
	if (!err && http_listener_begin(&v->listener))
		return -1;
	if (!err && v->hand_over)
		err = sennit_group_spawn(&v->acceptors, hand_over, v);
	if (err)
		fprintf(stderr, "%s: %s\n", v->name, sennit_strerror(err));
	return err ? -1 : 0;
}

/* Have this worker get the descriptors of its poller, before clients use up
 * all. Without them it would not notice the signal that stops the service.
 * Returns 0, or -1 after a message. */
static int get_poller(struct http_service *v)
{
	const int got = sennit_signals_wait(v->signals, NULL, sennit_after(1));

	if (got > 0) /* for wait_for_end() */
		(void)kill(getpid(), got);
	if (got > 0 || got == -ETIMEDOUT)
		return 0;
	fprintf(stderr, "%s: %s\n", v->name, sennit_strerror(got));
	return -1;
}

static void run(void *argument)
{
	struct http_service *v = argument;

	sennit_group_init(&v->acceptors, SENNIT_NEVER, 0);
	sennit_group_init(&v->fibers, SENNIT_NEVER, SENNIT_GROUP_KEEP_GOING);
	v->status = get_poller(v) || begin(v) ? 1 : 0;
	if (!v->status) {
		if (v->started)
			v->started(v->context);
		wait_for_end(v);
	}
	stop(v);
	if (v->stopped)
		v->stopped(v->context);
}

/* --- the start ---------------------------------------------------------- */

static int open_signals(struct http_service *v)
{
	sigset_t signals;

	signal(SIGPIPE, SIG_IGN); /* OpenSSL uses write() */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	return sennit_signals_open(&v->signals, &signals);
}

/* Raise the limit of descriptors to the maximum of the process. The last eighth
 * is reserved for files, and for new connections while the rest is in use. */
static void raise_limit(struct http_service *v)
{
	struct rlimit limit;

	v->users.scarce = INT_MAX;
	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < INT_MAX)
		v->users.scarce = (int)(limit.rlim_cur - limit.rlim_cur / 8);
}

#define OF_WORKER 4 /* descriptors of its poller */
#define OF_WAIT   1 /* one more while the peer has shut down sending */

/* Return how many connections can be served at once, so that each of them has
 * enough descriptors. 0: there are not enough for one. */
static uint32_t count_turns(const struct http_service *v)
{
	const long workers = v->workers ? (long)v->workers
					: sysconf(_SC_NPROCESSORS_ONLN);
	const int  next = dup(v->listener.fd);
	const long left = v->users.scarce - next - OF_WORKER * workers;
	const long most = left / (long)(v->descriptors + OF_WAIT);

	if (next >= 0)
		(void)close(next);
	if (next < 0 || most < 1)
		return 0;
	return most < v->max_connections ? (uint32_t)most : v->max_connections;
}

static int run_scheduler(struct http_service *v)
{
	const sennit_task task = { .run = run, .argument = v };
	sennit_scheduler *s;
	int               err = sennit_scheduler_create(
			      &s, SENNIT_CONFIG(.workers = v->workers,
						.stack_size = v->stack_size));

	if (err)
		return err;
	v->since = sennit_now();
	err = sennit_schedule_task_on(s, &task);
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) || err ? -ENOMEM : 0;
}

static int serve_all(struct http_service *v)
{
	int err;

	http_supply_open(&v->turns, v->max_connections);
	http_users_open(&v->users);
	err = run_scheduler(v);
	http_users_close(&v->users);
	http_supply_close(&v->turns);
	return err;
}

int http_service_run(struct http_service *v)
{
	int err = open_signals(v);

	raise_limit(v);
	if (!err) {
		v->status = http_listener_open(&v->listener, v->address,
					       v->hand_over)
				    ? 1
				    : 0;
		if (!v->status) {
			(void)!sennit_local_address(v->listener.fd, v->name,
						    sizeof(v->name));
			v->max_connections = count_turns(v);
			err = v->max_connections ? serve_all(v) : -EMFILE;
		}
		sennit_signals_close(v->signals);
	}
	if (err)
		fprintf(stderr, "%s: %s\n", v->address, sennit_strerror(err));
	return err ? 1 : v->status;
}
