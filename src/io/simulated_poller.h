/* SPDX-License-Identifier: Apache-2.0 */
/* simulated_poller.h - the backend of the deterministic build: a worker sleeps
 * until something arrives in the simulated network, in virtual time.
 *
 * The deterministic build has this one alone, and an ordinary one lacks it.
 */
#ifndef SN_IO_SIMULATED_POLLER_H
#define SN_IO_SIMULATED_POLLER_H

#include "io/backend.h"

#include <errno.h>
#include <poll.h>

#ifdef SENNIT_DETERMINISTIC

#define IO_SIMULATED true

/* The turn of such a poller, by which it is known. */
void sn_simulated_turn(sennit_poller *p);

/* Makes one. 0 or a negative errno. */
int sn_simulated_poller_make(struct io_backend     **out,
			     const sennit_allocator *memory);

/* Wait until one of the descriptors has one of its events; b: of the calling
 * fiber's worker, NULL: as a thread. Returns 0, -ETIMEDOUT or -ECANCELED, the
 * latter also when the descriptor is closed, unless it is one of `several`. May
 * return 0 though nothing is there. */
int sn_simulated_wait(struct io_backend *b, const struct pollfd *fds,
		      size_t count, bool several, sennit_time deadline);

#else

#define IO_SIMULATED      false
#define sn_simulated_turn ((void (*)(sennit_poller *))NULL)

static inline int sn_simulated_poller_make(struct io_backend     **out,
					   const sennit_allocator *memory)
{
	(void)out;
	(void)memory;
	return -ENOSYS;
}

#endif
#endif
