/* SPDX-License-Identifier: Apache-2.0 */
/* service.h - listeners of all workers, a fiber for each connection, and a
 * graceful stop.
 *
 * SIGTERM and SIGINT stop a service: it accepts nothing more, serves what the
 * kernel had accepted, and gives connections that are idle `idle_grace` for one
 * more request, which they answer and close. After `stop_patience` what is left
 * is closed. A second signal ends the process at once, with status 1.
 */
#ifndef APPS_HTTP_SERVICE_H
#define APPS_HTTP_SERVICE_H

#include "http/stream.h"

#include <sennit/address.h>
#include <sennit/signals.h>

#include <sys/socket.h>

struct http_service {
	/* Set by the caller: */
	const char *address; /* host:port, [host]:port, :port; port 0: any */
	uint32_t    workers; /* 0: one per CPU */
	uint32_t    stack_size;
	uint32_t    max_connections; /* more wait for their turn */
	bool        wants_peer;      /* the peer's address, else AF_UNSPEC */
	uint64_t    idle_grace;
	uint64_t    stop_patience;
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
	int              listener;
	sennit_signals   signals;
	sennit_group     acceptors, fibers;
	sennit_semaphore free_;
	int              status;
};

/* Run until a signal stops it. From the first thread, before there are others:
 * it blocks the two signals, which all threads inherit. Returns the status with
 * which the process should exit. */
int http_service_run(struct http_service *v);

/* Resolve "host:port", "[host]:port" or ":port" into *to, by getaddrinfo.
 * Blocks its thread. Returns the address's size, or -1 after a message. */
int http_service_resolve(const char *name, bool passive,
			 struct sockaddr_storage *to);

#endif
