/* SPDX-License-Identifier: Apache-2.0 */
/* epoll.h - the backend that waits for readiness. Each worker has an epoll
 * descriptor of its own.
 *
 *	fd --hash--> waits on it, each a record in its fiber's frame
 *
 * registration.h decides what is registered with the kernel. TCP sockets that
 * this library has made are watched permanently, edge-triggered. Other
 * descriptors are registered only while a fiber waits on them, so a plain
 * close() and a reused number do no harm.
 *
 * A wait may end without an event (an event of a wait that was abandoned), so
 * every operation is retried after it.
 *
 * Other threads wake the worker through an eventfd that is registered
 * edge-triggered and never read: each write is an event.
 */
#ifndef SN_EPOLL_H
#define SN_EPOLL_H

#include "engine/request.h"

/* The `turn` of an epoll poller, which identifies it. */
void sn_io_epoll_turn(sennit_poller *p);

/* Make an epoll backend. Returns 0 or a negative errno. */
int sn_io_epoll_make(struct io_backend **out, const sennit_allocator *memory);

#endif
