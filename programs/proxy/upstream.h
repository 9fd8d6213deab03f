/* SPDX-License-Identifier: Apache-2.0 */
/* upstream.h - the backend servers of the proxy: which one is next, connections
 * that are kept, and which servers are down.
 *
 * A server is down for `down_for` after `failures` consecutive connections have
 * failed. When all are down, all are tried. Lack of descriptors or memory in
 * this process is not a failure of a server.
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
	struct http_supply      slots;  /* the connections that may be open */
	atomic_uint             active; /* connections in use */
	atomic_uint             failed; /* consecutive failures */
	atomic_bool             blamed; /* a rejected answer was reported */
	atomic_ullong           down_until;
	pthread_mutex_t         lock;
	struct kept_connection *kept; /* under lock: most recently used first */
	uint32_t                kept_count;
};

struct upstreams {
	struct upstream all[UPSTREAMS_MAX];
	uint32_t        count;
	bool            least;           /* choose the one with the fewest
					  * connections; else round robin */
	uint32_t        max_connections; /* to each */
	uint32_t        max_kept;        /* maximum of each, idle */
	uint32_t        failures;
	uint64_t        down_for;
	uint64_t        keep_for;         /* ns */
	uint64_t        connect_patience; /* ns, also to wait for a slot */
	atomic_uint     turn;
};

/* Add a server, "host:port". Resolves the name, which blocks. Returns 0 or -1
 * after a message. Call it before other threads start. */
int upstreams_add(struct upstreams *u, const char *name);

/* Connect *s to a server for a client, or take a kept connection unless
 * `fresh`; *reused says which. Tries each server once. The caller has set
 * s->stop. Returns 0 and the server, which the caller releases with
 * upstream_release, or a negative errno value: -ETIMEDOUT, -ECONNREFUSED ...,
 * -ECONNABORTED if the client has left while it waited. From a fiber. */
int upstream_connect(struct upstreams *u, struct http_user *client,
		     struct http_stream *s, bool fresh, bool *reused,
		     struct upstream **server);

/* The connection is no longer used: keep it for others, or close it. */
void upstream_release(struct upstreams *u, struct http_user *client,
		      struct upstream *server, struct http_stream *s,
		      bool keep);

/* The server has failed after it was connected, or has answered. */
void upstream_failed(struct upstreams *u, struct upstream *server);
void upstream_answered(struct upstream *server);

/* Return how many servers are down. */
uint32_t upstreams_down(const struct upstreams *u);

/* Close all kept connections. Call it after all fibers have ended. */
void upstreams_close(struct upstreams *u);

#endif
