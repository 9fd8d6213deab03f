/* SPDX-License-Identifier: Apache-2.0 */
/* rwlock_fairness.c - phases of readers and writers: their order, and writers
 * that give up. lock_fairness.c has the bounds. */
#include "testing/crowd.h"

#include <errno.h>

/* --- phases ------------------------------------------------------------- */

/* Tasks that come one by one. The log records the order in which they got the
 * lock. */
struct turns {
	struct world     *w;
	sennit_rwlock     lock;
	sennit_wait_group done;
	const char       *come;     /* 'r' reader, 'w' writer, 't' a writer that
				 * gives up */
	sennit_time       deadline; /* of the 't' writers */
	atomic_uint       arrived, left, gave_up;
	atomic_uint       length;
	char              log[16]; /* in the order of getting the lock */
};

static void note(struct turns *t, char kind)
{
	t->log[atomic_fetch_add(&t->length, 1)] = kind;
}

static void take_turn(void *argument)
{
	struct turns *t = argument;
	const char    kind = t->come[atomic_fetch_add(&t->arrived, 1)];

	if (kind == 'r') {
		sennit_rwlock_lock_shared(&t->lock);
		note(t, kind);
		sennit_rwlock_unlock_shared(&t->lock);
	} else if (!sennit_rwlock_lock_until(&t->lock, kind == 'w'
							       ? SENNIT_NEVER
							       : t->deadline)) {
		note(t, kind);
		sennit_rwlock_unlock(&t->lock);
	} else {
		atomic_fetch_add(&t->gave_up, 1);
	}
	atomic_fetch_add(&t->left, 1);
	sennit_wait_group_done(&t->done);
}

/* Whether n tasks wait, or have left again. */
static bool have_come(struct turns *t, unsigned n)
{
	const unsigned left = atomic_load(&t->left);

	return left + waiting_for(t->w->s, &t->lock) == n;
}

static void let_come(struct turns *t)
{
	const unsigned n = (unsigned)strlen(t->come);

	sennit_wait_group_init(&t->done, n);
	for (unsigned i = 0; i < n; i++) {
		must_schedule(take_turn, t);
		assert_soon(have_come(t, i + 1));
	}
}

TEST_WITH_WORKERS(after_a_writer_all_readers_go_then_the_next_writer)
{
	struct turns t = { .w = w, .come = "wrwrr" };

	sennit_rwlock_lock(&t.lock);
	let_come(&t);
	sennit_rwlock_unlock(&t.lock);
	sennit_wait_group_wait(&t.done);
	assert_string_equal(t.log, "rrrww");
	sennit_rwlock_destroy(&t.lock);
}

TEST_WITH_WORKERS(after_readers_the_first_writer_goes_then_readers)
{
	struct turns t = { .w = w, .come = "wrrwr" };

	sennit_rwlock_lock_shared(&t.lock);
	let_come(&t);
	assert_int_equal(atomic_load(&t.length), 0);
	sennit_rwlock_unlock_shared(&t.lock);
	sennit_wait_group_wait(&t.done);
	assert_string_equal(t.log, "wrrrw");
	sennit_rwlock_destroy(&t.lock);
}

TEST_WITH_WORKERS(a_writer_that_waits_holds_back_later_readers)
{
	struct turns t = { .w = w, .come = "w" };

	sennit_rwlock_lock_shared(&t.lock);
	assert_int_equal(sennit_rwlock_lock_shared_until(&t.lock, 0), 0);
	let_come(&t);
	assert_int_equal(sennit_rwlock_lock_shared_until(&t.lock, 0),
			 -ETIMEDOUT);
	sennit_rwlock_unlock_shared(&t.lock);
	assert_int_equal(waiting_for(t.w->s, &t.lock), 1);
	sennit_rwlock_unlock_shared(&t.lock);
	sennit_wait_group_wait(&t.done);
	sennit_rwlock_lock_shared(&t.lock);
	assert_string_equal(t.log, "w");
	sennit_rwlock_unlock_shared(&t.lock);
}

TEST_WITH_WORKERS(unless_another_writer_waits)
{
	struct turns t = { .w = w, .come = "wtr" };

	t.deadline = sennit_after(20 * SENNIT_MILLISECOND);
	sennit_rwlock_lock_shared(&t.lock);
	let_come(&t);
	assert_soon(atomic_load(&t.gave_up) == 1);
	assert_int_equal(sennit_rwlock_lock_shared_until(&t.lock, 0),
			 -ETIMEDOUT);
	sennit_rwlock_unlock_shared(&t.lock);
	sennit_wait_group_wait(&t.done);
	assert_string_equal(t.log, "wr");
	sennit_rwlock_destroy(&t.lock);
}
