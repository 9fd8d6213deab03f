/* SPDX-License-Identifier: Apache-2.0 */
/* upstream.h - the servers behind the proxy: which one is next, connections
 * that are kept, and which servers are down.
 *
 * A server is down for `down_for` after `failures` connections in a row have
 * failed. When all are down, all are tried.
 */
#ifndef APPS_PROXY_UPSTREAM_H
#define APPS_PROXY_UPSTREAM_H

#include "http/stream.h"

#include <pthread.h>
#include <sys/socket.h>

#define UPSTREAMS_MAX 64

struct kept_connection;

struct upstream {
	const char             *name; /* host:port */
	struct sockaddr_storage address;
	socklen_t               address_size;
	sennit_semaphore        slots;  /* connections that may be open */
	atomic_uint             active; /* connections in use */
	atomic_uint             failed; /* in a row */
	atomic_ullong           down_until;
	pthread_mutex_t         lock;
	struct kept_connection *kept; /* under lock: the last used first */
	uint32_t                kept_count;
};

struct upstreams {
	struct upstream all[UPSTREAMS_MAX];
	uint32_t        count;
	bool            least;           /* least connections; else in turn */
	uint32_t        max_connections; /* to each */
	uint32_t        max_kept;        /* of each, without use */
	uint32_t        failures;
	uint64_t        down_for;
	uint64_t        keep_for;         /* ns */
	uint64_t        connect_patience; /* ns, also for a slot */
	atomic_uint     turn;
};

/* Add a server, "host:port". Resolves it and blocks. Returns 0 or -1 after a
 * message. Before there are threads. */
int upstreams_add(struct upstreams *u, const char *name);

/* Connect *s to a server, or take a kept connection unless fresh; *reused says
 * which. Tries each server once. s->stop is set by the caller. Returns 0 and
 * the server, to be released by upstream_release, or a negative errno:
 * -ETIMEDOUT, -ECONNREFUSED ... From a fiber. */
int upstream_connect(struct upstreams *u, struct http_stream *s, bool fresh,
		     bool *reused, struct upstream **server);

/* The connection is no longer used: keep it for others, or close it. */
void upstream_release(struct upstreams *u, struct upstream *server,
		      struct http_stream *s, bool keep);

/* The server has failed behind the connecting, or has answered. */
void upstream_failed(struct upstreams *u, struct upstream *server);
void upstream_answered(struct upstream *server);

/* How many servers are down. */
uint32_t upstreams_down(const struct upstreams *u);

/* Close all kept connections. After all fibers have ended. */
void upstreams_close(struct upstreams *u);

#endif
