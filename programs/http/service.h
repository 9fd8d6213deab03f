/* SPDX-License-Identifier: Apache-2.0 */
/* service.h - listens on all workers, serves each connection in a fiber, and
 * stops gracefully.
 *
 * SIGTERM and SIGINT stop a service. It accepts no more connections, serves
 * those that the kernel has accepted, and gives idle connections `idle_grace`
 * for one more request, after which they are closed. After `stop_patience` the
 * remaining connections are closed. Fibers that still run end with the process
 * three seconds later, with status 1. A second signal ends the process at once,
 * with status 1.
 *
 * With `drain` the service first continues for that time, or until another
 * signal, while http_service_ending() returns true: a load balancer that asks
 * then sends no more connections. If the next process takes over the listener
 * (listener.h), this one ends without a drain.
 */
#ifndef APPS_HTTP_SERVICE_H
#define APPS_HTTP_SERVICE_H

#include "http/listener.h"
#include "http/stream.h"
#include "http/supply.h"

#include <sennit/address.h>
#include <sennit/signals.h>

#include <sys/socket.h>

/* The text about signals for each program's help. */
#define HTTP_SERVICE_HELP                                                      \
	"SIGNALS\n"                                                            \
	"  SIGTERM, SIGINT: drain, accept nothing more, finish what has "      \
	"begun,\n"                                                             \
	"  exit with 0; with 1 if connections were left at the stop timeout. " \
	"A\n"                                                                  \
	"  second one ends the drain, or ends at once, with 1.\n"              \
	"\n"                                                                   \
	"ENVIRONMENT\n"                                                        \
	"  LISTEN_FDS, LISTEN_PID: a listening socket is passed, as systemd\n" \
	"  does, and --listen is not used.\n"                                  \
	"\n"

struct http_service {
	/* Set by the caller: */
	const char *address;   /* host:port, [host]:port, :port; port 0: any */
	const char *hand_over; /* path of listener.h, or NULL */
	uint32_t    workers;   /* 0: one per CPU */
	uint32_t    stack_size;
	uint32_t    max_connections; /* further connections wait for their
				      * turn */
	uint32_t    descriptors;     /* used by each connection */
	uint64_t    idle_grace;
	uint64_t    stop_patience;
	uint64_t    drain;
	/* Serves a connection in its own fiber, and closes s. */
	void (*serve)(struct http_stream *s, const struct sockaddr *peer,
		      void *context);
	void *context;
	/* Called in a fiber when connections can arrive, and when all have
	 * ended, unless NULL. */
	void (*started)(void *context);
	void (*stopped)(void *context);

	/* Read-only for other files: */
	struct http_stop stop;
	sennit_time      since;
	atomic_uint      connections;
	atomic_ullong    accepted;
	char             name[SENNIT_ADDRESS_TEXT]; /* the address on which it
						     * listens */
	bool             overran; /* patience ended before the connections */

	/* Private to service.c: */
	struct http_listener listener;
	sennit_signals      *signals;
	sennit_group         acceptors, fibers;
	struct http_users    users; /* the caller sets least_rate and share */
	struct http_supply   turns;
	atomic_bool          ending, handed_over;
	int                  status;
};

/* Run until a signal stops the service. Call it on the first thread, before
 * other threads start: it blocks the two signals, and all threads inherit that.
 * Returns the exit status of the process. */
int http_service_run(struct http_service *v);

/* Report whether connections should go elsewhere, because the service drains or
 * stops. */
bool http_service_ending(const struct http_service *v);

#endif
