/* SPDX-License-Identifier: Apache-2.0 */
/* simulated_transfer.h - bytes from the program's memory to the simulated
 * network and back. Under the network's lock.
 */
#ifndef SN_IO_SIMULATED_TRANSFER_H
#define SN_IO_SIMULATED_TRANSFER_H

#include "io/simulated_ends.h"

#include <sys/uio.h>

#ifdef SENNIT_DETERMINISTIC

/* What recvmsg() and sendmsg() return, -EAGAIN where they would wait, or
 * another negative errno. flags: those of recv() and send(). */
ptrdiff_t sn_simulated_receive(struct simulated_end *e, const struct iovec *to,
			       size_t count, int flags);
ptrdiff_t sn_simulated_send(struct simulated_end *e, const struct iovec *from,
			    size_t count, int flags);

#endif
#endif
