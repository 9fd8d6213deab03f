/* SPDX-License-Identifier: Apache-2.0 */
/* mpi.c - starting and stopping; waits with a deadline, for one request, for
 * all and for any; requests as events. */
#include "ranks.h"

#define TAG 11

/* --- starting and stopping ------------------------------------------------ */

TEST(small_stacks_are_refused)
{
	const sennit_mpi_options small = { .size = sizeof(small),
					   .flags = SENNIT_MPI_SMALL_STACKS };
	sennit_scheduler        *s = start_with(
		       SENNIT_CONFIG(.workers = 1, .stack_size = 64 * 1024));

	assert_int_equal(sennit_mpi_start(s, NULL), -ERANGE);
	assert_int_equal(sennit_mpi_start(s, &small), 0);
	assert_int_equal(sennit_mpi_stop(s, SENNIT_NEVER), 0);
	end_scheduler(s);
}

TEST_IN_JOB(wrong_options_are_refused)
{
	struct {
		sennit_mpi_options known;
		uint64_t           more;
	} newer = { .known = { .size = sizeof(newer) }, .more = 1 };
	sennit_mpi_options o = { .size = 1 };

	assert_int_equal(sennit_mpi_start(j->s, &o), -EINVAL);
	assert_int_equal(sennit_mpi_start(j->s, &newer.known), -E2BIG);
	o = (sennit_mpi_options){ .size = sizeof(o), .flags = 1u << 31 };
	assert_int_equal(sennit_mpi_start(j->s, &o), -EINVAL);
	o = (sennit_mpi_options){ .size = sizeof(o), .reserved_ = 1 };
	assert_int_equal(sennit_mpi_start(j->s, &o), -EINVAL);
}

static void meet_others(void *unused)
{
	(void)unused;
	EXPECT(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
}

static void begin_event_in_vain(void *event)
{
	MPI_Request request = MPI_REQUEST_NULL;

	EXPECT(sennit_mpi_event(&request, event) == -EPERM);
}

TEST_IN_JOB(it_stops_and_starts_again)
{
	sennit_event e = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);

	for (int i = 0; i < 10; i++) {
		assert_int_equal(sennit_mpi_start(j->s, NULL), -EBUSY);
		in_task_of(j->s, meet_others, NULL);
		assert_int_equal(sennit_mpi_stop(j->s, SENNIT_NEVER), 0);
		assert_int_equal(sennit_mpi_stop(j->s, SENNIT_NEVER), -ENOENT);
		in_task_of(j->s, meet_others, NULL);
		in_task_of(j->s, begin_event_in_vain, &e);
		begin_event_in_vain(&e);
		assert_int_equal(sennit_mpi_start(j->s, NULL), 0);
	}
}

TEST_IN_JOB(two_schedulers_wait_in_mpi)
{
	sennit_scheduler *other = start_mpi_scheduler(1);

	in_task_of(j->s, meet_others, NULL);
	in_task_of(other, meet_others, NULL);
	in_task_of(j->s, meet_others, NULL);
	end_scheduler(other); /* in either order */
	assert_int_equal(sennit_mpi_stop(other, SENNIT_NEVER), 0);
}

/* --- deadlines ------------------------------------------------------------ */

static int number(int i)
{
	return 1000 * rank + i;
}

static int last_number(int i)
{
	return 1000 * last_rank() + i;
}

static void send_number(int i)
{
	int value = number(i);

	EXPECT(MPI_Send(&value, 1, MPI_INT, next_rank(), TAG, MPI_COMM_WORLD) ==
	       MPI_SUCCESS);
}

/* No process sends before all have given up; then all send. */
static void give_up_and_wait_again(void *unused)
{
	MPI_Request request;
	MPI_Status  status;
	int         value = -1;

	(void)unused;
	MPI_Irecv(&value, 1, MPI_INT, last_rank(), TAG, MPI_COMM_WORLD,
		  &request);
	EXPECT(sennit_mpi_wait(&request, &status, 0) == -ETIMEDOUT);
	for (int i = 0; i < 10; i++)
		EXPECT(sennit_mpi_wait(&request, &status,
				       sennit_after(SENNIT_MICROSECOND)) ==
		       -ETIMEDOUT);
	EXPECT(request != MPI_REQUEST_NULL && value == -1);
	MPI_Barrier(MPI_COMM_WORLD);
	send_number(3);
	EXPECT(sennit_mpi_wait(&request, &status, SENNIT_NEVER) == 0);
	EXPECT(request == MPI_REQUEST_NULL && value == last_number(3));
	EXPECT(status.MPI_TAG == TAG);
	MPI_Barrier(MPI_COMM_WORLD);
}

TEST_IN_JOB(a_request_outlives_its_deadlines)
{
	in_task_of(j->s, give_up_and_wait_again, NULL);
	give_up_and_wait_again(NULL);
}

enum { ROUNDS = 200 };

static void send_rounds(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++)
		send_number(i);
}

/* What the comment of sennit_mpi_wait shows: no message is lost or comes out of
 * order, whether the receive was cancelled or the message came first. */
static void cancel_receives(void *unused)
{
	struct errand e;
	int           value, cancelled, got = 0;

	(void)unused;
	begin_beside(&e, send_rounds, NULL);
	while (got < ROUNDS) {
		MPI_Request request;
		MPI_Status  status;
		int         err;

		cancelled = 0;
		MPI_Irecv(&value, 1, MPI_INT, last_rank(), TAG, MPI_COMM_WORLD,
			  &request);
		err = sennit_mpi_wait(&request, &status,
				      sennit_after((uint64_t)(got % 5 * 500)));
		if (err == -ETIMEDOUT) {
			MPI_Cancel(&request);
			err = sennit_mpi_wait(&request, &status,
					      SENNIT_UNCANCELLED);
			MPI_Test_cancelled(&status, &cancelled);
		}
		EXPECT(err == 0);
		if (cancelled)
			continue;
		EXPECT(value == last_number(got));
		got++;
	}
	end_errand(&e);
	MPI_Barrier(MPI_COMM_WORLD);
}

TEST_IN_JOB(cancelled_receives_lose_no_message)
{
	in_task_of(j->s, cancel_receives, NULL);
}

static int wait_in_group(void *at)
{
	MPI_Request *request = at;
	MPI_Status   status;

	EXPECT(sennit_mpi_wait(request, &status, SENNIT_NEVER) == -ECANCELED);
	return 0;
}

static void cancel_group(void *unused)
{
	MPI_Request  request;
	sennit_group g;
	int          value = -1;

	(void)unused;
	MPI_Irecv(&value, 1, MPI_INT, last_rank(), TAG, MPI_COMM_WORLD,
		  &request);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	EXPECT(sennit_group_spawn(&g, wait_in_group, &request) == 0);
	sennit_sleep(SENNIT_MILLISECOND);
	sennit_group_cancel(&g);
	(void)sennit_group_wait(&g);
	MPI_Barrier(MPI_COMM_WORLD);
	send_number(9);
	EXPECT(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
	EXPECT(value == last_number(9));
}

TEST_IN_JOB(cancelling_a_group_ends_its_waits)
{
	in_task_of(j->s, cancel_group, NULL);
}

/* --- several -------------------------------------------------------------- */

enum { SEVERAL = 5 };

static void begin_receives(MPI_Request request[], int value[])
{
	for (int i = 0; i < SEVERAL; i++) {
		value[i] = -1;
		MPI_Irecv(&value[i], 1, MPI_INT, last_rank(), i, MPI_COMM_WORLD,
			  &request[i]);
	}
}

static void send_tagged(int tag)
{
	int value = number(tag);

	MPI_Send(&value, 1, MPI_INT, next_rank(), tag, MPI_COMM_WORLD);
}

/* A request has its status after the call that completes it alone. */
static void wait_a_little(MPI_Request request[])
{
	MPI_Status status[SEVERAL];
	bool       waits[SEVERAL];

	for (int i = 0; i < SEVERAL; i++)
		waits[i] = request[i] != MPI_REQUEST_NULL;
	EXPECT(sennit_mpi_waitall(SEVERAL, request, status,
				  sennit_after(1000)) == -ETIMEDOUT);
	for (int i = 0; i < SEVERAL; i++)
		if (waits[i] && request[i] == MPI_REQUEST_NULL)
			EXPECT(status[i].MPI_TAG == i);
}

static void wait_for_all(void *unused)
{
	MPI_Request request[SEVERAL];
	int         value[SEVERAL];

	(void)unused;
	begin_receives(request, value);
	send_tagged(0);
	send_tagged(1);
	while (request[0] != MPI_REQUEST_NULL || request[1] != MPI_REQUEST_NULL)
		wait_a_little(request);
	EXPECT(request[2] != MPI_REQUEST_NULL && value[2] == -1);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 2; i < SEVERAL; i++)
		send_tagged(i);
	EXPECT(sennit_mpi_waitall(SEVERAL, request, MPI_STATUSES_IGNORE,
				  SENNIT_NEVER) == 0);
	for (int i = 0; i < SEVERAL; i++)
		EXPECT(value[i] == last_number(i));
	MPI_Barrier(MPI_COMM_WORLD);
}

static void wait_for_any(void *unused)
{
	MPI_Request request[SEVERAL];
	MPI_Status  status;
	int         value[SEVERAL], index = 99;

	(void)unused;
	begin_receives(request, value);
	EXPECT(sennit_mpi_waitany(SEVERAL, request, &index, &status,
				  sennit_after(1000)) == -ETIMEDOUT);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = SEVERAL; i-- > 0;) {
		send_tagged(i);
		EXPECT(sennit_mpi_waitany(SEVERAL, request, &index, &status,
					  SENNIT_NEVER) == 0);
		EXPECT(status.MPI_TAG == index);
		EXPECT(value[index] == last_number(index));
		value[index] = -1; /* each once */
	}
	EXPECT(sennit_mpi_waitany(SEVERAL, request, &index, &status,
				  SENNIT_NEVER) == 0);
	EXPECT(index == MPI_UNDEFINED);
	MPI_Barrier(MPI_COMM_WORLD);
}

TEST_IN_JOB(waits_for_several_have_deadlines)
{
	in_task_of(j->s, wait_for_all, NULL);
	in_task_of(j->s, wait_for_any, NULL);
	wait_for_all(NULL);
	wait_for_any(NULL);
}

/* --- events --------------------------------------------------------------- */

static void wait_for_events(void *unused)
{
	MPI_Request   request[SEVERAL];
	MPI_Status    status;
	sennit_event  event[SEVERAL];
	sennit_event *of[SEVERAL];
	int           value[SEVERAL];
	size_t        which;

	(void)unused;
	begin_receives(request, value);
	for (int i = 0; i < SEVERAL; i++) {
		sennit_event_init(&event[i], SENNIT_EVENT_AUTO);
		of[i] = &event[i];
		EXPECT(sennit_mpi_event(&request[i], &event[i]) == 0);
	}
	EXPECT(sennit_event_wait_any_until(of, SEVERAL, &which,
					   sennit_after(1000)) == -ETIMEDOUT);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = SEVERAL; i-- > 0;) {
		int flag = 0;

		send_tagged(i);
		EXPECT(!sennit_event_wait_any(of, SEVERAL, &which));
		MPI_Test(&request[which], &flag, &status);
		EXPECT(flag && status.MPI_TAG == (int)which);
		EXPECT(value[which] == last_number((int)which));
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

TEST_IN_JOB(events_tell_of_requests)
{
	in_task_of(j->s, wait_for_events, NULL);
}

static int begin_all(void)
{
	sennit_scheduler *s =
		start_with(SENNIT_CONFIG(.workers = 1,
					 .stack_size = SENNIT_MPI_STACK_SIZE));
	int before = sennit_mpi_start(s, NULL); /* MPI is not initialised */

	EXPECT(before == -EPERM);
	end_scheduler(s);
	return 0;
}

BEFORE_ALL(begin_all);
IN_MPI(MPI_THREAD_MULTIPLE);
