/* SPDX-License-Identifier: Apache-2.0 */
/* rwlock.c - a phase-fair reader-writer lock: phases of readers and single
 * writers alternate.
 *
 *	word   { number of readers : 28 | held by a writer | queue bits }
 *	list   readers, newest first, then writers, oldest first
 *
 * No caller takes the lock past a waiter, so it is handed over: the unlock that
 * frees it admits the next phase under the queue's lock. After a writer, all
 * waiting readers are admitted, or else the first writer. After the last
 * reader, the first writer is admitted, or else all readers.
 *
 * Readers stand at the front for this. All of them are admitted at once, so
 * their order among themselves does not matter. Each reader is passed over at
 * most once, by one writer.
 *
 * Invariant: while the word is unlocked and there are waiters, the lock is
 * held. Readers wait while readers hold the lock only if a writer waits, or has
 * given up and will admit them.
 *
 * Only the writer that holds the lock writes owner_. Others compare it with
 * their own identity, which a stale value cannot equal. A fiber that reads
 * notes the lock in its own record (struct read_locks), so that readers share
 * nothing more for it.
 */
#include "base/compiler.h"
#include "base/torture.h"
#include "wait/wait.h"
#include "sennit/rwlock.h"

#include <errno.h>

#define RWLOCK_HELD WAIT_QUEUE_OWN
#define READER      RWLOCK_READER

/* For race.h: readers are not ordered with each other. A writer releases the
 * lock, and readers this. */
#define READERS(l) (&(l)->owner_)

_Static_assert(SENNIT_RWLOCK_MAX == UINT32_MAX / READER,
	       "the readers fill the rest of the word");
_Static_assert(sizeof(sennit_rwlock) ==
		       2 * sizeof(uint32_t) + 2 * sizeof(void *),
	       "a reader-writer lock is three words");

void sennit_rwlock_init(sennit_rwlock *l)
{
	a_init(&l->state_, 0);
	l->zero_ = 0;
	l->waiters_ = NULL;
	a_init(&l->owner_, NULL);
}

void sennit_rwlock_destroy(sennit_rwlock *l)
{
	MISUSE(a_load_rlx(&l->state_), "sennit_rwlock_destroy",
	       "the lock is held or waited for");
}

/* --- admitting the next ------------------------------------------------- */

static bool is_writer(struct link *l)
{
	return container_of(l, struct waiter, link)->writes;
}

/* Writers stand at the back. */
static bool has_writer(void *list)
{
	struct link *first = list;

	return first && is_writer(first->prev);
}

/* Unlink all waiting readers and add them to the word's count. Returns their
 * chain, oldest first. Lock held. */
static struct link *admit_readers(sennit_rwlock *l, uint32_t *word)
{
	struct link *admitted = NULL;

	while (l->waiters_ && !is_writer(l->waiters_)) {
		struct waiter *w = sn_wait_queue_first(l->waiters_);

		if (!sn_wait_take(&l->waiters_, w))
			continue;
		sn_link_join(&admitted, &w->link);
		admitted = &w->link;
		*word += READER;
	}
	return admitted;
}

/* The same for the first writer. */
static struct link *admit_writer(sennit_rwlock *l, uint32_t *word)
{
	struct link *admitted = NULL;
	struct link *at = l->waiters_;

	while (!admitted && has_writer(l->waiters_)) {
		struct waiter *w = container_of(at, struct waiter, link);

		at = at->next;
		if (!is_writer(&w->link) || !sn_wait_take(&l->waiters_, w))
			continue;
		sn_link_join(&admitted, &w->link);
		*word += RWLOCK_HELD;
	}
	return admitted;
}

static void unlock_and_wake(sennit_rwlock *l, uint32_t word,
			    struct link *admitted)
{
	sn_wait_queue_unlock(&l->state_, sn_wait_queue_bits(l->waiters_, word));
	sn_wake_all(admitted);
}

/* The last reader or the writer has left, and `word` shows that. Lock held on
 * entry. */
static void admit_next_phase(sennit_rwlock *l, uint32_t word,
			     bool readers_first)
{
	struct link *next = NULL;

	if (readers_first)
		next = admit_readers(l, &word);
	if (!next)
		next = admit_writer(l, &word);
	if (!next)
		next = admit_readers(l, &word);
	unlock_and_wake(l, word, next);
}

/* A writer has given up: admit the readers that wait only because of it. */
static void admit_blocked_readers(sennit_rwlock *l)
{
	uint32_t     word = sn_wait_queue_lock(&l->state_);
	struct link *next = NULL;

	if (!(word & RWLOCK_HELD) && !has_writer(l->waiters_))
		next = admit_readers(l, &word);
	unlock_and_wake(l, word, next);
}

/* --- waiting ------------------------------------------------------------ */

static uint32_t with_reader(uint32_t word)
{
	MISUSE(word / READER == SENNIT_RWLOCK_MAX, "sennit_rwlock_lock_shared",
	       "there are SENNIT_RWLOCK_MAX readers already");
	return word + READER;
}

/* Wait in the queue, unless the lock can be taken. */
static int wait_for_phase(sennit_rwlock *l, bool to_write, sennit_time deadline)
{
	const uint32_t obstacle = to_write ? ~0U
					   : RWLOCK_HELD | WAIT_QUEUE_WAITERS;
	struct waiter *n;
	uint32_t       word;
	int            err;

	n = sn_waiter_own(deadline);
	n->writes = to_write;
	word = sn_wait_queue_lock(&l->state_);
	if (!(word & obstacle)) {
		sn_wait_queue_unlock(&l->state_, to_write ? RWLOCK_HELD
							  : with_reader(word));
		return 0;
	}
	if (!deadline) {
		sn_wait_queue_unlock(&l->state_, word);
		return -ETIMEDOUT;
	}
	sn_wait_show(n, SENNIT_WAITS_FOR_RWLOCK, l, deadline);
	word |= sn_wait_queue_join(&l->waiters_, n, !to_write);
	sn_wait_open_owner(n, &l->owner_);
	sn_wait_queue_unlock(&l->state_, word);
	err = sn_wait_in(&l->state_, &l->waiters_, n, deadline);
	sn_wait_close_owner(n);
	if (err && to_write)
		admit_blocked_readers(l);
	return err;
}

/* --- readers ------------------------------------------------------------ */

static bool try_lock_as_reader(sennit_rwlock *l)
{
	uint32_t word = a_load_rlx(&l->state_);

	while (!(word & (RWLOCK_HELD | WAIT_QUEUE_LOCKED | WAIT_QUEUE_WAITERS)))
		/* <- rwlock.unlock */
		if (a_cas_weak_acq(&l->state_, &word, with_reader(word)))
			return true;
	return false;
}

static int lock_as_reader_slow(sennit_rwlock *l, sennit_time deadline)
{
	MISUSE(a_load_rlx(&l->owner_) == sn_wait_identity(),
	       "sennit_rwlock_lock_shared",
	       "the caller holds the lock as a writer");
	return wait_for_phase(l, false, deadline);
}

static ALWAYS_INLINE int lock_shared(sennit_rwlock *l, sennit_time deadline)
{
	const int err = likely(try_lock_as_reader(l))
				? 0
				: lock_as_reader_slow(l, deadline);

	if (RACES_ARE_TOLD && !err)
		sn_race_acquire(l);
	if (likely(!err && sn_self))
		sn_read_locks_add(&sn_self->home.current->reads, l);
	return err;
}

int sennit_rwlock_lock_shared_until(sennit_rwlock *l, sennit_time deadline)
{
	return lock_shared(l, deadline);
}

void sennit_rwlock_lock_shared(sennit_rwlock *l)
{
	(void)!lock_shared(l, SN_UNCANCELLED);
}

static void must_have_readers(uint32_t word)
{
	MISUSE(word < READER, "sennit_rwlock_unlock_shared",
	       word & RWLOCK_HELD ? "the lock is held by a writer"
				  : "the lock is not held");
}

static void unlock_shared_slow(sennit_rwlock *l)
{
	uint32_t word = sn_wait_queue_lock(&l->state_);

	must_have_readers(word);
	word -= READER;
	if (word < READER)
		admit_next_phase(l, word, false);
	else
		sn_wait_queue_unlock(&l->state_, word);
}

void sennit_rwlock_unlock_shared(sennit_rwlock *l)
{
	uint32_t word = a_load_rlx(&l->state_);

	sn_race_release(READERS(l));
	if (likely(sn_self))
		sn_read_locks_remove(&sn_self->home.current->reads, l);
	while (!(word & (WAIT_QUEUE_LOCKED | WAIT_QUEUE_WAITERS))) {
		must_have_readers(word);
		/* -> rwlock.unlock: the reads are done */
		if (a_cas_weak_rel(&l->state_, &word, word - READER))
			return;
	}
	unlock_shared_slow(l);
}

/* --- writers ------------------------------------------------------------ */

static ALWAYS_INLINE int lock_as_writer(sennit_rwlock *l, sennit_time deadline)
{
	void    *self = sn_wait_identity();
	uint32_t unlocked = 0;
	int      err = 0;

	/* <- rwlock.unlock */
	if (unlikely(!a_cas_acq(&l->state_, &unlocked, RWLOCK_HELD))) {
		MISUSE(a_load_rlx(&l->owner_) == self, "sennit_rwlock_lock",
		       "the caller already holds the lock");
		err = wait_for_phase(l, true, deadline);
	}
	if (!err) {
		sn_race_acquire(l);
		sn_race_acquire(READERS(l));
		a_store_rlx(&l->owner_, self);
		sn_wait_count_held(HELD_RWLOCK);
	}
	return err;
}

int sennit_rwlock_lock_until(sennit_rwlock *l, sennit_time deadline)
{
	return lock_as_writer(l, deadline);
}

void sennit_rwlock_lock(sennit_rwlock *l)
{
	(void)!lock_as_writer(l, SN_UNCANCELLED);
}

void sennit_rwlock_unlock(sennit_rwlock *l)
{
	uint32_t held = RWLOCK_HELD;

	MISUSE(a_load_rlx(&l->owner_) != sn_wait_identity(),
	       "sennit_rwlock_unlock",
	       a_load_rlx(&l->owner_) ? "another fiber or thread holds the lock"
				      : "no writer holds the lock");
	sn_race_release(l);
	a_store_rlx(&l->owner_, NULL);
	sn_wait_count_held(-HELD_RWLOCK);
	TORTURE_POINT();
	/* -> rwlock.unlock: what the lock protects */
	if (unlikely(!a_cas_rel(&l->state_, &held, 0)))
		admit_next_phase(
			l, sn_wait_queue_lock(&l->state_) - RWLOCK_HELD, true);
}
