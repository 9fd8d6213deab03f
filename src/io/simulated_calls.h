/* SPDX-License-Identifier: Apache-2.0 */
/* simulated_calls.h - what the calls of io.h and net.h do in the simulated
 * network. Each is tried; where it would wait, the fiber waits and it is tried
 * again. Files are read and written in place.
 */
#ifndef SN_IO_SIMULATED_CALLS_H
#define SN_IO_SIMULATED_CALLS_H

#include "io/request.h"
#include "io/simulated_poller.h"

/* Called only where IO_SIMULATED: an ordinary build drops the calls, and has no
 * such functions. */

/* As sn_io_do. */
ptrdiff_t sn_simulated_do(struct io_backend *b, const struct io_request *r,
			  sennit_time deadline);

/* The same without waiting: -EAGAIN. */
ptrdiff_t sn_simulated_try(const struct io_request *r);

/* As sn_io_do_blocking: what waits for a disc holds up the run, and changes
 * nothing in it. */
ptrdiff_t sn_simulated_do_in_place(const struct io_request *r);

/* As sendfile(), from a file to a socket. */
ptrdiff_t sn_simulated_sendfile(int to, int from, off_t *at, size_t size,
				sennit_time deadline);

/* As poll(): how many have events. */
int sn_simulated_poll(struct pollfd *fds, size_t count, sennit_time deadline);

int sn_simulated_shutdown(int fd, int how);
int sn_simulated_close(int fd);

#endif
