/* SPDX-License-Identifier: Apache-2.0 */
/* starts.c - of several starts of MPI for one scheduler one succeeds, whatever
 * their order. A pthread_create() of this program has another start happen in
 * the middle of one. */
#include "ranks.h"

#include "testing/next_create.h"

static sennit_scheduler *nested; /* whose start is begun once more, or NULL */
static int               inner;

int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
		   void *(*run)(void *), void              *argument)
{
	sennit_scheduler *s = nested;

	nested = NULL;
	if (s)
		inner = sennit_mpi_start(s, NULL);
	return next_create()(thread, attr, run, argument);
}

static void stop(sennit_scheduler *s)
{
	assert_int_equal(sennit_mpi_stop(s, SENNIT_NEVER), 0);
	assert_int_equal(sennit_mpi_stop(s, SENNIT_NEVER), -ENOENT);
}

TEST(one_of_two_starts_succeeds)
{
	sennit_scheduler *s =
		start_with(SENNIT_CONFIG(.workers = 1,
					 .stack_size = SENNIT_MPI_STACK_SIZE));
	int outer;

	inner = 1;
	nested = s;
	outer = sennit_mpi_start(s, NULL);
	assert_int_equal(inner, 0);
	assert_int_equal(outer, -EBUSY);
	stop(s);
	end_scheduler(s);
}

/* --- at any time ---------------------------------------------------------- */

enum { STARTERS = 4, ROUNDS = 50 };

static sennit_scheduler *contested;
static pthread_barrier_t line;
static atomic_int        won;

static void *start_often(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		int err;

		pthread_barrier_wait(&line);
		err = sennit_mpi_start(contested, NULL);
		EXPECT(err == 0 || err == -EBUSY);
		atomic_fetch_add(&won, err == 0);
		if (pthread_barrier_wait(&line) !=
		    PTHREAD_BARRIER_SERIAL_THREAD)
			continue;
		EXPECT(atomic_exchange(&won, 0) == 1);
		EXPECT(sennit_mpi_stop(contested, SENNIT_NEVER) == 0);
		EXPECT(sennit_mpi_stop(contested, SENNIT_NEVER) == -ENOENT);
	}
	return NULL;
}

/* The stopping task reaches the next line last, so none starts meanwhile. */
TEST(one_of_many_starts_succeeds)
{
	pthread_t threads[STARTERS];

	contested =
		start_with(SENNIT_CONFIG(.workers = 1,
					 .stack_size = SENNIT_MPI_STACK_SIZE));
	pthread_barrier_init(&line, NULL, STARTERS);
	for (int i = 0; i < STARTERS; i++)
		assert_int_equal(
			pthread_create(&threads[i], NULL, start_often, NULL),
			0);
	for (int i = 0; i < STARTERS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&line);
	end_scheduler(contested);
}

IN_MPI(MPI_THREAD_MULTIPLE);
