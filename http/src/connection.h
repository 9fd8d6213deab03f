/* SPDX-License-Identifier: Apache-2.0 */
/* connection.h - a connection: what was received, what is collected, and the
 * message that is between the two.
 *
 *	bytes: [ head | ... taken ... | from ... to |  room ]
 *
 * The head of a message with a body is at the front, and its texts are used
 * while the body is read, so that more is received behind it.
 *
 *	a server   next: requested --> answer: sending --> end: neither
 *	a client   ask: sending --> end: neither --> next
 */
#ifndef SN_HTTP_CONNECTION_H
#define SN_HTTP_CONNECTION_H

#include "base/library_misuse.h"
#include "body.h"
#include "head.h"
#include "sennit/event.h"

/* Room for a body after the largest head. */
#define BODY_ROOM 8192

/* The size of the buffer in which messages are collected, and of that of the
 * fields of the next head. */
#define OUT_ROOM    16384
#define FIELDS_ROOM 8192

/* The body that is being sent. */
enum sending {
	NOTHING = 0,
	SIZED, /* `left` more bytes */
	CHUNKS,
	TO_END, /* ends with the connection */
};

struct sennit_http {
	/* Fixed: */
	sennit_http_link     link;
	struct limits        limits;
	uint64_t             body_limit;
	uint64_t             idle, wait, step; /* ns */
	bool                 client;
	const char          *name;   /* NULL: none */
	struct sennit_event *stop;   /* of a server; NULL: none */
	size_t               room;   /* the size of `bytes` */
	struct socket       *socket; /* of socket.c; NULL: the caller's link */
	/* Receiving: */
	size_t      from, to; /* in bytes: received and not taken */
	size_t      keep_to;  /* the head of the message is before it */
	int         in_err;   /* not 0: nothing more is received */
	struct scan scan;
	bool        skipped;    /* an empty line before the head */
	uint32_t    interim;    /* answers 1xx before this one */
	sennit_time idle_until; /* 0: not waited for yet */
	sennit_time head_until; /* likewise */
	struct head head;
	struct body body;
	bool        may_continue; /* the client waits for "100 Continue" */
	uint32_t    refused;      /* the status */
	/* Sending: */
	bool         requested; /* a request has no answer yet */
	bool         asked;     /* likewise, of a client */
	bool         head_only; /* the answer to HEAD: bodies are not sent */
	enum sending sending;
	uint64_t     left;
	int          out_err;   /* not 0: nothing more is sent */
	bool         keep;      /* another message can follow */
	bool         linger;    /* the peer may still send */
	size_t       used;      /* bytes of `out` */
	size_t       fields;    /* bytes of `added` */
	int          added_err; /* of sennit_http_add_field() */
	bool         has_date, has_host, close; /* fields that were added */
	char         added[FIELDS_ROOM];
	char         out[OUT_ROOM];
	char         bytes[];
};

/* Make a connection without a link. Returns 0 or a negative errno value. */
int sn_http_make(sennit_http **out, bool client,
		 const sennit_http_config *config);

/* --- send.c ------------------------------------------------------------- */

/* Collect bytes. If they do not fit, what is collected is sent before. Returns
 * 0 or a negative errno value. */
int sn_http_add(sennit_http *h, const void *bytes, size_t size,
		sennit_time deadline);

/* Answer a request that is refused, and send that. */
void sn_http_answer_error(sennit_http *h, uint32_t status,
			  sennit_time deadline);

/* A client's body that could not be sent needs no end. */
void sn_http_drop_failed(sennit_http *h);

/* --- receive.c ---------------------------------------------------------- */

/* Drop what has been received of the body. */
void sn_http_drop_received(sennit_http *h);

/* Forget what was received, for a new connection. */
void sn_http_begin_again(sennit_http *h);

/* --- socket.c ----------------------------------------------------------- */

/* Let the connection use fd, which it owns from now on, also if this fails.
 * context: of TLS, or NULL. The handshake of a server ends by the deadline. */
int sn_http_accept_socket(sennit_http *h, int fd,
			  struct sennit_tls_context *context,
			  sennit_time                deadline);

/* Let the connection be one with the server of the URL, and connect it. */
int sn_http_connect_socket(sennit_http *h, const char *url,
			   struct sennit_tls_context *context,
			   sennit_time                deadline);

/* The host of the URL with its port, or NULL. */
const char *sn_http_socket_host(const sennit_http *h);

/* Report whether the server has ended the connection or has sent something. */
bool sn_http_socket_is_gone(const sennit_http *h);

/* Connect again. */
int sn_http_socket_again(sennit_http *h, sennit_time deadline);

/* End a connection after its last message: tell the peer, and read and drop
 * what it still sends if h->linger, for up to a second and 16 MiB. Otherwise
 * bytes that were not read would reset the connection, and the peer could lose
 * the answer. */
void sn_http_socket_finish(sennit_http *h);

/* Wait until a server's peer has sent something or ended the connection, or
 * until h->stop is set. Returns 1; 0 if it is set and nothing has come; or a
 * negative errno value. */
int sn_http_socket_await(sennit_http *h, sennit_time deadline);

/* Close and free the socket, if there is one. */
void sn_http_socket_close(sennit_http *h);

#endif
