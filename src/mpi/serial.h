/* SPDX-License-Identifier: Apache-2.0 */
/* serial.h - the lock around MPI calls where MPI allows one thread at a time
 * (MPI_THREAD_SERIALIZED). With MPI_THREAD_MULTIPLE there is none.
 *
 * No call that blocks is made under it, so that it is held for one call's time.
 */
#ifndef SN_MPI_SERIAL_H
#define SN_MPI_SERIAL_H

#include "base/compiler.h"

#include <stdbool.h>

/* Ask MPI for its level, once it is initialised. Returns the level. */
int sn_mpi_serial_init(void);

/* Whether there is the lock. */
bool sn_mpi_is_serial(void);

void sn_mpi_enter(void);
void sn_mpi_leave(void);

#endif
