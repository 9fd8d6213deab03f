/* SPDX-License-Identifier: Apache-2.0 */
/* wait_graph_vs_locks.c - fibers take two locks in either order, but wait for
 * the second one only in one order, so there is never a deadlock. Others free a
 * lock as soon as its last holder has unlocked it. A thread that looks at the
 * wait-for graph all the time must see no deadlock, and read no lock that is
 * freed (ASan, TSan). */
#include "testing/with_workers.h"
#include "testing/random.h"

#include "sennit/wait_graph.h"

#include <errno.h>

enum { LOCKS = 3, PAIRS = 12, SHARERS = 4 };

struct town {
	sennit_scheduler *s;
	sennit_mutex      locks[LOCKS];
	sennit_rwlock     rwlock;
	atomic_bool       over;
	sennit_wait_group alive;
	atomic_uint       edges; /* seen with a holder */
};

static struct town town;

/* --- two locks ---------------------------------------------------------- */

static void take_both(unsigned first, unsigned second)
{
	sennit_mutex *a = &town.locks[first];
	sennit_mutex *b = &town.locks[second];

	sennit_mutex_lock(a);
	sennit_yield();
	/* Only with first < second may it wait. */
	if (!sennit_mutex_lock_until(b, first < second ? SENNIT_NEVER : 0))
		sennit_mutex_unlock(b);
	sennit_mutex_unlock(a);
}

static void take_rwlock(unsigned lock)
{
	sennit_rwlock_lock(&town.rwlock);
	sennit_yield();
	sennit_rwlock_unlock(&town.rwlock);
	sennit_mutex_lock(&town.locks[lock]);
	sennit_rwlock_lock_shared(&town.rwlock);
	sennit_rwlock_unlock_shared(&town.rwlock);
	sennit_mutex_unlock(&town.locks[lock]);
}

static void take_pairs(void *seed)
{
	uint64_t random = random_stream((uint64_t)(uintptr_t)seed);

	for (unsigned i = 0; i < 20; i++) {
		unsigned first = (unsigned)random_below(&random, LOCKS);
		unsigned second = (unsigned)random_below(&random, LOCKS);

		if (first != second)
			take_both(first, second);
		else
			take_rwlock(first);
	}
	sennit_wait_group_done(&town.alive);
}

/* --- a lock that is freed ----------------------------------------------- */

struct shared {
	sennit_mutex mutex;
	unsigned     sharers; /* under mutex */
};

static void share(void *argument)
{
	struct shared *s = argument;
	bool           last;

	sennit_mutex_lock(&s->mutex);
	sennit_yield();
	last = !--s->sharers;
	sennit_mutex_unlock(&s->mutex);
	if (last)
		free(s);
	sennit_wait_group_done(&town.alive);
}

static void start_sharers(void)
{
	struct shared *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->sharers = SHARERS;
	for (unsigned i = 0; i < SHARERS; i++) {
		must_schedule(share, s);
	}
}

/* --- looking ------------------------------------------------------------ */

static void check(void *unused, const sennit_wait_edge *edge)
{
	EXPECT(!edge->cycle);
	if (edge->holder)
		atomic_fetch_add(&town.edges, 1);
}

static void *look_all_the_time(void *unused)
{
	/* The pause only lets the fibers have the CPU, and the rosters' locks,
	 * for most of the time. */
	while (!atomic_load(&town.over)) {
		EXPECT(!sennit_wait_graph_visit(town.s, check, NULL));
		usleep(300);
	}
	return unused;
}

TEST_WITH_WORKERS(heavy_lock_traffic_is_no_deadlock)
{
	uint64_t  random = random_stream(w->workers);
	uint64_t  rounds = scaled(LOAD(3));
	pthread_t observer;

	memset(&town, 0, sizeof(town));
	town.s = w->s;
	observer = must_start_thread(look_all_the_time, NULL);
	for (uint64_t i = 0; i < rounds || !atomic_load(&town.edges); i++) {
		sennit_wait_group_init(&town.alive, PAIRS * (1 + SHARERS));
		for (unsigned j = 0; j < PAIRS; j++) {
			must_schedule(
				take_pairs,
				(void *)(uintptr_t)random_below(&random, 1000));
			start_sharers();
		}
		sennit_wait_group_wait(&town.alive);
	}
	atomic_store(&town.over, true);
	pthread_join(observer, NULL);
}
