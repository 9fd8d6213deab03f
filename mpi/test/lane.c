/* SPDX-License-Identifier: Apache-2.0 */
/* lane.c - a look at a lane finds what has come, and leaves what has not. */
#include "ranks.h"

#include "../src/lane.h"

#define TAG 31

enum { SEVERAL = 100 };

static struct mpi_single single[SEVERAL];
static int               value[SEVERAL];

static struct mpi_lane *lane_of_receives(int count)
{
	struct mpi_lane *l = sn_mpi_lane_create(NULL, 1, 1000);

	assert_non_null(l);
	for (int i = 0; i < count; i++) {
		single[i] = (struct mpi_single){ .done = false };
		value[i] = -1;
		PMPI_Irecv(&value[i], 1, MPI_INT, last_rank(), TAG + i,
			   MPI_COMM_WORLD, &single[i].request);
		assert_true(sn_mpi_lane_post(l, &single[i]));
	}
	return l;
}

/* Without a call of MPI in the process that waits. */
static void await(int process)
{
	const sennit_time end = sennit_after(GIVE_UP);

	while (!atomic_load(&told[process]) && sennit_now() < end)
		usleep(100);
	assert_true(atomic_load(&told[process]));
}

static uint32_t look(struct mpi_lane *l)
{
	uint32_t done;

	pthread_mutex_lock(&l->lock);
	done = sn_mpi_lane_poll(l, sennit_now(), sn_mpi_lane_cpu(), 0).done;
	pthread_mutex_unlock(&l->lock);
	return done;
}

/* Process 0 calls nothing of MPI between the time when the message is sent and
 * the look. */
TEST(a_look_finds_what_came_during_a_nap)
{
	struct mpi_lane *l;

	share_memory();
	if (!rank) {
		l = lane_of_receives(1);
		atomic_store(&told[0], 1);
		if (ranks == 1)
			PMPI_Send(&rank, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
		else
			await(1);
		assert_int_equal(look(l), 1);
		assert_true(sn_mpi_lane_is_empty(l));
		assert_true(sennit_event_is_set(&single[0].ready));
		assert_int_equal(value[0], last_rank());
		sn_mpi_lane_free(l);
	} else if (rank == ranks - 1) {
		await(0);
		PMPI_Send(&rank, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
		atomic_store(&told[1], 1);
	}
	PMPI_Barrier(MPI_COMM_WORLD);
}

/* Every third, then the rest, from the end. */
static bool comes_first(int i)
{
	return i % 3 == 0 || i == SEVERAL - 1;
}

static void send_those(bool first)
{
	for (int i = 0; i < SEVERAL; i++)
		if (comes_first(i) == first)
			PMPI_Send(&i, 1, MPI_INT, next_rank(), TAG + i,
				  MPI_COMM_WORLD);
}

TEST(places_stay_right_when_some_have_come)
{
	struct mpi_lane *l = lane_of_receives(SEVERAL);
	uint32_t         left = SEVERAL;

	PMPI_Barrier(MPI_COMM_WORLD);
	send_those(true);
	for (int i = 0; i < SEVERAL; i++)
		left -= comes_first(i);
	while (l->count > left)
		(void)look(l);
	for (uint32_t i = 0; i < l->count; i++)
		assert_int_equal(l->single[i]->at, i);
	for (int i = 0; i < SEVERAL; i++)
		assert_int_equal(single[i].done, comes_first(i));
	PMPI_Barrier(MPI_COMM_WORLD);
	send_those(false);
	while (l->count)
		(void)look(l);
	for (int i = 0; i < SEVERAL; i++)
		assert_true(single[i].done && value[i] == i);
	sn_mpi_lane_free(l);
	PMPI_Barrier(MPI_COMM_WORLD);
}

static bool sleeps(struct mpi_polled *unused)
{
	(void)unused;
	usleep(20000);
	return false;
}

/* As a look does in which MPI lets all other processes of a loaded machine run.
 * The nap that pays for such a time would last for a second. */
TEST(a_look_costs_its_own_cpu_time)
{
	struct mpi_lane  *l = sn_mpi_lane_create(NULL, 1, 1000000);
	struct mpi_polled p = { .test = sleeps };

	assert_non_null(l);
	sn_mpi_lane_post_polled(l, &p);
	for (int i = 0; i < 3; i++) /* the first ones are eager */
		assert_int_equal(look(l), 0);
	assert_true(l->again < sennit_now() + 20000000);
	assert_true(sn_mpi_lane_is_slow(l));
	assert_true(sn_mpi_lane_withdraw_polled(l, &p));
	sn_mpi_lane_free(l);
}

static int begin_all(void)
{
	alarm(400);
	return 0;
}

BEFORE_ALL(begin_all);
IN_MPI(MPI_THREAD_MULTIPLE);
