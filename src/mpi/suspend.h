/* SPDX-License-Identifier: Apache-2.0 */
/* suspend.h - waiting for requests: a fiber suspends, anybody else asks MPI.
 *
 * Every wait asks MPI first, so what is complete costs no suspension. The lane
 * is that of the caller (sn_mpi_lane_here); with NULL the thread waits. Results
 * are those of sennit/mpi.h.
 */
#ifndef SN_SUSPEND_H
#define SN_SUSPEND_H

#include "mpi/engine.h"
#include "mpi/lane.h"

/* One request. Like MPI_Wait, leaves the field MPI_ERROR of *status. */
int sn_mpi_wait(struct mpi_lane *l, MPI_Request *request, MPI_Status *status,
		sennit_time deadline);

int sn_mpi_waitall(struct mpi_lane *l, int count, MPI_Request requests[],
		   MPI_Status *statuses, sennit_time deadline);

/* Whatever `test` says, with `event` being set by the caller's choice. */
int sn_mpi_wait_polled(struct mpi_lane *l, struct mpi_polled *p,
		       sennit_time deadline);

/* --- polled waits --------------------------------------------------------- */

/* Waits that are not for one request: for one of several requests, some of
 * them, a message to come, the end of an exposure. Results are those of
 * sennit/mpi.h. */

int sn_mpi_waitany(struct mpi_lane *l, int count, MPI_Request requests[],
		   int *index, MPI_Status *status, sennit_time deadline);

int sn_mpi_waitsome(struct mpi_lane *l, int count, MPI_Request requests[],
		    int *done, int indices[], MPI_Status statuses[]);

/* With `message`, as MPI_Mprobe. */
int sn_mpi_probe(struct mpi_lane *l, int source, int tag, MPI_Comm comm,
		 MPI_Message *message, MPI_Status *status);

/* As MPI_Win_wait. */
int sn_mpi_win_wait(struct mpi_lane *l, MPI_Win win);

/* See sennit_mpi_event. Returns 0 or -ENOMEM. */
int sn_mpi_event(struct mpi_lane *l, MPI_Request *request, sennit_event *event);

/* --- takes ---------------------------------------------------------------- */

/* The calls of MPI that this library defines (point.c, mpi.c, collective.c):
 * whether such a call is ours, and how it ends. */

/* In the shared library these are visible, and nothing else of ours but
 * sennit_*. */
#define SN_MPI_OURS SENNIT_API

/* MPI 4 has calls with large counts, such as MPI_Send_c. */
#define SN_MPI_HAS_LARGE (MPI_VERSION >= 4)

/* "misuse of" what, as printf has it, and the end. */
_Noreturn void sn_mpi_misuse(const char *what, ...)
	__attribute__((format(printf, 1, 2)));

struct sn_mpi_call {
	struct mpi_lane *lane;
	MPI_Request      request;
	MPI_Status      *status;
};

/* Whether the caller waits here: it is in a fiber of a scheduler with MPI, or
 * MPI takes one thread at a time, so that nobody may block in it. */
static inline bool sn_mpi_takes(struct sn_mpi_call *c)
{
	c->lane = sn_mpi_lane_here();
	c->request = MPI_REQUEST_NULL;
	c->status = MPI_STATUS_IGNORE;
	return c->lane || sn_mpi_is_serial();
}

/* Collective calls are ours everywhere: see sennit/mpi.h. */
static inline void sn_mpi_take(struct sn_mpi_call *c)
{
	(void)sn_mpi_takes(c);
}

/* Begin call, whose last argument is the request. */
#define SN_MPI_BEGIN(c, call, ...)                        \
	__extension__({                                   \
		int begun_;                               \
		sn_mpi_enter();                           \
		begun_ = call(__VA_ARGS__, &(c).request); \
		sn_mpi_leave();                           \
		begun_;                                   \
	})

/* It has begun with this error: wait, or pass the error on. MPI has called its
 * error handler. MPI's calls have no deadline, and cannot be cancelled. */
static inline int sn_mpi_finish(struct sn_mpi_call *c, int err)
{
	return err ? err
		   : sn_mpi_wait(c->lane, &c->request, c->status,
				 SENNIT_UNCANCELLED);
}

/* A persistent send that has not started, which has had MPI look at its
 * arguments, and a receive that has begun with this error. So a wrong call does
 * neither, as with MPI. Otherwise both are waited for, whatever becomes of the
 * first. */
static inline int sn_mpi_finish_both(struct sn_mpi_call *send,
				     struct sn_mpi_call *receive, int err)
{
	int sent = MPI_SUCCESS;

	if (!err) {
		sn_mpi_enter();
		sent = PMPI_Start(&send->request);
		sn_mpi_leave();
		err = sn_mpi_finish(receive, MPI_SUCCESS);
		sent = sn_mpi_finish(send, sent);
	}
	sn_mpi_enter();
	(void)PMPI_Request_free(&send->request);
	sn_mpi_leave();
	return err ? err : sent;
}

#endif
