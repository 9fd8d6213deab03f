/* SPDX-License-Identifier: Apache-2.0 */
/* live_client.h - a client of a live view: its requests and its answers, within
 * bounds of memory and time that hold whatever it does.
 *
 *	get       one snapshot
 *	watch MS  a snapshot every MS milliseconds; 0: no more
 *
 * Nothing here waits for the client. While an answer has not been sent, no
 * request is read. Only the view's thread uses this.
 */
#ifndef SN_LIVE_CLIENT_H
#define SN_LIVE_CLIENT_H

#include "sennit/base.h"

#include <stdbool.h>

/* The maximum length of a request, with its newline. */
#define LIVE_LINE 64

/* The least time between two snapshots for one client. */
#define LIVE_GAP (100 * SENNIT_MILLISECOND)

/* How long a client may read nothing of an answer, and how long it may neither
 * ask nor watch. */
#define LIVE_PATIENCE (10 * SENNIT_SECOND)

struct live_client {
	int         fd; /* -1: no client */
	char        in[LIVE_LINE];
	size_t      in_used;
	char       *out; /* of malloc(); NULL: all is sent */
	size_t      out_used, out_sent;
	bool        asks;    /* for one snapshot */
	sennit_time period;  /* between snapshots; 0: it does not watch */
	sennit_time due;     /* when it may have the next snapshot */
	sennit_time active;  /* when it last asked, or read */
	bool        ended;   /* sends no more requests */
	bool        leaving; /* is disconnected once all is sent */
};

/* No client. */
void sn_live_client_init(struct live_client *c);

/* Take over the descriptor, and greet. */
void sn_live_client_open(struct live_client *c, int fd, sennit_time now);

/* Disconnect, if connected. */
void sn_live_client_close(struct live_client *c);

/* Say why not, if that can be sent at once, and close the descriptor. */
void sn_live_client_refuse(int fd, const char *why);

/* What poll() should wait for. */
short sn_live_client_events(const struct live_client *c);

/* Go on: send, read, disconnect a client that takes too long. `events` is what
 * poll() found. */
void sn_live_client_serve(struct live_client *c, short events, sennit_time now);

/* Whether it waits for a snapshot; when it does not, there is no need to
 * look. */
bool sn_live_client_wants(const struct live_client *c);

/* Whether it should get a snapshot now. */
bool sn_live_client_is_due(const struct live_client *c, sennit_time now);

/* Send the snapshot. */
void sn_live_client_give(struct live_client *c, const char *text, size_t size,
			 sennit_time now);

#endif
