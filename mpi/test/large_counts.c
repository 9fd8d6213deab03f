/* SPDX-License-Identifier: Apache-2.0 */
/* large_counts.c - the calls of MPI 4 with large counts, such as MPI_Bcast_c:
 * in fibers they suspend, and collectives match those with plain counts.
 */
#include "ranks.h"

#if MPI_VERSION >= 4

enum { MOST = 16, TAG = 3, OTHER_TAG };

static MPI_Comm comm;

#define FORM(name) name
#define COUNT      int
#define AT         int
#include "every_collective.h"

#define FORM(name) name##_c
#define COUNT      MPI_Count
#define AT         MPI_Aint
#include "every_collective.h"

static void call_collectives(struct job *j, int large, int in_fiber)
{
	sennit_task_fn *all = large ? do_all_c : do_all;

	if (in_fiber)
		in_task_of(j->s, all, NULL);
	else
		all(NULL);
}

TEST_IN_JOB(collectives_match_plain_ones)
{
	comm = MPI_COMM_WORLD;
	for (int odd = 0; odd < 2; odd++)
		for (int in_fiber = 0; in_fiber < 2; in_fiber++)
			call_collectives(j, rank % 2 == odd, in_fiber);
	for (int odd = 0; odd < 2; odd++)
		call_collectives(j, 1, rank % 2 == odd);
}

/* --- between two -------------------------------------------------------- */

static void receive_from_self(void *unused)
{
	MPI_Message message;
	MPI_Status  status;
	int         value = 0;

	(void)unused;
	for (int i = 0; i < 3; i++) {
		EXPECT(MPI_Recv_c(&value, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD,
				  &status) == MPI_SUCCESS);
		EXPECT(value == i && status.MPI_TAG == TAG);
	}
	MPI_Mprobe(rank, TAG, MPI_COMM_WORLD, &message, &status);
	EXPECT(MPI_Mrecv_c(&value, 1, MPI_INT, &message, &status) ==
	       MPI_SUCCESS);
	EXPECT(value == 3);
}

/* Of its worker: a call that held it up would wait for ever. */
static void send_to_self(void *unused)
{
	struct errand e;
	int           i = 0;

	(void)unused;
	begin_beside(&e, receive_from_self, NULL);
	sennit_yield();
	EXPECT(MPI_Ssend_c(&i, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD) ==
	       MPI_SUCCESS);
	i++;
	EXPECT(MPI_Send_c(&i, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD) ==
	       MPI_SUCCESS);
	while (i < 3) {
		i++;
		sennit_yield(); /* the receive has begun */
		EXPECT(MPI_Ssend_c(&i, 1, MPI_INT, rank, TAG, MPI_COMM_WORLD) ==
		       MPI_SUCCESS);
	}
	end_errand(&e);
}

static void exchange(int tag, int other_tag)
{
	int mine = tag, got = 0;

	EXPECT(MPI_Sendrecv_c(&mine, 1, MPI_INT, rank, tag, &got, 1, MPI_INT,
			      rank, other_tag, MPI_COMM_WORLD,
			      MPI_STATUS_IGNORE) == MPI_SUCCESS);
	EXPECT(got == other_tag);
	EXPECT(MPI_Sendrecv_replace_c(&mine, 1, MPI_INT, rank, tag, rank,
				      other_tag, MPI_COMM_WORLD,
				      MPI_STATUS_IGNORE) == MPI_SUCCESS);
	EXPECT(mine == other_tag);
}

static void exchange_back(void *unused)
{
	(void)unused;
	exchange(OTHER_TAG, TAG);
}

static void exchange_with_self(void *unused)
{
	struct errand e;

	(void)unused;
	begin_beside(&e, exchange_back, NULL);
	sennit_yield();
	exchange(TAG, OTHER_TAG);
	end_errand(&e);
}

TEST_IN_JOB(calls_between_two_suspend)
{
	in_task_of(j->s, send_to_self, NULL);
	in_task_of(j->s, exchange_with_self, NULL);
}

IN_MPI(MPI_THREAD_MULTIPLE);

#else

SKIP_ALL("no large counts before MPI 4");

#endif
