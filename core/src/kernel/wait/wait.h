/* SPDX-License-Identifier: Apache-2.0 */
/* wait.h - blocking. This is the only code that blocks fibers, bound threads'
 * own stacks and unbound threads.
 *
 * A waiter fills in a record in its fiber or on its stack, links it to the
 * object under the object's lock, unlocks, and sleeps. A signaller unlinks the
 * record under the lock, claims it, unlocks, and wakes the waiter. After the
 * unlock it accesses only the records that it has claimed, and none of them
 * after its wake.
 *
 *	waiter        lock, test, link, unlock, sleep ............. return
 *	signaller                         lock, unlink, claim, unlock, wake
 *	timer (home worker)                        claim, make ready
 *	cancel of its scope                under the scope's lock: claim; wake
 *	waiter woken by those two          lock, unlink if linked, unlock
 *
 * Fibers are pinned to their worker. So a wake that comes before the fiber has
 * left its stack waits in the worker's inbox until the fiber has left. (With
 * migrating fibers this would be wrong, and so would a timer that only the home
 * worker fires.)
 *
 * Checked by core/test/model/wait.pml.
 */
#ifndef SN_WAIT_H
#define SN_WAIT_H

#include "os/os.h"
#include "sched/fiber.h"
#include "sched/loop.h"
#include "sched/run_queue.h"
#include "sched/worker.h"
#include "wait/wake.h"
#include "group/cancel.h"

/* Say so if the deadline is a duration. Waits do this themselves; this is for
 * calls with a deadline that wait in another way, or perhaps not at all. */
void sn_check_deadline(sennit_time deadline);

/* --- wait queue ----------------------------------------------------------- */

/* Number of spins before the thread gives way, because the holder's thread may
 * not be running. */
#define WAIT_QUEUE_SPINS TORTURED(1, 64)

/* Between two looks at a word that another thread has locked for a moment, of
 * which there were `spins`. Returns one more. Not inlined, so that the
 * functions below are. */
uint32_t sn_wait_queue_spin(uint32_t spins);

/* Lock, if the word is `old` and not locked. Otherwise wait a little; *spins
 * counts the attempts. */
static inline bool sn_wait_queue_try(sennit_word *word, uint32_t old,
				     uint32_t *spins)
{
	uint32_t seen = old;

	/* <- wait_queue.unlock */
	if (!(old & WAIT_QUEUE_LOCKED) &&
	    a_cas_weak_acq(word, &seen, old | WAIT_QUEUE_LOCKED)) {
		TORTURE_POINT();
		return true;
	}
	*spins = sn_wait_queue_spin(*spins);
	return false;
}

/* Lock. Returns the word before, without LOCKED. */
static inline uint32_t sn_wait_queue_lock(sennit_word *word)
{
	uint32_t spins = 0;

	for (;;) {
		uint32_t old = a_load_rlx(word); /* a guess; the CAS checks
						  * it */

		if (sn_wait_queue_try(word, old, &spins))
			return old;
	}
}

/* Unlock, and store `value` (without LOCKED). */
static inline void sn_wait_queue_unlock(sennit_word *word, uint32_t value)
{
	TORTURE_POINT();
	a_store_rel(word, value); /* -> wait_queue.unlock: list, primitive */
	TORTURE_POINT();          /* linked but awake, or claimed but asleep */
}

/* The first waiter of a list that is not empty. */
static inline struct waiter *sn_wait_queue_first(void *list)
{
	return container_of((struct link *)list, struct waiter, link);
}

/* Add n at the back, or at the front if `front`. Returns the bits to set in the
 * word. Lock held. */
static inline uint32_t sn_wait_queue_join(void **list, struct waiter *n,
					  bool front)
{
	struct link *first = *list;

	if (first && n->fiber && n->home == sn_self)
		sn_jumps_pass(&n->home->waits, n->fiber);
	sn_link_join(&first, &n->link);
	if (front)
		first = &n->link;
	*list = first;
	n->is.linked = true;
	return n->is.raced ? WAIT_QUEUE_WAITERS | WAIT_QUEUE_RACED
			   : WAIT_QUEUE_WAITERS;
}

/* Remove n. Lock held. The caller must then clear bits of the word by
 * sn_wait_queue_bits. */
static inline void sn_wait_queue_leave(void **list, struct waiter *n)
{
	struct link *first = *list;

	sn_link_leave(&first, &n->link);
	*list = first;
	n->is.linked = false;
}

/* The word with its queue bits cleared if the list has become empty. */
static inline uint32_t sn_wait_queue_bits(const void *list, uint32_t word)
{
	return list ? word : word & ~(WAIT_QUEUE_WAITERS | WAIT_QUEUE_RACED);
}

/* --- wait take ------------------------------------------------------------ */

/* The signaller's side of a wait queue: unlink waiters and claim them. Who has
 * claimed a waiter must wake it (sn_wake). */

/* Claim the wait of *whole, which is raced, for its part `part`. A signaller
 * claims before a wake, a waiter before sn_wait_skip. Returns false if another
 * thread was first. A waiter must then sleep until that thread's wake. */
static inline bool sn_waiter_claim_part(struct waiter *whole, uint32_t part)
{
	uint32_t waiting = WAITER_WAITING;

	/* -> wait.claim: what it is woken for <- wait.claim */
	return a_cas_acqrel(&whole->claim, &waiting, WAITER_SIGNALLED + part);
}

/* The same for n, which is or was linked. */
static inline bool sn_waiter_claim(struct waiter *n)
{
	return sn_waiter_claim_part(n->whole, n->part);
}

/* Unlink n and claim it. Returns false if the wait was ended otherwise. The
 * caller must then update the word by sn_wait_queue_bits. Lock held. */
static inline bool sn_wait_take(void **list, struct waiter *n)
{
	sn_wait_queue_leave(list, n);
	return !n->is.raced || sn_waiter_claim(n);
}

/* Unlink and claim the first waiter that still waits. NULL: there is none. The
 * caller must then update the word by sn_wait_queue_bits. Lock held. */
struct waiter *sn_wait_take_next(void **list);

static inline struct waiter *sn_wait_take_one(void **list)
{
	struct waiter *n;

	if (!*list)
		return NULL;
	n = sn_wait_queue_first(*list);
	if (unlikely(n->is.raced))
		return sn_wait_take_next(list);
	sn_wait_queue_leave(list, n);
	return n;
}

/* Unlink and claim all waiters. Returns their chain for sn_wake_all; NULL for
 * none. The list is empty afterwards. `word` is the word's value. Lock held. */
struct link *sn_wait_take_all_raced(void **list);

static inline struct link *sn_wait_take_all(void **list, uint32_t word)
{
	struct link *all = *list;

	if (unlikely(word & WAIT_QUEUE_RACED))
		return sn_wait_take_all_raced(list);
	*list = NULL;
	return all;
}

/* --- wait ----------------------------------------------------------------- */

/* The word on which an unbound thread sleeps. */
extern _Thread_local struct parker sn_parker
	__attribute__((tls_model("initial-exec")));

/* The cancel scope that may cancel a wait of *f. NULL: none. */
static inline struct sennit_cancel_scope *sn_wait_scope(
	const struct sennit_fiber *f, sennit_time deadline)
{
	struct sennit_cancel_scope *s = f && deadline != SN_UNCANCELLED
						? sn_fiber_scope(f)
						: NULL;

	return s && s->kind_ == SCOPE_GROUP ? s : NULL;
}

/* Whether f is in a group that cannot end its wait. */
static inline bool sn_wait_is_shielded(const struct sennit_fiber *f,
				       sennit_time                deadline)
{
	return deadline == SN_UNCANCELLED && sn_wait_scope(f, SENNIT_NEVER);
}

/* More than one thread may end the wait *n. */
static inline void sn_waiter_race(struct waiter              *n,
				  struct sennit_cancel_scope *scope)
{
	/* This store comes first, because the compiler does not keep known
	 * values of n across an atomic store. */
	a_store_rlx(&n->claim, WAITER_WAITING); /* before others can see n */
	n->is.raced = true;
	n->is.slow = true;
	n->part = 0;
	n->whole = n;
	n->scope = scope;
}

/* Fill in that *n belongs to the caller, a fiber or a thread. */
static ALWAYS_INLINE void sn_waiter_mine(struct waiter *n)
{
	struct worker *w = sn_self;

	n->home = w;
	n->fiber = w ? w->home.current : NULL;
	n->is = (struct waiter_flags){ .raced = false };
	if (unlikely(!w)) {
		n->is.slow = true;
		n->home = WAITER_NO_HOME;
		n->parker = &sn_parker;
		a_store_rlx(&sn_parker.word, 0); /* before others can see n */
	}
}

/* Fill in who may end the wait *n of the caller, which will wait until the
 * deadline. */
static ALWAYS_INLINE void sn_waiter_may_end(struct waiter *n,
					    sennit_time    deadline)
{
	struct sennit_cancel_scope *scope = sn_wait_scope(n->fiber, deadline);

	if (scope || deadline < SN_UNCANCELLED)
		sn_waiter_race(n, scope);
	else if (sn_wait_is_shielded(n->fiber, deadline))
		n->is.shielded = n->is.slow = true;
}

/* Fill in *n for the caller, which will wait until the deadline. */
static ALWAYS_INLINE void sn_waiter_init(struct waiter *n, sennit_time deadline)
{
	sn_waiter_mine(n);
	sn_waiter_may_end(n, deadline);
}

/* The record of a thread without a worker. */
extern _Thread_local struct waiter sn_thread_waiter
	__attribute__((tls_model("initial-exec")));

/* The caller's own record, filled in for a wait for one object that begins now
 * and in which the caller calls nothing of the program. It lies beside the rest
 * of what a wait and a wake touch, and not in the middle of the frames. */
static ALWAYS_INLINE struct waiter *sn_waiter_own(sennit_time deadline)
{
	struct worker *w = sn_self;
	struct waiter *n = &sn_thread_waiter;

	if (likely(w)) {
		n = &w->home.current->own;
		n->is = (struct waiter_flags){ .raced = false };
	} else {
		sn_waiter_mine(n);
	}
	sn_waiter_may_end(n, deadline);
	return n;
}

/* The same for a wait for one of several objects: sn_waiter_init_whole for the
 * whole, sn_waiter_init_part for each part. Only parts are linked to
 * objects. */
static inline void sn_waiter_init_whole(struct waiter *whole,
					sennit_time    deadline)
{
	sn_waiter_mine(whole);
	sn_waiter_race(whole, sn_wait_scope(whole->fiber, deadline));
	whole->is.shielded = sn_wait_is_shielded(whole->fiber, deadline);
}

static inline void sn_waiter_init_part(struct waiter *n, struct waiter *whole,
				       uint32_t part)
{
	n->fiber = whole->fiber;
	n->home = whole->home;
	n->parker = whole->parker;
	n->is = (struct waiter_flags){ .raced = true };
	n->part = part;
	n->whole = whole;
}

/* The part that ended the wait, after sn_wait has returned 0. */
static inline uint32_t sn_waiter_part(const struct waiter *whole)
{
	/* sn_wait has read it with acquire */
	return a_load_rlx(&whole->claim) - WAITER_SIGNALLED;
}

/* The latest time at which the wait n ends: the scope's deadline counts,
 * too. */
static inline sennit_time sn_wait_end(const struct waiter *n,
				      sennit_time          deadline)
{
	/* SN_UNCANCELLED: no scope can end the wait, and it is not raced. The
	 * compiler may have lost that knowledge, but it still knows a
	 * constant. */
	if (__builtin_constant_p(deadline) && deadline == SN_UNCANCELLED)
		return deadline;
	if (n->is.raced && n->scope) {
		const sennit_time end = sn_cancel_scope_deadline(n->scope);

		return end < deadline ? end : deadline;
	}
	return deadline;
}

/* Show in reports that the caller, if it is a fiber, waits for the object. Call
 * this before another thread can find n and wake it. */
static inline void sn_wait_show(const struct waiter *n, uint32_t kind,
				const void *object, sennit_time deadline)
{
	const struct worker *w = sn_self;
	sennit_time          end;

	if (unlikely(!n->fiber))
		return;
	end = sn_wait_end(n, deadline); /* before the atomic accesses: see
					 * sn_waiter_race */
	sn_fiber_state_block(&n->fiber->state, kind, object,
			     (uint32_t)sn_counters_blocks(&w->counters),
			     a_load_rlx(&w->clock), end);
}

/* The caller waits from now on, until sn_wait_close_owner, for a lock that is
 * not freed meanwhile: reports may read its *owner. */
static inline void sn_wait_open_owner(const struct waiter *n,
				      sennit_pointer      *owner)
{
	if (likely(n->fiber))
		sn_waited_lock_set(&n->fiber->look, owner, n->is.shielded);
}

static inline void sn_wait_close_owner(const struct waiter *n)
{
	if (likely(n->fiber))
		sn_waited_lock_clear(&n->fiber->look);
}

/* Sleep until woken, cancelled or the deadline. Returns 0, -ECANCELED or
 * -ETIMEDOUT. After an error n may still be linked to its object, and parts may
 * be in any case. sn_wait_in unlinks n; sn_wait_leave unlinks a part. */
int sn_wait(struct waiter *n, sennit_time deadline);

/* Continue without sleeping: the caller has claimed its own wait, n. */
void sn_wait_skip(const struct waiter *n);

/* Unlink n from the queue of *word and *list, if it is still linked. */
void sn_wait_leave(sennit_word *word, void **list, struct waiter *n);

/* As sn_wait, for n linked to the queue of *word and *list. Afterwards n is
 * unlinked. */
int sn_wait_in_slow(sennit_word *word, void **list, struct waiter *n,
		    sennit_time deadline);

static inline int sn_wait_in(sennit_word *word, void **list, struct waiter *n,
			     sennit_time deadline)
{
	if (unlikely(n->is.slow))
		return KEEP_FRAME(sn_wait_in_slow(word, list, n, deadline));
	sn_loop_suspend(sn_self);
	return 0;
}

/* The caller's identity as owner of a lock: its fiber; or, for a group member
 * that runs on its opener's fiber, the group; or, for another task on the stack
 * of its waiter, a place on that stack; or its thread. No two that exist at the
 * same time have the same identity. */
static inline void *sn_wait_identity(void)
{
	struct worker *w = sn_self;

	return likely(w) ? sn_fiber_identity(w->home.current)
			 : (void *)&sn_parker;
}

/* The caller has taken a lock that it must release before its task ends, or it
 * releases the lock: add `locks` units of HELD_MUTEX or HELD_RWLOCK. The count
 * costs each lock and unlock some instructions, so only builds with assertions
 * count. An unbound thread has no task. */
static ALWAYS_INLINE void sn_wait_count_held(uint32_t locks)
{
#ifndef NDEBUG
	struct sennit_fiber *f = sn_self ? sn_self->home.current : NULL;

	if (!f)
		return;
	f->held += locks;
	f->cleanup &= ~CLEANUP_HELD;
	if (f->held)
		f->cleanup |= CLEANUP_HELD;
#else
	(void)locks;
#endif
}

#endif
