/* SPDX-License-Identifier: Apache-2.0 */
/* sync.c - reader-writer lock, semaphore, barrier and once, in many orders: a
 * waiter that gives up leaves no other waiting, and a waiter that returns may
 * free the object. */
#include "explore.h"

static sennit_time soon(void)
{
	return sennit_after(5 * SENNIT_MICROSECOND);
}

static void begin_all(sennit_task_fn *const tasks[], unsigned n,
		      sennit_wait_group *done)
{
	sennit_wait_group_init(done, n);
	for (unsigned i = 0; i < n; i++)
		spawn(tasks[i], NULL);
}

/* --- readers behind a writer that gives up -------------------------------- */

static struct {
	sennit_rwlock     lock;
	sennit_wait_group done;
	unsigned          left, right; /* under lock: always equal */
	unsigned          late;        /* counted by the writers with
				        * deadlines */
} book;

static void read_it(void *unused)
{
	unsigned left;

	(void)unused;
	sennit_rwlock_lock_shared(&book.lock);
	left = book.left;
	sennit_yield();
	REQUIRE(left == book.right && left == book.left);
	sennit_rwlock_unlock_shared(&book.lock);
	sennit_wait_group_done(&book.done);
}

static void write_locked(void)
{
	book.left++;
	sennit_yield();
	book.right++;
	sennit_rwlock_unlock(&book.lock);
}

static void write_it(void *unused)
{
	(void)unused;
	sennit_rwlock_lock(&book.lock);
	write_locked();
	sennit_wait_group_done(&book.done);
}

static void write_in_time(void *unused)
{
	(void)unused;
	if (sennit_rwlock_lock_until(&book.lock, soon()))
		__atomic_add_fetch(&book.late, 1, __ATOMIC_RELAXED);
	else
		write_locked();
	sennit_wait_group_done(&book.done);
}

/* Hold a read lock until all readers have been in. Only the waiting writer
 * keeps them out, until it gives up. */
static void read_behind_writers(void *unused)
{
	static sennit_task_fn *const tasks[] = { read_it, write_in_time,
						 read_it, write_in_time,
						 read_it };
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));

	(void)unused;
	memset(&book, 0, sizeof(book));
	sennit_rwlock_lock_shared(&book.lock);
	begin_all(tasks, 5, &book.done);
	sennit_wait_group_wait(&book.done);
	REQUIRE(book.left == 0);
	sennit_rwlock_unlock_shared(&book.lock);
	sennit_rwlock_destroy(&book.lock);
	end(s);
}

static void read_and_write(void *unused)
{
	static sennit_task_fn *const tasks[] = { read_it, write_in_time,
						 read_it, write_it, read_it };
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));

	(void)unused;
	memset(&book, 0, sizeof(book));
	begin_all(tasks, 5, &book.done);
	sennit_wait_group_wait(&book.done);
	REQUIRE(book.left + book.late == 2 && book.left == book.right);
	sennit_rwlock_destroy(&book.lock);
	end(s);
}

TEST(a_writer_that_gives_up_leaves_nobody_behind)
{
	explore(read_behind_writers, NULL);
}

TEST(nobody_reads_what_is_half_written)
{
	explore(read_and_write, NULL);
}

/* --- small takes behind a large one that gives up ------------------------- */

static struct {
	sennit_semaphore  permits;
	sennit_wait_group done;
} store;

static void take_one(void *unused)
{
	(void)unused;
	REQUIRE(!sennit_semaphore_take(&store.permits, 1));
	sennit_yield();
	sennit_semaphore_give(&store.permits, 1);
	sennit_wait_group_done(&store.done);
}

static void keep_one(void *unused)
{
	(void)unused;
	REQUIRE(!sennit_semaphore_take(&store.permits, 1));
	sennit_wait_group_done(&store.done);
}

static void take_all_in_time(void *unused)
{
	(void)unused;
	if (!sennit_semaphore_take_until(&store.permits, 2, soon()))
		sennit_semaphore_give(&store.permits, 2);
	sennit_wait_group_done(&store.done);
}

static void take_and_give(void *unused)
{
	static sennit_task_fn *const tasks[] = { take_one, take_all_in_time,
						 keep_one, take_one,
						 take_all_in_time };
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));

	(void)unused;
	sennit_semaphore_init(&store.permits, 2);
	begin_all(tasks, 5, &store.done);
	sennit_wait_group_wait(&store.done);
	REQUIRE(sennit_semaphore_count(&store.permits) == 1);
	sennit_semaphore_destroy(&store.permits);
	end(s);
}

TEST(a_taker_that_gives_up_leaves_nobody_behind)
{
	explore(take_and_give, NULL);
}

/* --- an arrival taken back as the phase ends ------------------------------ */

static struct {
	sennit_barrier    b;
	sennit_wait_group done;
	unsigned          steps, last;
} march;

enum { PARTIES = 3, PHASES = 2 };

static void step(int rc, unsigned phase)
{
	__atomic_add_fetch(&march.last, rc == 1, __ATOMIC_RELAXED);
	REQUIRE(__atomic_load_n(&march.steps, __ATOMIC_RELAXED) >=
		PARTIES * phase);
}

static void arrive(void *unused)
{
	(void)unused;
	for (unsigned i = 1; i <= PHASES; i++) {
		__atomic_add_fetch(&march.steps, 1, __ATOMIC_RELAXED);
		step(sennit_barrier_wait(&march.b), i);
	}
	sennit_wait_group_done(&march.done);
}

static void arrive_in_time(void *unused)
{
	(void)unused;
	for (unsigned i = 1; i <= PHASES; i++) {
		int rc;

		__atomic_add_fetch(&march.steps, 1, __ATOMIC_RELAXED);
		while ((rc = sennit_barrier_wait_until(&march.b, soon())) < 0)
			sennit_yield();
		step(rc, i);
	}
	sennit_wait_group_done(&march.done);
}

static void meet(void *unused)
{
	static sennit_task_fn *const tasks[] = { arrive, arrive_in_time,
						 arrive_in_time };
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));

	(void)unused;
	memset(&march, 0, sizeof(march));
	sennit_barrier_init(&march.b, PARTIES);
	begin_all(tasks, PARTIES, &march.done);
	sennit_wait_group_wait(&march.done);
	REQUIRE(march.last == PHASES);
	sennit_barrier_destroy(&march.b);
	end(s);
}

TEST(all_parties_of_a_phase_go_on_or_none)
{
	explore(meet, NULL);
}

/* --- a turn that is passed to a waiter that has given up ------------------ */

static struct {
	sennit_once       once;
	sennit_wait_group done;
	unsigned          runs, inside;
} trial;

static int fail_twice(void *unused)
{
	const unsigned run = ++trial.runs;

	(void)unused;
	REQUIRE(++trial.inside == 1);
	sennit_sleep(3 * SENNIT_MICROSECOND);
	REQUIRE(--trial.inside == 0);
	return run <= 2 ? -EAGAIN : 0;
}

static void try_in_time(void *unused)
{
	(void)unused;
	while (sennit_once_attempt_until(&trial.once, fail_twice, NULL, soon()))
		sennit_yield();
	REQUIRE(trial.runs == 3);
	REQUIRE(sennit_once_is_done(&trial.once)); /* others are still
						    * calling */
	sennit_wait_group_done(&trial.done);
}

static void try_patiently(void *unused)
{
	(void)unused;
	while (sennit_once_attempt_until(&trial.once, fail_twice, NULL,
					 SENNIT_NEVER))
		;
	REQUIRE(trial.runs == 3);
	REQUIRE(sennit_once_is_done(&trial.once)); /* others are still
						    * calling */
	sennit_wait_group_done(&trial.done);
}

static void try_all(void *unused)
{
	static sennit_task_fn *const tasks[] = { try_in_time, try_patiently,
						 try_in_time };
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));

	(void)unused;
	memset(&trial, 0, sizeof(trial));
	begin_all(tasks, 3, &trial.done);
	sennit_wait_group_wait(&trial.done);
	REQUIRE(sennit_once_is_done(&trial.once));
	sennit_once_destroy(&trial.once);
	end(s);
}

TEST(the_turn_is_neither_lost_nor_given_twice)
{
	explore(try_all, NULL);
}

/* --- freed by a waiter ---------------------------------------------------- */

struct meeting {
	sennit_semaphore come;
	sennit_rwlock    lock;
	sennit_barrier   part;
};

static void serve(void *argument)
{
	struct meeting *m = argument;

	sennit_rwlock_lock_shared(&m->lock);
	sennit_semaphore_give(&m->come, 1);
	sennit_rwlock_unlock_shared(&m->lock);
	(void)sennit_barrier_wait(&m->part);
}

static void wait_and_free(void *done)
{
	struct meeting *m = calloc(1, sizeof(*m));

	REQUIRE(m);
	sennit_barrier_init(&m->part, 3);
	spawn(serve, m);
	spawn(serve, m);
	REQUIRE(!sennit_semaphore_take(&m->come, 2));
	sennit_rwlock_lock(&m->lock);
	sennit_rwlock_unlock(&m->lock);
	(void)sennit_barrier_wait(&m->part);
	memset(m, 0xa5, sizeof(*m));
	free(m);
	sennit_wait_group_done(done);
}

static void free_them(void *unused)
{
	static sennit_wait_group done;
	sennit_scheduler        *s = begin_with(SENNIT_CONFIG(.workers = 3));

	(void)unused;
	sennit_wait_group_init(&done, 2);
	spawn(wait_and_free, &done);
	spawn(wait_and_free, &done);
	sennit_wait_group_wait(&done);
	end(s);
}

TEST(who_has_waited_may_free)
{
	explore(free_them, NULL);
}
