/* SPDX-License-Identifier: Apache-2.0 */
/* rwlock.h - a reader-writer lock: many readers share it, or one writer holds
 * it alone.
 *
 * A lock with all bytes zero is unlocked. A lock needs no destruction. It may
 * be held across any wait. A writer holds it alone (lock, unlock). Readers
 * share it (lock_shared, unlock_shared).
 *
 * The lock is phase-fair, so no caller starves. A waiting writer holds back
 * readers that come later. When a writer unlocks, all waiting readers go before
 * the next writer. So a reader waits for the current readers and for at most
 * one writer. A writer waits for the writers before it, with one phase of
 * readers before each. Writers are served first in, first out.
 *
 * Bound: at most one writer passes a waiting reader. A writer that finds n
 * writers waiting is passed by those n, and at most n + 1 times by each reader.
 * An admitted caller holds the lock even while its worker is busy with a task.
 * A writer waits for that too, and that has no bound. Readers that are admitted
 * together do not wait for each other.
 *
 * Owner: the fiber or the unbound thread that locked it for writing, as with a
 * mutex. It must unlock before it ends; a library that is built with assertions
 * aborts with a message otherwise. Readers are only counted; each fiber
 * remembers three locks that it reads, so that reports can name readers
 * (sennit/wait_graph.h). So the following faults cannot be reported as misuse.
 * Each is a deadlock, which the report of the scheduler shows, or ends at the
 * deadline:
 *
 *   - A reader locks the lock as a writer. It would wait for itself, so there
 *     is no upgrade. Unlock, lock as a writer, and look again at what was read.
 *   - A reader locks the lock as a reader again, and a writer came between.
 *
 * Readers change a word that they share, so short sections gain nothing over a
 * sennit_mutex. The lock pays off when readers hold it for long, or across
 * waits.
 *
 * Source: phase-fair locks are from B. Brandenburg and J. Anderson,
 * "Reader-Writer Synchronization for Shared-Memory Multiprocessor Real-Time
 * Systems", 2009.
 */
#ifndef SENNIT_RWLOCK_H
#define SENNIT_RWLOCK_H

#include "sennit/base.h"

#include <stdbool.h>

SENNIT_BEGIN

/* The largest number of readers at once. */
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

/* Initialise *l as an unlocked reader-writer lock.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_rwlock_init(sennit_rwlock *l);

/* Declare that *l is no longer used. This call is optional. It is misuse while
 * *l is locked or anyone waits for it.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_rwlock_destroy(sennit_rwlock *l);

/* Lock *l as a reader. Wait until the deadline for the writer that holds it and
 * for the writer that waits. It is misuse if the caller holds *l as a writer,
 * or if there are SENNIT_RWLOCK_MAX readers already.
 * Returns 0, -ETIMEDOUT at the deadline, or -ECANCELED if the caller's group is
 * cancelled.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_rwlock_lock_shared_until(
	sennit_rwlock *l, sennit_time deadline);

/* Lock *l as a reader. Wait as long as it takes.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API void sennit_rwlock_lock_shared(sennit_rwlock *l);

/* Unlock *l, which the caller locked as a reader. The reader may also let
 * another fiber or thread unlock it. It is misuse if no reader holds *l. The
 * next writer may free *l at once.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_rwlock_unlock_shared(sennit_rwlock *l);

/* Lock *l as a writer. Wait until the deadline for the holders and for earlier
 * writers. A writer that gives up no longer holds back readers. It is misuse if
 * the caller holds *l as a writer already.
 * Returns 0, -ETIMEDOUT at the deadline, or -ECANCELED if the caller's group is
 * cancelled.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_rwlock_lock_until(sennit_rwlock *l,
							sennit_time deadline);

/* Lock *l as a writer. Wait as long as it takes.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API void sennit_rwlock_lock(sennit_rwlock *l);

/* Unlock *l. It is misuse if the caller does not hold *l as a writer. The next
 * writer may free *l at once.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_rwlock_unlock(sennit_rwlock *l);

/* Lock *l for writing, or for reading, if that needs no wait. Returns whether
 * it is locked now.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_MUST_USE static inline bool sennit_rwlock_try_lock(sennit_rwlock *l)
{
	return !sennit_rwlock_lock_until(l, 0);
}
SENNIT_MUST_USE static inline bool sennit_rwlock_try_lock_shared(
	sennit_rwlock *l)
{
	return !sennit_rwlock_lock_shared_until(l, 0);
}

SENNIT_END

#endif
