/* SPDX-License-Identifier: Apache-2.0 */
/* redis_pipeline.h - a connection to Redis that many fibers share by
 * pipelining: hiredis formats commands and parses replies, sennit sends and
 * receives.
 *
 * A request has a future. A caller puts the request into a channel and waits
 * for the future. A writer fiber takes all requests that are in the channel,
 * sends them by one call, and passes them on to a reader fiber in the order in
 * which it sent them. Redis answers in that order, so each reply belongs to the
 * oldest request. The more fibers ask at once, the fewer system calls a request
 * costs.
 *
 * A command that blocks at the server (BLPOP) delays all users of the
 * connection: give it one of its own.
 */
#ifndef REDIS_PIPELINE_H
#define REDIS_PIPELINE_H

#include <sennit.h>

#include <hiredis/hiredis.h>

#include <stdatomic.h>

struct connection {
	int            fd;
	sennit_channel queued, in_flight; /* of requests */
	sennit_group   fibers;
	atomic_long    sends; /* of the writer; others may read it */
};

/* Connect by the Unix socket at path. Both fibers are members of a group that
 * the caller's call of redis_disconnect ends. Returns 0 or a negative errno. */
int redis_connect(struct connection *c, const char *path, sennit_time deadline);

/* Wait for the replies to all requests, and hang up. No more requests may be
 * made.
 * Returns 0, or what had ended the connection. */
int redis_disconnect(struct connection *c);

/* Ask, from any fiber, and wait for the reply. The format is
 * redisFormatCommand's. Returns 0 and a reply that the caller frees, or a
 * negative errno. After -ETIMEDOUT and -ECANCELED, Redis may still execute the
 * command. */
int redis_ask(struct connection *c, redisReply **reply, sennit_time deadline,
	      const char *format, ...);

#endif
