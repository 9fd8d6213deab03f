/* SPDX-License-Identifier: Apache-2.0 */
/* questions.c - MPI's calls that ask and do not wait, made in fibers; and the
 * questions of a fiber that begins to wait, before it is suspended.
 *
 * This program's PMPI_Test and PMPI_Testsome stand before MPI's and count. */
#include "ranks.h"

#include <dlfcn.h>

#define TAG 3

/* --- what is asked -------------------------------------------------------- */

static atomic_int asked, looks;

/* The message comes when the fiber asks for this time; 0: it does not. */
static atomic_int comes_at;

static int sent = 42;

static void come(void)
{
	if (atomic_fetch_add(&asked, 1) + 1 == atomic_load(&comes_at))
		PMPI_Send(&sent, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD);
}

int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
	int (*real)(MPI_Request *, int *, MPI_Status *) = NULL;

	*(void **)&real = dlsym(RTLD_NEXT, "PMPI_Test");
	come();
	return real(request, flag, status);
}

int PMPI_Testsome(int count, MPI_Request requests[], int *done, int indices[],
		  MPI_Status statuses[])
{
	int (*real)(int, MPI_Request[], int *, int[], MPI_Status[]) = NULL;

	*(void **)&real = dlsym(RTLD_NEXT, "PMPI_Testsome");
	atomic_fetch_add(&looks, 1);
	return real(count, requests, done, indices, statuses);
}

/* --- a fiber asks before it is suspended ---------------------------------- */

/* As many as one asks in a row: see mpi/src/suspend.c. */
enum { SOON = 6 };

static void receive_soon(void *unused)
{
	const uint64_t blocks = stats_of(sennit_scheduler_current()).blocks;
	int            got = 0;

	(void)unused;
	atomic_store(&looks, 0);
	atomic_store(&asked, 0);
	atomic_store(&comes_at, SOON);
	EXPECT(MPI_Recv(&got, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE) == MPI_SUCCESS);
	atomic_store(&comes_at, 0);
	EXPECT(got == sent);
	EXPECT(atomic_load(&asked) >= SOON);
	EXPECT(atomic_load(&looks) == 0);
	EXPECT(stats_of(sennit_scheduler_current()).blocks == blocks);
}

TEST_IN_JOB(a_fiber_asks_itself_before_it_is_suspended)
{
	in_task_of(j->s, receive_soon, NULL);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void send_once(void *unused)
{
	(void)unused;
	PMPI_Send(&sent, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD);
}

/* It gives way to a fiber of its worker that is ready. */
static void receive_late(void *unused)
{
	struct errand e;
	int           got = 0;

	(void)unused;
	begin_beside(&e, send_once, NULL);
	EXPECT(MPI_Recv(&got, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD,
			MPI_STATUS_IGNORE) == MPI_SUCCESS);
	EXPECT(got == sent);
	end_errand(&e);
}

TEST_IN_JOB(a_fiber_that_asks_lets_others_run)
{
	for (int i = 0; i < 20; i++)
		in_task_of(j->s, receive_late, NULL);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* --- MPI's own questions -------------------------------------------------- */

enum { SEVERAL = 4 };

struct questions {
	MPI_Request request[SEVERAL];
	int         value[SEVERAL];
};

typedef bool ask_fn(struct questions *q);

/* Each returns whether all have come. */
static bool ask_one_by_one(struct questions *q)
{
	bool all = true;
	int  flag;

	for (int i = 0; i < SEVERAL; i++) {
		EXPECT(MPI_Test(&q->request[i], &flag, MPI_STATUS_IGNORE) ==
		       MPI_SUCCESS);
		all &= flag;
	}
	return all;
}

static bool ask_all(struct questions *q)
{
	int flag;

	EXPECT(MPI_Testall(SEVERAL, q->request, &flag, MPI_STATUSES_IGNORE) ==
	       MPI_SUCCESS);
	return flag;
}

static bool ask_any(struct questions *q)
{
	int index = 0, flag = 0;

	EXPECT(MPI_Testany(SEVERAL, q->request, &index, &flag,
			   MPI_STATUS_IGNORE) == MPI_SUCCESS);
	return flag && index == MPI_UNDEFINED;
}

static bool ask_some(struct questions *q)
{
	int index[SEVERAL], done = 0;

	EXPECT(MPI_Testsome(SEVERAL, q->request, &done, index,
			    MPI_STATUSES_IGNORE) == MPI_SUCCESS);
	return done == MPI_UNDEFINED;
}

static bool ask_status(struct questions *q)
{
	int flag = 0;

	EXPECT(MPI_Request_get_status(q->request[0], &flag,
				      MPI_STATUS_IGNORE) == MPI_SUCCESS);
	return flag && ask_all(q);
}

static void send_several(void *unused)
{
	(void)unused;
	for (int i = 0; i < SEVERAL; i++) {
		int value = 10 * rank + i;

		MPI_Send(&value, 1, MPI_INT, next_rank(), i, MPI_COMM_WORLD);
		sennit_yield();
	}
}

static void ask_until_all_have_come(ask_fn *ask)
{
	struct questions q;
	struct errand    e;

	for (int i = 0; i < SEVERAL; i++)
		MPI_Irecv(&q.value[i], 1, MPI_INT, last_rank(), i,
			  MPI_COMM_WORLD, &q.request[i]);
	begin_beside(&e, send_several, NULL);
	while (!ask(&q))
		sennit_yield();
	for (int i = 0; i < SEVERAL; i++) {
		EXPECT(q.request[i] == MPI_REQUEST_NULL);
		EXPECT(q.value[i] == 10 * last_rank() + i);
	}
	end_errand(&e);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void ask_for_messages(void)
{
	MPI_Message   message = MPI_MESSAGE_NULL;
	MPI_Status    status;
	struct errand e;
	int           flag = 0, got = 0;

	begin_beside(&e, send_several, NULL);
	for (; !flag; sennit_yield())
		EXPECT(MPI_Iprobe(last_rank(), 0, MPI_COMM_WORLD, &flag,
				  &status) == MPI_SUCCESS);
	EXPECT(status.MPI_SOURCE == last_rank());
	for (int i = 0; i < SEVERAL; i++) {
		for (flag = 0; !flag; sennit_yield())
			EXPECT(MPI_Improbe(last_rank(), i, MPI_COMM_WORLD,
					   &flag, &message,
					   &status) == MPI_SUCCESS);
		EXPECT(MPI_Mrecv(&got, 1, MPI_INT, &message, &status) ==
		       MPI_SUCCESS);
		EXPECT(got == 10 * last_rank() + i);
	}
	end_errand(&e);
}

static void ask_each_way(void *unused)
{
	ask_fn *const way[] = { ask_one_by_one, ask_all, ask_any, ask_some,
				ask_status };

	(void)unused;
	for (int i = 0; i < 5; i++)
		ask_until_all_have_come(way[i]);
	ask_for_messages();
	MPI_Barrier(MPI_COMM_WORLD);
}

TEST_IN_JOB(questions_in_fibers_are_answered)
{
	in_task_of(j->s, ask_each_way, NULL);
}

IN_MPI(MPI_THREAD_MULTIPLE);
