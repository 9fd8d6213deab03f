/* SPDX-License-Identifier: Apache-2.0 */
/* mpi.c - the calls of sennit/mpi.h. */
#include "engine.h"
#include "suspend.h"
#include "base/sized.h"
#include "sennit/mpi.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define SPIN_DEFAULT 200000u
#define NAP_DEFAULT  1000000u

/* The size of the first release's options. */
#define SIZE_FIRST SIZE_THROUGH(sennit_mpi_options, reserved_)
ENDS_WITH(sennit_mpi_options, reserved_);

static int read_options(sennit_mpi_options       *out,
			const sennit_mpi_options *options)
{
	const sennit_mpi_options defaults = { .size = sizeof(defaults) };
	int                      err;

	err = sn_sized_read(out, sizeof(*out), options ? options : &defaults,
			    SIZE_FIRST);
	if (err)
		return err;
	if (out->reserved_ || (out->flags & ~SENNIT_MPI_SMALL_STACKS))
		return -EINVAL;
	if (!out->spin_ns)
		out->spin_ns = SPIN_DEFAULT;
	if (!out->nap_ns)
		out->nap_ns = NAP_DEFAULT;
	return 0;
}

static int check_mpi(void)
{
	int begun = 0;
	int over = 0;

	PMPI_Initialized(&begun);
	PMPI_Finalized(&over);
	if (!begun || over)
		return -EPERM;
	if (sn_mpi_serial_init() < MPI_THREAD_SERIALIZED)
		return -ENOTSUP;
	return 0;
}

int sennit_mpi_start(sennit_scheduler *s, const sennit_mpi_options *options)
{
	sennit_mpi_options o;
	int                err = read_options(&o, options);

	if (!err)
		err = check_mpi();
	if (!err && !(o.flags & SENNIT_MPI_SMALL_STACKS) &&
	    sennit_scheduler_stack_size(s) < SENNIT_MPI_STACK_SIZE)
		err = -ERANGE;
	return err ? err : sn_mpi_engine_start(s, &o);
}

int sennit_mpi_stop(sennit_scheduler *s, sennit_time deadline)
{
	return KEEP_FRAME(sn_mpi_engine_stop(s, deadline));
}

int sennit_mpi_wait(MPI_Request *request, MPI_Status *status,
		    sennit_time deadline)
{
	return KEEP_FRAME(
		sn_mpi_wait(sn_mpi_lane_here(), request, status, deadline));
}

int sennit_mpi_waitall(int count, MPI_Request requests[], MPI_Status *statuses,
		       sennit_time deadline)
{
	return KEEP_FRAME(sn_mpi_waitall(sn_mpi_lane_here(), count, requests,
					 statuses, deadline));
}

int sennit_mpi_waitany(int count, MPI_Request requests[], int *index,
		       MPI_Status *status, sennit_time deadline)
{
	return KEEP_FRAME(sn_mpi_waitany(sn_mpi_lane_here(), count, requests,
					 index, status, deadline));
}

int sennit_mpi_event(MPI_Request *request, sennit_event *event)
{
	struct mpi_lane *l = sn_mpi_lane_here();

	return l ? sn_mpi_event(l, request, event) : -EPERM;
}

void sennit_mpi_enter(void)
{
	sn_mpi_enter();
}

void sennit_mpi_leave(void)
{
	sn_mpi_leave();
}

void sn_mpi_misuse(const char *what, ...)
{
	va_list arguments;

	fputs("sennit: misuse of ", stderr);
	va_start(arguments, what);
	(void)vfprintf(stderr, what, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	abort();
}

/* --- waits ---------------------------------------------------------------- */

/* MPI's waits for requests and for the end of an exposure, and MPI_Finalize. */

int SN_MPI_OURS MPI_Wait(MPI_Request *request, MPI_Status *status)
{
	struct sn_mpi_call c;

	if (!sn_mpi_takes(&c))
		return PMPI_Wait(request, status);
	return sn_mpi_wait(c.lane, request, status, SENNIT_UNCANCELLED);
}

int SN_MPI_OURS MPI_Waitall(int count, MPI_Request requests[],
			    MPI_Status statuses[])
{
	struct sn_mpi_call c;

	if (!sn_mpi_takes(&c))
		return PMPI_Waitall(count, requests, statuses);
	return sn_mpi_waitall(c.lane, count, requests, statuses,
			      SENNIT_UNCANCELLED);
}

int SN_MPI_OURS MPI_Waitany(int count, MPI_Request requests[], int *index,
			    MPI_Status *status)
{
	struct sn_mpi_call c;

	if (!sn_mpi_takes(&c))
		return PMPI_Waitany(count, requests, index, status);
	return sn_mpi_waitany(c.lane, count, requests, index, status,
			      SENNIT_UNCANCELLED);
}

int SN_MPI_OURS MPI_Waitsome(int count, MPI_Request requests[], int *done,
			     int indices[], MPI_Status statuses[])
{
	struct sn_mpi_call c;

	if (!sn_mpi_takes(&c))
		return PMPI_Waitsome(count, requests, done, indices, statuses);
	return sn_mpi_waitsome(c.lane, count, requests, done, indices,
			       statuses);
}

int SN_MPI_OURS MPI_Win_wait(MPI_Win win)
{
	struct sn_mpi_call c;

	if (!sn_mpi_takes(&c))
		return PMPI_Win_wait(win);
	return sn_mpi_win_wait(c.lane, win);
}

/* Finalise MPI. It is misuse while requests are outstanding, because MPI would
 * abort or crash without a message. It is misuse in a fiber, because MPI wants
 * the call on the thread that initialised it, where it may wait for other
 * processes. */
int SN_MPI_OURS MPI_Finalize(void)
{
	uint32_t left;

	if (sn_mpi_lane_here())
		sn_mpi_misuse("MPI_Finalize in a fiber of a scheduler with "
			      "MPI: call sennit_mpi_stop first");
	left = sn_mpi_engines_end();
	if (left)
		sn_mpi_misuse("MPI_Finalize: %u requests are outstanding: call "
			      "sennit_mpi_stop first",
			      left);
	return PMPI_Finalize();
}
