/* SPDX-License-Identifier: Apache-2.0 */
/* collectives.c - MPI's collective calls, made in fibers on some processes and
 * outside of them on others, give what they should. */
#include "ranks.h"

enum { MOST = 16 };

static MPI_Comm comm;

#define FORM(name) name
#define COUNT      int
#define AT         int
#include "every_collective.h"

/* --- where they are called ------------------------------------------------ */

TEST_IN_JOB(collectives_in_fibers)
{
	comm = MPI_COMM_WORLD;
	in_task_of(j->s, do_all, NULL);
}

/* As MPI's blocking and nonblocking collectives do not match, both sides must
 * be translated. */
TEST_IN_JOB(some_in_fibers_and_some_in_threads)
{
	comm = MPI_COMM_WORLD;
	for (int odd = 0; odd < 2; odd++) {
		if (rank % 2 == odd)
			in_task_of(j->s, do_all, NULL);
		else
			do_all(NULL);
	}
}

/* More communicators than workers, at once: each process waits in another one
 * first. */
enum { COMMS = 16, ROUNDS = 100 };

static MPI_Comm comms[COMMS];

static void meet(void *at)
{
	int value = (int)((MPI_Comm *)at - comms), sum = 0;

	for (int i = 0; i < ROUNDS; i++) {
		EXPECT(MPI_Barrier(*(MPI_Comm *)at) == MPI_SUCCESS);
		EXPECT(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM,
				     *(MPI_Comm *)at) == MPI_SUCCESS);
		EXPECT(sum == value * ranks);
	}
}

TEST_IN_JOB(many_collectives_at_once_in_any_order)
{
	struct errand e[COMMS];

	for (int i = 0; i < COMMS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	for (int i = 0; i < COMMS; i++)
		begin_in(j->s, &e[i], meet,
			 &comms[rank % 2 ? i : COMMS - 1 - i]);
	for (int i = 0; i < COMMS; i++)
		end_errand(&e[i]);
	for (int i = 0; i < COMMS; i++)
		MPI_Comm_free(&comms[i]);
}

IN_MPI(MPI_THREAD_MULTIPLE);
