/* SPDX-License-Identifier: Apache-2.0 */
/* rwlock.h - a lock that many may share, or one may hold alone.
 *
 * All zero is an unlocked one; nothing needs destroying. It may be held across
 * any wait. A writer holds it alone (lock, unlock), readers share it
 * (lock_shared, unlock_shared). Nobody starves, as phases alternate: a writer
 * that waits holds back readers that come later, and when a writer unlocks, all
 * readers that wait go before the next writer. So a reader waits for those who
 * read when it comes and for one writer at most; a writer waits for the writers
 * before it, with one phase of readers before each. Writers come first in,
 * first out.
 *
 * The bound: a reader is passed by one writer at most. A writer that finds n
 * writers waiting is passed by those n, and n + 1 times by each reader. Who is
 * admitted holds the lock from then on, also while its worker is busy with a
 * task: a writer, or the writer after readers, waits for that as well, without
 * a bound. Readers that are admitted together do not wait for each other.
 *
 * Who writes is known, as the owner of a mutex is: the fiber or the unbound
 * thread that locked it, and it must unlock before it ends: a library that is
 * built with assertions aborts and says so otherwise. Readers are only
 * counted. So what follows cannot be reported, and is a deadlock (that a
 * scheduler's report shows) or, with a deadline, runs into it:
 *
 *   - a reader that locks it as a writer: it would wait for itself, so there
 *     is no upgrade; unlock, lock, and look again at what was read;
 *   - a reader that locks it as a reader again, when a writer came between.
 *
 * Readers change a word that all share, so short sections gain nothing over a
 * sennit_mutex. This lock pays when readers hold it for long, or across waits.
 *
 * Phase-fair locks are from B. Brandenburg and J. Anderson, "Reader-Writer
 * Synchronization for Shared-Memory Multiprocessor Real-Time Systems", 2009.
 */
#ifndef SENNIT_RWLOCK_H
#define SENNIT_RWLOCK_H

#include "sennit/base.h"

SENNIT_BEGIN

/* The most readers at once. */
#define SENNIT_RWLOCK_MAX UINT32_C(0x0fffffff)

typedef struct sennit_rwlock {
	sennit_word    state_;
	uint32_t       zero_;
	void          *waiters_;
	sennit_pointer owner_;
} sennit_rwlock;

/* clang-format off */
#define SENNIT_RWLOCK_INIT { { 0 }, 0, NULL, { NULL } }
/* clang-format on */

/* Make *l an unlocked reader-writer lock.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_rwlock_init(sennit_rwlock *l);

/* Declare that *l is no longer used; optional. Misuse while it is locked or
 * waited for.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_rwlock_destroy(sennit_rwlock *l);

/* Lock *l as a reader, waiting until the deadline for the writer that holds it
 * and for the one that waits. Misuse when the caller holds it as a writer, and
 * beyond SENNIT_RWLOCK_MAX.
 * Returns 0, -ETIMEDOUT or -ECANCELED.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_rwlock_lock_shared_until(
	sennit_rwlock *l, sennit_time deadline);

/* Lock *l as a reader, waiting as long as it takes.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API void sennit_rwlock_lock_shared(sennit_rwlock *l);

/* Unlock *l, which the caller locked as a reader; misuse when nobody did. Who
 * did so may also let another unlock it. Whoever locks it as a writer next may
 * free it at once.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_rwlock_unlock_shared(sennit_rwlock *l);

/* Lock *l as a writer, waiting until the deadline for whoever holds it or came
 * before. A writer that gives up no longer holds readers back. Misuse when the
 * caller holds it as a writer already.
 * Returns 0, -ETIMEDOUT or -ECANCELED.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_rwlock_lock_until(sennit_rwlock *l,
							sennit_time deadline);

/* Lock *l as a writer, waiting as long as it takes.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API void sennit_rwlock_lock(sennit_rwlock *l);

/* Unlock *l, which the caller locked as a writer; misuse otherwise. Whoever
 * locks it as a writer next may free it at once.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_rwlock_unlock(sennit_rwlock *l);

SENNIT_END

#endif
