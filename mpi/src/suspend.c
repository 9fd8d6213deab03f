/* SPDX-License-Identifier: Apache-2.0 */
#include "suspend.h"

#include "engine.h"
#include "sennit/fiber.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

/* The pause between two polls of a thread that waits outside fibers with a
 * deadline, or where MPI is serialised. */
#define NAP (SENNIT_MILLISECOND / 4)

/* The number of polls before the first pause. */
#define EAGER 1000

/* Called before poll number `tries`. In a fiber it lets other fibers run.
 * Returns what sennit_sleep_until returns. */
static int pause_before_poll(unsigned tries, sennit_time deadline)
{
	sennit_time next;

	if (deadline != SENNIT_UNCANCELLED && sennit_now() >= deadline)
		return -ETIMEDOUT;
	if (tries < EAGER) {
		sennit_yield();
		return 0;
	}
	next = sennit_after(NAP);
	if (deadline == SENNIT_UNCANCELLED) {
		if (sennit_sleep(NAP)) /* the group is cancelled */
			sennit_yield();
		return 0;
	}
	return sennit_sleep_until(next < deadline ? next : deadline);
}

/* Called before the first poll of an operation that a fiber has begun: see
 * LOOK_SLOW. */
static void let_others_begin(struct mpi_lane *l, sennit_time deadline)
{
	if (l && deadline && unlikely(sn_mpi_lane_is_slow(l)))
		sennit_yield();
}

/* --- one request -------------------------------------------------------- */

/* Copy the status except MPI_ERROR, which MPI's calls for one request do not
 * set. */
static void copy_status(MPI_Status *to, const MPI_Status *from)
{
	int error;

	if (to == MPI_STATUS_IGNORE)
		return;
	error = to->MPI_ERROR;
	*to = *from;
	to->MPI_ERROR = error;
}

static int test(MPI_Request *request, int *flag, MPI_Status *status)
{
	int err;

	sn_mpi_enter();
	err = PMPI_Test(request, flag, status);
	sn_mpi_leave();
	return err;
}

/* Poll at intervals: without a lane, or without memory for one more request in
 * it. */
static int wait_polling(MPI_Request *request, MPI_Status *status,
			sennit_time deadline)
{
	int err = 0;
	int flag = 0;

	for (unsigned tries = 0; !err && !flag; tries++) {
		err = pause_before_poll(tries, deadline);
		if (!err)
			err = test(request, &flag, status);
	}
	return err;
}

/* The number of polls between two yields of a fiber that polls. */
#define IN_A_ROW 8

/* If polls and a yield took longer, in ns, another fiber or thread has run. */
#define ALONE 4000

/* After this time, in ns, such a fiber also lets other threads run: if there
 * are more processes than CPUs, the sender may be one of them. */
#define PATIENCE 3000

/* Returns whether the request is complete, or has failed with *err. */
static bool poll_in_a_row(MPI_Request *request, MPI_Status *status, int *err)
{
	int flag = 0;

	*err = 0;
	for (int i = 0; !flag && !*err && i < IN_A_ROW; i++)
		*err = test(request, &flag, status);
	return flag || *err;
}

/* Poll in the fiber, which is quicker than by its worker, while the worker has
 * nothing else to run. The fiber yields to find out, so that no other fiber
 * starves. Returns whether the request is complete, or has failed with *err. */
static bool poll_directly(struct mpi_lane *l, MPI_Request *request,
			  MPI_Status *status, sennit_time begin,
			  sennit_time deadline, int *err)
{
	sennit_time now = begin;
	sennit_time last = begin;
	sennit_time end = begin + sn_mpi_direct_time(&l->direct, begin);

	while (now < end && now < deadline && now - last < ALONE) {
		if (poll_in_a_row(request, status, err))
			return true;
		if (now - begin > PATIENCE)
			(void)sched_yield();
		sennit_yield();
		last = now;
		now = sennit_now();
	}
	if (end > begin)
		sn_mpi_direct_vain(&l->direct);
	return false;
}

/* Wait for a request in its lane, which may complete it at any time. */
static int wait_posted(struct mpi_lane *l, struct mpi_single *s,
		       sennit_time deadline)
{
	int err = sennit_event_wait_until(&s->ready, deadline);

	return err && sn_mpi_lane_withdraw(l, s) ? err : 0;
}

static int wait_in_lane(struct mpi_lane *l, MPI_Request *request,
			MPI_Status *status, sennit_time deadline)
{
	struct mpi_single s = { .request = *request };
	sennit_time       begin = sennit_now();
	int               err;

	if (!sn_mpi_lane_is_slow(l) &&
	    poll_directly(l, request, status, begin, deadline, &err))
		return err;
	sennit_event_init(&s.ready, SENNIT_EVENT_MANUAL);
	if (!sn_mpi_engine_post(l, &s))
		return wait_polling(request, status, deadline);
	err = wait_posted(l, &s, deadline);
	*request = s.request;
	if (err) {
		sn_mpi_engine_found(l->engine, (struct mpi_found){ .done = 1 });
		return err;
	}
	sn_mpi_direct_found(&l->direct, sennit_now() - begin);
	copy_status(status, &s.status);
	return s.error;
}

static bool may_block(sennit_time deadline)
{
	return deadline >= SENNIT_UNCANCELLED && !sn_mpi_is_serial();
}

int sn_mpi_wait(struct mpi_lane *l, MPI_Request *request, MPI_Status *status,
		sennit_time deadline)
{
	int flag = 0;
	int err;

	if (!l && may_block(deadline))
		return PMPI_Wait(request, status);
	let_others_begin(l, deadline);
	err = test(request, &flag, status);
	if (err || flag)
		return err;
	if (!deadline)
		return -ETIMEDOUT;
	if (l)
		return wait_in_lane(l, request, status, deadline);
	return wait_polling(request, status, deadline);
}

/* --- all of several requests -------------------------------------------- */

static bool is_errno(int err)
{
	return err < 0;
}

/* Wait for one after the other. All are in progress, so this takes no longer
 * than the slowest. */
int sn_mpi_waitall(struct mpi_lane *l, int count, MPI_Request requests[],
		   MPI_Status *statuses, sennit_time deadline)
{
	bool failed = false;

	for (int i = 0; i < count; i++) {
		MPI_Status *status = statuses == MPI_STATUSES_IGNORE
					     ? MPI_STATUS_IGNORE
					     : &statuses[i];
		int err = sn_mpi_wait(l, &requests[i], status, deadline);

		if (is_errno(err))
			return err;
		failed |= err != MPI_SUCCESS;
		if (status != MPI_STATUS_IGNORE)
			status->MPI_ERROR = err;
	}
	return failed ? MPI_ERR_IN_STATUS : MPI_SUCCESS;
}

/* --- anything that can be tested ---------------------------------------- */

static int poll_at_intervals(struct mpi_polled *p, sennit_time deadline)
{
	int err = 0;

	for (unsigned tries = 0; !err && !p->test(p); tries++)
		err = pause_before_poll(tries, deadline);
	return err;
}

int sn_mpi_wait_polled(struct mpi_lane *l, struct mpi_polled *p,
		       sennit_time deadline)
{
	sennit_event ready = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	int          err;

	let_others_begin(l, deadline);
	if (p->test(p))
		return 0;
	if (!deadline)
		return -ETIMEDOUT;
	if (!l)
		return poll_at_intervals(p, deadline);
	p->event = &ready;
	sn_mpi_engine_post_polled(l, p);
	err = sennit_event_wait_until(&ready, deadline);
	if (!err || !sn_mpi_lane_withdraw_polled(l, p))
		return 0;
	sn_mpi_engine_found(l->engine, (struct mpi_found){ .done = 1 });
	return err;
}

/* --- one or some of several requests ------------------------------------ */

struct of_several {
	struct mpi_polled base; /* first */
	int               count;
	MPI_Request      *requests;
	int              *done;     /* from MPI_Testsome; NULL: use
				     * MPI_Testany */
	int              *index;    /* one, or one for each completed request */
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

/* --- an expected message ------------------------------------------------ */

struct coming {
	struct mpi_polled base; /* first */
	int               source;
	int               tag;
	MPI_Comm          comm;
	MPI_Message      *message; /* NULL: any receive may take it */
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

/* --- the end of an exposure --------------------------------------------- */

struct exposure {
	struct mpi_polled base; /* first */
	MPI_Win           win;
	int               error;
};

static bool test_exposure(struct mpi_polled *p)
{
	struct exposure *x = (struct exposure *)p;
	int              flag = 0;

	sn_mpi_enter();
	x->error = PMPI_Win_test(x->win, &flag);
	sn_mpi_leave();
	return flag || x->error;
}

int sn_mpi_win_wait(struct mpi_lane *l, MPI_Win win)
{
	struct exposure x = { .base.test = test_exposure, .win = win };
	int err = sn_mpi_wait_polled(l, &x.base, SENNIT_UNCANCELLED);

	return err ? err : x.error;
}

/* --- an event ----------------------------------------------------------- */

struct announced {
	struct mpi_polled base; /* first */
	MPI_Request      *request;
};

/* An error also completes it: the caller's own test of the request returns
 * it. */
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
	a->base.scheduler = sennit_scheduler_current();
	a->request = request;
	sennit_scheduler_retain(a->base.scheduler);
	sn_mpi_engine_post_polled(l, &a->base);
	return 0;
}
