/* SPDX-License-Identifier: Apache-2.0 */
/* mpi.h - MPI calls that suspend the fiber instead of its thread.
 *
 * In libsennit-mpi, which is built for one MPI implementation:
 * libsennit-mpi-openmpi, libsennit-mpi-mpich. A program that links it before
 * its MPI and calls sennit_mpi_start may make blocking MPI calls in tasks. The
 * library defines MPI_Send, MPI_Recv, MPI_Wait, MPI_Barrier and all others that
 * may wait, with the profiling interface of MPI.
 *	in a fiber of the scheduler   the call begins the operation, and the
 *	                              fiber waits as for an event; or the call
 *	                              runs on a helper thread
 *	                              (sennit/blocking.h), where MPI has no
 *	                              nonblocking form of it
 *	anywhere else                 the call is MPI's own
 * docs/mpi.md has the table.
 *
 * Collective calls are translated to nonblocking ones everywhere in the
 * program, also outside fibers, because the two forms do not match each other.
 * So either all processes of a communicator use the library, or none.
 *
 * Workers test the requests when they have nothing to run, and between fibers.
 * While all workers are in long tasks, a thread of the library tests them.
 * While no request is outstanding, no thread of the library calls MPI.
 *
 * MPI must be initialised with MPI_THREAD_MULTIPLE. With MPI_THREAD_SERIALIZED
 * this library makes its MPI calls under one lock, and the program takes the
 * lock with sennit_mpi_enter for all its other MPI calls. A fiber may then not
 * make calls that would run on a helper thread.
 *
 * Functions return 0, a positive error code of MPI, or a negative errno value.
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_MPI_H
#define SENNIT_MPI_H

#include "sennit/event.h"
#include "sennit/scheduler.h"

#include <mpi.h>

SENNIT_BEGIN

/* The stack size, in bytes, that MPI calls in fibers need, for
 * sennit_config.stack_size. Reductions of MPICH have frames of more than 130
 * KB. */
#define SENNIT_MPI_STACK_SIZE ((size_t)256 * 1024)

/* A flag of sennit_mpi_options: stacks may be smaller than
 * SENNIT_MPI_STACK_SIZE. The program guarantees that they suffice, as they do
 * for calls between two processes, which need some 10 KB. */
#define SENNIT_MPI_SMALL_STACKS UINT32_C(1)

/* Zero means the default in every field. */
typedef struct sennit_mpi_options {
	size_t   size;      /* sizeof(sennit_mpi_options) */
	uint32_t flags;     /* SENNIT_MPI_* */
	uint32_t spin_ns;   /* how long after the last completion an idle worker
			     * tests without a pause, in ns; 0: 200,000 */
	uint32_t nap_ns;    /* longest time between two tests while a request is
			     * outstanding and its worker is idle, in ns; 0:
			     * 1,000,000. If 48 times (20 us plus the time of a
			     * test of all the worker's requests) is longer,
			     * that applies. The completion of a request is
			     * noticed late by at most this time */
	uint32_t reserved_; /* must be 0 */
} sennit_mpi_options;

#define SENNIT_MPI_OPTIONS(...)              \
	SENNIT_CONSTANT_(sennit_mpi_options, \
			 .size = sizeof(sennit_mpi_options), __VA_ARGS__)

/* Let fibers of *s wait in MPI calls, until sennit_mpi_stop. MPI must have been
 * initialised, and must not be finalised before sennit_mpi_stop. *options
 * (NULL: all defaults) is copied. The library starts one thread. Returns 0, or
 *   - -EINVAL if a flag is not known, `reserved_` is not 0, or the size is less
 *     than that of the first version;
 *   - -E2BIG if a newer caller set bytes that this library does not know;
 *   - -EPERM if MPI is not initialised, or finalised;
 *   - -ENOTSUP if MPI's thread level is below MPI_THREAD_SERIALIZED;
 *   - -ERANGE if stacks of *s are smaller than SENNIT_MPI_STACK_SIZE;
 *   - -EBUSY if it was already called for *s;
 *   - -ENOMEM, or -EAGAIN if the system refuses the thread.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_mpi_start(
	sennit_scheduler *s, const sennit_mpi_options *options);

/* Wait until no request is outstanding on *s. After that, MPI calls in its
 * fibers block their thread again. Call it before MPI_Finalize. *s may already
 * have ended: its end waits for all requests that fibers wait for, and for
 * those of sennit_mpi_event. It is misuse to begin further waits during the
 * call. Returns 0, -ETIMEDOUT or -ECANCELED if requests are outstanding at the
 * deadline, or -ENOENT without a sennit_mpi_start. On error nothing changes.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_mpi_stop(sennit_scheduler *s,
					       sennit_time       deadline);

/* --- waiting with a deadline ---------------------------------------------- */

/* Wait until *request is complete, like MPI_Wait, or the deadline passes. In a
 * fiber of a scheduler without MPI, and on an unbound thread, a call with a
 * deadline tests the request at intervals. Returns 0 or the error of the
 * request, as MPI_Wait does, or -ETIMEDOUT, or -ECANCELED if the caller's group
 * is cancelled. After the last two *request is unchanged: it is active, and its
 * buffer is in use. The caller then waits again. For a receive it may first
 * cancel the request and then wait with SENNIT_UNCANCELLED:
 *
 *	err = sennit_mpi_wait(&request, &status, deadline);
 *	if (err == -ETIMEDOUT || err == -ECANCELED) {
 *		MPI_Cancel(&request);
 *		err = sennit_mpi_wait(&request, &status, SENNIT_UNCANCELLED);
 *		MPI_Test_cancelled(&status, &cancelled); // 0: it came first
 *	}
 *
 * A send cannot be cancelled in this way: MPI reports the cancellation of sends
 * long before their buffers are free.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_mpi_wait(MPI_Request *request,
					       MPI_Status  *status,
					       sennit_time  deadline);

/* Like sennit_mpi_wait, for all of requests[0..count-1], as MPI_Waitall.
 * statuses may be MPI_STATUSES_IGNORE. Returns MPI_ERR_IN_STATUS if a request
 * failed, as MPI_Waitall does. After -ETIMEDOUT and -ECANCELED the requests
 * that are complete are MPI_REQUEST_NULL (or inactive) and have their status,
 * and the others are active.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_mpi_waitall(int         count,
						  MPI_Request requests[],
						  MPI_Status *statuses,
						  sennit_time deadline);

/* Like sennit_mpi_wait, for one of requests[0..count-1], as MPI_Waitany. Set
 * *index to its index, or to MPI_UNDEFINED if none is active. Returns what
 * sennit_mpi_wait() returns; on -ETIMEDOUT and -ECANCELED nothing changes.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_mpi_waitany(int         count,
						  MPI_Request requests[],
						  int        *index,
						  MPI_Status *status,
						  sennit_time deadline);

/* Set *event when *request is complete, so that select, groups and
 * sennit_event_wait_any can wait for it. The request still belongs to the
 * caller: after the event it passes *request to MPI_Wait or MPI_Test, which
 * returns the status and does not wait. Until then *request and *event must
 * exist, and only MPI_Cancel may use *request. The scheduler does not end
 * before the event is set.
 * Returns 0, -ENOMEM, or -EPERM if the caller is not in a fiber of a scheduler
 * with MPI.
 *
 * From: fiber.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_mpi_event(MPI_Request  *request,
						sennit_event *event);

/* --- MPI_THREAD_SERIALIZED ------------------------------------------------ */

/* Take or release the lock under which this library calls MPI if MPI was
 * initialised with MPI_THREAD_SERIALIZED. The program takes it for each MPI
 * call that does not suspend, such as MPI_Isend, and, outside fibers, for
 * MPI_Comm_split and other calls that run on a helper thread. While it has the
 * lock, the program must not call a function of this library, nor wait. With
 * MPI_THREAD_MULTIPLE both calls do nothing.
 *
 * From: fiber, thread.  Blocks: yes (the thread, for one MPI call).  */
SENNIT_API void sennit_mpi_enter(void);
SENNIT_API void sennit_mpi_leave(void);

SENNIT_END

#endif
