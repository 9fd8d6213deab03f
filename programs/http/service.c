/* SPDX-License-Identifier: Apache-2.0 */
#include "http/service.h"

#include <sennit/address.h>
#include <sennit/io.h>
#include <sennit/listen.h>
#include <sennit/signals.h>

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* --- connections -------------------------------------------------------- */

/* Wait for the connection's turn. A stop cancels that wait, and the connection
 * is served all the same, as all others end by the stop's deadline. */
static void take_turn(struct http_service *v)
{
	if (sennit_semaphore_take(&v->free_, 1))
		(void)!sennit_semaphore_take_until(&v->free_, 1,
						   SENNIT_UNCANCELLED);
	atomic_fetch_add(&v->connections, 1);
}

/* No answer waits for the client to acknowledge the one before. */
static void send_at_once(int fd)
{
	const int one = 1;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

static void serve(int fd, void *service)
{
	struct http_service *v = service;
	struct http_stream   s = { .fd = fd, .stop = &v->stop };
	union {
		struct sockaddr     any;
		struct sockaddr_in6 six;
	} peer = { .any = { .sa_family = AF_UNSPEC } };
	socklen_t size = sizeof(peer);

	atomic_fetch_add(&v->accepted, 1);
	take_turn(v);
	send_at_once(fd);
	if (v->wants_peer)
		(void)getpeername(fd, &peer.any, &size);
	v->serve(&s, &peer.any, v->context);
	atomic_fetch_sub(&v->connections, 1);
	sennit_semaphore_give(&v->free_, 1);
}

/* --- the stop ----------------------------------------------------------- */

bool http_service_ending(const struct http_service *v)
{
	return atomic_load_explicit(&v->ending, memory_order_relaxed);
}

/* The next process answers that all is well: so this one need not say that it
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
	(void)!sennit_signals_wait(&v->signals, NULL, SENNIT_NEVER);
	atomic_store(&v->ending, true);
	if (v->drain && !atomic_load(&v->handed_over))
		(void)!sennit_signals_wait(&v->signals, NULL,
					   sennit_after(v->drain));
}

static int end_at_second_signal(void *argument)
{
	struct http_service *v = argument;
	int                  left = atomic_load(&v->handed_over) ? 2 : 1;

	/* The first one may have been its own: see hand_over. */
	while (left && sennit_signals_wait(&v->signals, NULL, SENNIT_NEVER) > 0)
		left--;
	if (!left)
		_exit(1);
	return 0;
}

static void stop(struct http_service *v)
{
	sennit_group impatience;

	/* What has connected by now is served. */
	sennit_group_cancel(&v->acceptors);
	sennit_group_wait(&v->acceptors);
	http_listener_close(&v->listener);
	v->stop.until = sennit_after(v->stop_patience);
	v->stop.idle_grace = v->idle_grace;
	atomic_store_explicit(&v->stop.begun, true, memory_order_release);
	sennit_group_cancel(&v->fibers);
	sennit_group_init(&impatience, SENNIT_NEVER, 0);
	(void)!sennit_group_spawn(&impatience, end_at_second_signal, v);
	sennit_group_wait(&v->fibers);
	sennit_group_cancel(&impatience);
	sennit_group_wait(&impatience);
	v->overran = sennit_now() >= v->stop.until;
}

/* Returns 0, or -1 after a message. */
static int begin(struct http_service *v)
{
	int err = sennit_listen_each(v->listener.fd, &v->acceptors, &v->fibers,
				     serve, v);

	if (!err && http_listener_begin(&v->listener))
		return -1;
	if (!err && v->hand_over)
		err = sennit_group_spawn(&v->acceptors, hand_over, v);
	if (err)
		fprintf(stderr, "%s: %s\n", v->name, sennit_strerror(err));
	return err ? -1 : 0;
}

static void run(void *argument)
{
	struct http_service *v = argument;

	sennit_group_init(&v->acceptors, SENNIT_NEVER, 0);
	sennit_group_init(&v->fibers, SENNIT_NEVER, SENNIT_GROUP_KEEP_GOING);
	v->status = begin(v) ? 1 : 0;
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

	signal(SIGPIPE, SIG_IGN); /* OpenSSL writes by write() */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	return sennit_signals_open(&v->signals, &signals);
}

/* As many descriptors as the process may have. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
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
	err = sennit_schedule_on(s, &task);
	return sennit_scheduler_shutdown(s, SENNIT_NEVER) || err ? -ENOMEM : 0;
}

int http_service_run(struct http_service *v)
{
	int err = open_signals(v);

	raise_limit();
	if (!err) {
		v->status = http_listener_open(&v->listener, v->address,
					       v->hand_over)
				    ? 1
				    : 0;
		if (!v->status) {
			(void)!sennit_local_address(v->listener.fd, v->name,
						    sizeof(v->name));
			sennit_semaphore_init(&v->free_, v->max_connections);
			err = run_scheduler(v);
			sennit_semaphore_destroy(&v->free_);
		}
		sennit_signals_close(&v->signals);
	}
	if (err)
		fprintf(stderr, "%s: %s\n", v->address, sennit_strerror(err));
	return err ? 1 : v->status;
}
