/* SPDX-License-Identifier: Apache-2.0 */
/* service.h - listeners of all workers, a fiber for each connection, and a
 * graceful stop.
 *
 * SIGTERM and SIGINT stop a service: it accepts nothing more, serves what the
 * kernel had accepted, and gives connections that are idle `idle_grace` for one
 * more request, which they answer and close. After `stop_patience` what is left
 * is closed. A second signal ends the process at once, with status 1.
 *
 * With `drain` it first goes on for that time, or until another signal, while
 * http_service_ending() says that no more should come: whoever spreads the
 * connections over several services asks, and leaves this one out. A process
 * that takes the listener over (listener.h) ends this one without a drain.
 */
#ifndef APPS_HTTP_SERVICE_H
#define APPS_HTTP_SERVICE_H

#include "http/listener.h"
#include "http/stream.h"

#include <sennit/address.h>
#include <sennit/signals.h>

#include <sys/socket.h>

/* What each program says of that in its help. */
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
	uint32_t    max_connections; /* more wait for their turn */
	bool        wants_peer;      /* the peer's address, else AF_UNSPEC */
	uint64_t    idle_grace;
	uint64_t    stop_patience;
	uint64_t    drain;
	/* Serves a connection, in a fiber of its own, and closes s. */
	void (*serve)(struct http_stream *s, const struct sockaddr *peer,
		      void *context);
	void *context;
	/* Called in a fiber once connections can come, and when all are gone,
	 * unless NULL. */
	void (*started)(void *context);
	void (*stopped)(void *context);

	/* For everybody to read: */
	struct http_stop stop;
	sennit_time      since;
	atomic_uint      connections;
	atomic_ullong    accepted;
	char             name[SENNIT_ADDRESS_TEXT]; /* what it listens on */
	bool             overran; /* patience ended before the connections */

	/* Of service.c: */
	struct http_listener listener;
	sennit_signals       signals;
	sennit_group         acceptors, fibers;
	sennit_semaphore     free_;
	atomic_bool          ending, handed_over;
	int                  status;
};

/* Run until a signal stops it. From the first thread, before there are others:
 * it blocks the two signals, which all threads inherit. Returns the status with
 * which the process should exit. */
int http_service_run(struct http_service *v);

/* Whether connections should go elsewhere: it drains, or stops. */
bool http_service_ending(const struct http_service *v);

#endif
