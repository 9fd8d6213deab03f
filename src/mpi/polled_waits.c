/* SPDX-License-Identifier: Apache-2.0 */
#include "mpi/polled_waits.h"

#include "mpi/engine.h"
#include "mpi/serial.h"
#include "mpi/suspend.h"

#include <errno.h>
#include <stdlib.h>

/* --- one of several, some of several ------------------------------------ */

struct of_several {
	struct mpi_polled base; /* first */
	int               count;
	MPI_Request      *requests;
	int              *done;     /* of MPI_Testsome; NULL: MPI_Testany */
	int              *index;    /* one, or as many as are done */
	MPI_Status       *statuses; /* likewise */
	int               error;
};

static bool test_several(struct mpi_polled *p)
{
	struct of_several *s = (struct of_several *)p;
	int                flag = 0;

	sn_mpi_enter();
	if (s->done) {
		s->error = PMPI_Testsome(s->count, s->requests, s->done,
					 s->index, s->statuses);
		flag = *s->done != 0;
	} else {
		s->error = PMPI_Testany(s->count, s->requests, s->index, &flag,
					s->statuses);
	}
	sn_mpi_leave();
	return flag || s->error;
}

int sn_mpi_waitany(struct mpi_lane *l, int count, MPI_Request requests[],
		   int *index, MPI_Status *status, sennit_time deadline)
{
	struct of_several s = {
		.base.test = test_several,
		.count = count,
		.requests = requests,
		.index = index,
		.statuses = status,
	};
	int err = sn_mpi_wait_polled(l, &s.base, deadline);

	return err ? err : s.error;
}

int sn_mpi_waitsome(struct mpi_lane *l, int count, MPI_Request requests[],
		    int *done, int indices[], MPI_Status statuses[])
{
	struct of_several s = {
		.base.test = test_several,
		.count = count,
		.requests = requests,
		.done = done,
		.index = indices,
		.statuses = statuses,
	};
	int err = sn_mpi_wait_polled(l, &s.base, SENNIT_UNCANCELLED);

	return err ? err : s.error;
}

/* --- a message to come -------------------------------------------------- */

struct coming {
	struct mpi_polled base; /* first */
	int               source;
	int               tag;
	MPI_Comm          comm;
	MPI_Message      *message; /* NULL: it stays for any receive */
	MPI_Status       *status;
	int               error;
};

static bool test_coming(struct mpi_polled *p)
{
	struct coming *c = (struct coming *)p;
	int            flag = 0;

	sn_mpi_enter();
	if (c->message)
		c->error = PMPI_Improbe(c->source, c->tag, c->comm, &flag,
					c->message, c->status);
	else
		c->error = PMPI_Iprobe(c->source, c->tag, c->comm, &flag,
				       c->status);
	sn_mpi_leave();
	return flag || c->error;
}

int sn_mpi_probe(struct mpi_lane *l, int source, int tag, MPI_Comm comm,
		 MPI_Message *message, MPI_Status *status)
{
	struct coming c = {
		.base.test = test_coming,
		.source = source,
		.tag = tag,
		.comm = comm,
		.message = message,
		.status = status,
	};
	int err = sn_mpi_wait_polled(l, &c.base, SENNIT_UNCANCELLED);

	return err ? err : c.error;
}

/* --- an event ----------------------------------------------------------- */

struct announced {
	struct mpi_polled base; /* first */
	MPI_Request      *request;
};

/* An error, too, is for the caller's own test of the request. */
static bool test_announced(struct mpi_polled *p)
{
	struct announced *a = (struct announced *)p;
	int               flag = 0;
	int               err;

	sn_mpi_enter();
	err = PMPI_Request_get_status(*a->request, &flag, MPI_STATUS_IGNORE);
	sn_mpi_leave();
	return flag || err;
}

int sn_mpi_event(struct mpi_lane *l, MPI_Request *request, sennit_event *event)
{
	struct announced *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->base.test = test_announced;
	a->base.event = event;
	a->base.scheduler = sennit_current();
	a->request = request;
	sennit_scheduler_retain(a->base.scheduler);
	sn_mpi_engine_post_polled(l, &a->base);
	return 0;
}
