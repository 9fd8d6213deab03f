/* SPDX-License-Identifier: Apache-2.0 */
/* perform.h - how a request is carried out.
 *
 *	attempt --would wait--> wait until ready --+
 *	   ^                                       |
 *	   +---------------------------------------+
 *
 *	a file, which is never ready: a blocking call
 *	io_uring: the kernel does the whole request; see uring.h
 *
 * What has been transferred is what the call returns: neither a deadline nor
 * cancelling drops a result.
 */
#ifndef SN_PERFORM_H
#define SN_PERFORM_H

#include "io/engine/request.h"
#include "sennit/reader.h"

#include <poll.h>

/* Carry the request out. Returns what the system call does, or a negative
 * errno; -ETIMEDOUT and -ECANCELED as sennit_time says. */
ptrdiff_t sn_io_do(const struct io_request *r, sennit_time deadline);

/* The same for a request that has no attempt, as it may always wait: by the
 * kernel if it knows how, else by a blocking call, which a worker with another
 * library's poller makes, too. */
ptrdiff_t sn_io_do_blocking(const struct io_request *r, sennit_time deadline);

/* Fibers whose operations end at once would keep others from running: let those
 * run now and then. Called when an operation has ended, never before one: what
 * runs meanwhile may close the descriptor, and open another with its number. */
void sn_io_let_others_run(struct io_backend *b);

/* Which of the events of poll() are there on fd now, POLLNVAL among them: 0 if
 * none is, or a negative errno. */
int sn_io_poll_now(int fd, short events);

/* A thread's wait for one of two or more, of which the second is what
 * sn_io_closing_begin_thread() returned. 0, perhaps too early, -ETIMEDOUT, or
 * another negative errno. */
int sn_io_poll_until(struct pollfd p[], unsigned count, sennit_time deadline);

/* Wait until one of the events may be there on fd, from a fiber or a thread. As
 * wait_ready of request.h. `beside` is another descriptor of the request: if it
 * is closed the wait ends with -ECANCELED, when fd is ready at the latest. */
int sn_io_wait_ready(int fd, short events, int beside, uint64_t begun,
		     sennit_time deadline);

/* Call `some` until *done, NULL for none, is size. Returns 0, what `some`
 * returns if that is negative, or -ENODATA if it is 0. `call`: the name of the
 * public call. */
int sn_io_all(const char *call, sennit_reader_fn *some, void *context, void *at,
	      size_t size, size_t *done, sennit_time deadline);

/* --- choose --------------------------------------------------------------- */

/* Which backend a worker waits with. */

/* *out: the backend of the calling fiber's worker, made when there is none;
 * NULL on an unbound thread. Returns 0, -EBUSY when the worker has a poller of
 * another library, or a negative errno value of the system's. */
int sn_io_backend_here(struct io_backend **out);

/* The same, or NULL where there is none. */
struct io_backend *sn_io_backend_made(void);

#endif
