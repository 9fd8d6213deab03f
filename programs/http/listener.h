/* SPDX-License-Identifier: Apache-2.0 */
/* listener.h - the listening socket of a service: where it comes from, and who
 * has it next.
 *
 *	passed      whoever started the process opened it (LISTEN_FDS)
 *	taken over  the process before sends it through a unix socket at a path
 *	made        at the address
 *
 *	the next process                     this one
 *	connects to the path        ->       sends the socket
 *	accepts connections
 *	sends a byte                ->       ends, as after SIGTERM
 *	has the path
 *
 * A socket that outlives the process is one for all workers. Its processes have
 * one queue of connections, and who closes it leaves the queue to the others.
 * Otherwise each worker has a listener and a queue (SO_REUSEPORT), and the
 * kernel resets what is in a queue that is closed.
 */
#ifndef APPS_HTTP_LISTENER_H
#define APPS_HTTP_LISTENER_H

struct http_listener {
	int         fd;
	int         before; /* to the process before; -1: there is none */
	int         next;   /* where the next one connects; -1: nowhere */
	const char *path;   /* NULL: this process is the last */
};

/* From the first thread. path: through which the process before, if there is
 * one, and the next one take over, or NULL. Returns 0, or -1 after a message.
 */
int http_listener_open(struct http_listener *l, const char *address,
		       const char *path);

/* Connections are accepted: now the process before may end. Returns 0, or -1
 * after a message: it goes on, and this one must end. */
int http_listener_begin(struct http_listener *l);

/* Wait until a next process accepts connections. Returns 0, or -ECANCELED. */
int http_listener_hand_over(struct http_listener *l);

void http_listener_close(struct http_listener *l);

#endif
