/* SPDX-License-Identifier: Apache-2.0 */
/* choose.h - which backend a worker waits with. */
#ifndef SN_IO_CHOOSE_H
#define SN_IO_CHOOSE_H

#include "io/backend.h"

/* *out: the backend of the calling fiber's worker, made when there is none;
 * NULL on an unbound thread. Returns 0, -EBUSY when the worker has a poller of
 * another library, or a negative errno value of the system's. */
int sn_io_backend_here(struct io_backend **out);

/* The same, or NULL where there is none. */
struct io_backend *sn_io_backend_made(void);

#endif
