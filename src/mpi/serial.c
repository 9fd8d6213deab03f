/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/serial.h"

#include "base/atomic.h"

#include <mpi.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* 0: not known yet, 1: MPI takes any number of threads, 2: one at a time. It
 * never changes once it is known, and all that read it would find the same. */
static a_u32 level;

int sn_mpi_serial_init(void)
{
	int provided = MPI_THREAD_SINGLE;

	PMPI_Query_thread(&provided);
	a_store_rlx(&level, provided == MPI_THREAD_SERIALIZED ? 2 : 1);
	return provided;
}

bool sn_mpi_is_serial(void)
{
	int there = 0;

	if (unlikely(!a_load_rlx(&level))) {
		PMPI_Initialized(&there);
		if (there)
			(void)sn_mpi_serial_init();
	}
	return a_load_rlx(&level) == 2;
}

void sn_mpi_enter(void)
{
	if (sn_mpi_is_serial())
		pthread_mutex_lock(&lock);
}

void sn_mpi_leave(void)
{
	if (sn_mpi_is_serial())
		pthread_mutex_unlock(&lock);
}
