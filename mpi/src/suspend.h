/* SPDX-License-Identifier: Apache-2.0 */
/* suspend.h - waits for requests: a fiber suspends, any other caller polls.
 *
 * Every wait tests the request first, so a complete one costs no suspension.
 * `l` is the lane of the caller (sn_mpi_lane_here); if it is NULL the thread
 * waits. Results are those of sennit/mpi.h.
 */
#ifndef SN_SUSPEND_H
#define SN_SUSPEND_H

#include "engine.h"
#include "lane.h"

/* Wait for one request. Like MPI_Wait, leaves MPI_ERROR of *status
 * unchanged. */
int sn_mpi_wait(struct mpi_lane *l, MPI_Request *request, MPI_Status *status,
		sennit_time deadline);

int sn_mpi_waitall(struct mpi_lane *l, int count, MPI_Request requests[],
		   MPI_Status *statuses, sennit_time deadline);

/* Wait until p->test returns true. The caller has chosen p->event. */
int sn_mpi_wait_polled(struct mpi_lane *l, struct mpi_polled *p,
		       sennit_time deadline);

/* --- polled waits --------------------------------------------------------- */

/* Waits that are not for one request: for one or some of several requests, an
 * expected message, the end of an exposure. Results are those of
 * sennit/mpi.h. */

int sn_mpi_waitany(struct mpi_lane *l, int count, MPI_Request requests[],
		   int *index, MPI_Status *status, sennit_time deadline);

int sn_mpi_waitsome(struct mpi_lane *l, int count, MPI_Request requests[],
		    int *done, int indices[], MPI_Status statuses[]);

/* Wait for a message. With `message`, as MPI_Mprobe. */
int sn_mpi_probe(struct mpi_lane *l, int source, int tag, MPI_Comm comm,
		 MPI_Message *message, MPI_Status *status);

/* Like MPI_Win_wait. */
int sn_mpi_win_wait(struct mpi_lane *l, MPI_Win win);

/* See sennit_mpi_event. Returns 0 or -ENOMEM. */
int sn_mpi_event(struct mpi_lane *l, MPI_Request *request, sennit_event *event);

/* --- MPI calls ------------------------------------------------------------ */

/* The MPI calls that this library defines (point.c, mpi.c, collective.c):
 * whether a call waits here or in MPI, and how it ends. */

/* Exported by the shared library, which otherwise exports only sennit_*. */
#define SN_MPI_OURS SENNIT_API

/* MPI 4 has calls with large counts, such as MPI_Send_c. */
#define SN_MPI_HAS_LARGE (MPI_VERSION >= 4)

/* Print "misuse of" and the formatted text, and abort. */
_Noreturn void sn_mpi_misuse(const char *what, ...)
	__attribute__((format(printf, 1, 2)));

struct sn_mpi_call {
	struct mpi_lane *lane;
	MPI_Request      request;
	MPI_Status      *status;
};

/* Report whether the caller waits here: it is in a fiber of a scheduler with
 * MPI, or MPI allows one thread at a time, so that no thread may block in
 * it. */
static inline bool sn_mpi_takes(struct sn_mpi_call *c)
{
	c->lane = sn_mpi_lane_here();
	c->request = MPI_REQUEST_NULL;
	c->status = MPI_STATUS_IGNORE;
	return c->lane || sn_mpi_is_serial();
}

/* Collective calls wait here everywhere: see sennit/mpi.h. */
static inline void sn_mpi_take(struct sn_mpi_call *c)
{
	(void)sn_mpi_takes(c);
}

/* Make a call whose last argument is the request. */
#define SN_MPI_BEGIN(c, call, ...)                        \
	__extension__({                                   \
		int begun_;                               \
		sn_mpi_enter();                           \
		begun_ = call(__VA_ARGS__, &(c).request); \
		sn_mpi_leave();                           \
		begun_;                                   \
	})

/* The call has begun with this error: wait, or return the error. MPI has called
 * its error handler. MPI's calls have no deadline and cannot be cancelled. */
static inline int sn_mpi_finish(struct sn_mpi_call *c, int err)
{
	return err ? err
		   : sn_mpi_wait(c->lane, &c->request, c->status,
				 SENNIT_UNCANCELLED);
}

/* Finish a send and a receive. The send is persistent and not started, so MPI
 * has checked its arguments; the receive has begun with this error. So a wrong
 * call does neither, as with MPI. Otherwise wait for both, whatever the result
 * of the first. */
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
