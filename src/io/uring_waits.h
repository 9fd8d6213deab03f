/* SPDX-License-Identifier: Apache-2.0 */
/* uring_waits.h - which requests a worker's ring has, by descriptor, and how
 * they are cancelled: by whoever waits for one, or as the descriptor is closed.
 *
 * A lone request that the kernel has not seen when its descriptor is closed is
 * made nothing of, as the number may mean another descriptor by now.
 */
#ifndef SN_IO_URING_WAITS_H
#define SN_IO_URING_WAITS_H

#include "io/ring_wait.h"
#include "io/uring_ring.h"

#ifdef SENNIT_HAVE_URING

void sn_io_ring_waits_add(struct uring_backend *u, struct ring_wait *n);
void sn_io_ring_waits_remove(struct uring_backend *u, struct ring_wait *n);

/* Have the kernel cancel the request of n, after it has tried it. The
 * completion comes in any case. */
void sn_io_ring_waits_cancel(struct uring_backend   *u,
			     const struct ring_wait *n);

/* End n as its descriptor is closed, with -ECANCELED or -EINTR. The completion
 * comes in any case. */
void sn_io_ring_waits_end(struct uring_backend *u, struct ring_wait *n,
			  int end);

/* End those on fd, which is about to be closed. Whether there are any. */
bool sn_io_ring_waits_forget(struct uring_backend *u, int fd);

/* End those whose descriptors others have closed. */
void sn_io_ring_waits_take_closed(struct uring_backend *u);

#endif
#endif
