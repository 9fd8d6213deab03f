/* SPDX-License-Identifier: Apache-2.0 */
/* perform.h - carries out a request.
 *
 *	attempt --would wait--> wait until ready --+
 *	   ^                                       |
 *	   +---------------------------------------+
 *
 *	a file, which cannot be polled: a blocking call
 *	io_uring: the kernel does the whole request; see uring.h
 *
 * The call returns what was transferred: neither a deadline nor cancelling
 * drops a result.
 */
#ifndef SN_PERFORM_H
#define SN_PERFORM_H

#include "engine/request.h"
#include "sennit/reader.h"

#include <poll.h>

/* Carry out the request. Returns the system call's result or a negative errno;
 * -ETIMEDOUT and -ECANCELED as sennit_time says. */
ptrdiff_t sn_io_do(const struct io_request *r, sennit_time deadline);

/* The same for a request without `attempt`, because it may always wait. The
 * kernel does it if the backend supports that, else a blocking call, also for a
 * worker with the poller of another library. */
ptrdiff_t sn_io_do_blocking(const struct io_request *r, sennit_time deadline);

/* Yield now and then, because fibers whose operations never wait would keep
 * others from running. Call this after an operation, never before one: a fiber
 * that runs meanwhile may close the descriptor and open another with its
 * number. */
void sn_io_let_others_run(struct io_backend *b);

/* Poll fd once. Returns those of the events that are there now, and POLLNVAL; 0
 * if there is none; or a negative errno. */
int sn_io_poll_now(int fd, short events);

/* Wait, on a thread, for one of two or more descriptors. The second is the
 * result of sn_io_closing_begin_thread(). Returns 0, perhaps too early,
 * -ETIMEDOUT, or another negative errno. */
int sn_io_poll_until(struct pollfd p[], unsigned count, sennit_time deadline);

/* Wait, in a fiber or on a thread, until fd may have one of the events. Returns
 * as wait_ready of request.h. `beside` is another descriptor of the request: if
 * it is closed, the wait ends with -ECANCELED, at the latest when fd is
 * ready. look: no event may announce that the call can proceed, so the wait
 * ends with 0 after *look, too, which becomes longer, up to a second; NULL: an
 * event does. */
int sn_io_wait_ready(int fd, short events, int beside, uint64_t begun,
		     sennit_time deadline, sennit_time *look);

/* As wait_ready of b. A wait of the ring, too, ends only by what poll() would
 * report, or sometimes spuriously. */
int sn_io_wait_alone(struct io_backend *b, const struct io_ready *w);

/* Make an epoll descriptor that watches fd for these events of epoll. Returns
 * it or a negative errno: -EPERM for a file that is always ready. */
int sn_io_set_make(int fd, uint32_t events);

/* epoll_ctl(), for a set. */
int sn_io_set_control(int set, int op, int fd, struct epoll_event *event);

/* Check the deadline and cancelling, in each turn of a retry loop. Returns 0,
 * -ETIMEDOUT or -ECANCELED. */
int sn_io_is_late(sennit_time deadline);

/* The first time between two looks: see sn_io_wait_ready(). */
#define IO_FIRST_LOOK (64 * SENNIT_MILLISECOND)

/* The first of a series of growing pauses. */
#define IO_SHORTEST_PAUSE (100 * SENNIT_MICROSECOND)

/* Sleep for *pause before retrying what no event announces, and make the next
 * pause longer. Returns 0, -ETIMEDOUT or -ECANCELED. */
int sn_io_pause(sennit_time *pause, sennit_time deadline);

/* Call `some` until *done is size. done may be NULL. Returns 0, the result of
 * `some` if that is negative, or -ENODATA if it is 0. `call`: the name of the
 * public call. */
int sn_io_all(const char *call, sennit_reader_fn *some, void *context, void *at,
	      size_t size, size_t *done, sennit_time deadline);

/* --- choose --------------------------------------------------------------- */

/* Which backend a worker uses. */

/* Set *out to the backend of the calling fiber's worker, which is made if there
 * is none; to NULL on an unbound thread. Returns 0, -EBUSY if the worker has a
 * poller of another library, or another negative errno. */
int sn_io_backend_here(struct io_backend **out);

/* The same, or NULL if there is none. */
struct io_backend *sn_io_backend_made(void);

#endif
