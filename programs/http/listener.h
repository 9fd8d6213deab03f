/* SPDX-License-Identifier: Apache-2.0 */
/* listener.h - the listening socket of a service, and how it is handed to the
 * next process.
 *
 *	passed      opened by the process that started this one (LISTEN_FDS)
 *	taken over  sent by the previous process through a unix socket at a
 *	            path
 *	made        bound to the address
 *
 *	the next process                     this one
 *	connects to the path        ->       sends the socket
 *	accepts connections
 *	sends a byte                ->       ends, as after SIGTERM
 *	has the path
 *
 * A socket that is passed on is shared by all workers and processes, with one
 * queue of connections. When a process closes it, the queue stays with the
 * others. Otherwise each worker has its own listener and queue (SO_REUSEPORT),
 * and the kernel resets the connections in a queue that is closed.
 */
#ifndef APPS_HTTP_LISTENER_H
#define APPS_HTTP_LISTENER_H

struct http_listener {
	int            fd;
	int            before; /* connection to the previous process; -1:
			        * none */
	int            next;   /* socket to which the next process connects; -1:
			        * none */
	const char    *path;   /* NULL: no handover */
	struct takers *takers; /* owned by listener.c */
};

/* Open the listener. path is the path for the handover from the previous
 * process, if there is one, and to the next one, or NULL. Returns 0, or -1
 * after a message. A file at the path that is not a socket is an error and is
 * not changed. Call it on the first thread. */
int http_listener_open(struct http_listener *l, const char *address,
		       const char *path);

/* Tell the previous process to end, because this one accepts connections.
 * Returns 0, or -1 after a message: the previous process continues, and this
 * one must end. */
int http_listener_begin(struct http_listener *l);

/* Wait until a next process accepts connections. Several may connect at the
 * same time; none of them waits for another. Returns 0, or -ECANCELED. */
int http_listener_hand_over(struct http_listener *l);

void http_listener_close(struct http_listener *l);

#endif
