/* SPDX-License-Identifier: Apache-2.0 */
/* epoll.h - the backend that waits for readiness, by an epoll descriptor of the
 * worker's own.
 *
 *	fd --hash--> waits on it, each a record in its fiber's frame
 *
 * What the kernel is told is in registration.h: TCP sockets of the library's
 * own making are watched for good; of others nothing is kept on which nobody
 * waits, so that a plain close() and a number that is used again mean nothing.
 *
 * A wait may end though nothing is there (an event of a wait that was given
 * up), so every operation is tried again after it.
 *
 * Another thread wakes the worker through an event descriptor that is armed
 * edge-triggered and never read: each write is an event.
 */
#ifndef SN_EPOLL_H
#define SN_EPOLL_H

#include "io/engine/request.h"

/* The turn of such a poller, by which it is known. */
void sn_io_epoll_turn(sennit_poller *p);

/* Makes one. 0 or a negative errno. */
int sn_io_epoll_make(struct io_backend **out, const sennit_allocator *memory);

#endif
