/* SPDX-License-Identifier: Apache-2.0 */
#include "http/service.h"

#include <sennit/address.h>
#include <sennit/io.h>
#include <sennit/listen.h>
#include <sennit/signals.h>

#include <errno.h>
#include <netdb.h>
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

static void wait_for_signal(struct http_service *v)
{
	(void)!sennit_signals_wait(&v->signals, NULL, SENNIT_NEVER);
}

static int end_at_second_signal(void *argument)
{
	struct http_service *v = argument;

	if (sennit_signals_wait(&v->signals, NULL, SENNIT_NEVER) > 0)
		_exit(1);
	return 0;
}

static void stop(struct http_service *v)
{
	sennit_group impatience;

	/* What has connected by now is served. */
	sennit_group_cancel(&v->acceptors);
	sennit_group_wait(&v->acceptors);
	sennit_close(v->listener);
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

static void run(void *argument)
{
	struct http_service *v = argument;

	sennit_group_init(&v->acceptors, SENNIT_NEVER, 0);
	sennit_group_init(&v->fibers, SENNIT_NEVER, SENNIT_GROUP_KEEP_GOING);
	v->status = sennit_listen_each(v->listener, &v->acceptors, &v->fibers,
				       serve, v)
			    ? 1
			    : 0;
	if (v->started)
		v->started(v->context);
	if (!v->status)
		wait_for_signal(v);
	stop(v);
	if (v->stopped)
		v->stopped(v->context);
}

/* --- the start ---------------------------------------------------------- */

int http_service_resolve(const char *name, bool passive,
			 struct sockaddr_storage *to)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
					.ai_flags = passive ? AI_PASSIVE : 0 };
	const char           *colon = strrchr(name, ':');
	struct addrinfo      *found;
	char                  host[256] = "";
	size_t                size = colon ? (size_t)(colon - name) : 0;
	int                   err;

	if (!colon || size >= sizeof(host)) {
		fprintf(stderr, "%s: not of the form host:port\n", name);
		return -1;
	}
	if (size >= 2 && name[0] == '[' && name[size - 1] == ']') {
		name++;
		size -= 2;
	}
	memcpy(host, name, size);
	err = getaddrinfo(size ? host : NULL, colon + 1, &hints, &found);
	if (err) {
		fprintf(stderr, "%s: %s\n", name, gai_strerror(err));
		return -1;
	}
	size = found->ai_addrlen;
	memcpy(to, found->ai_addr, size);
	freeaddrinfo(found);
	return (int)size;
}

static int open_listener(struct http_service *v)
{
	struct sockaddr_storage address;
	int size = http_service_resolve(v->address, true, &address);

	if (size < 0)
		return -EINVAL;
	v->listener = sennit_listen((struct sockaddr *)&address,
				    (socklen_t)size, 0, SENNIT_LISTEN_SHARED);
	if (v->listener < 0)
		return v->listener;
	return 0;
}

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
		err = open_listener(v);
		if (!err) {
			(void)!sennit_local_address(v->listener, v->name,
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
