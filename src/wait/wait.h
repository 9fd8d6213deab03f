/* SPDX-License-Identifier: Apache-2.0 */
/* wait.h - blocking. This is the only code that blocks fibers, bound threads'
 * own stacks and unbound threads.
 *
 * A waiter fills in a record on its stack, links it to the object under the
 * object's lock, unlocks, and sleeps. A signaller unlinks the record under the
 * lock, claims it, unlocks, and wakes the waiter. After the unlock it accesses
 * only the records that it has claimed, and none of them after its wake.
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
 * Checked by test/model/wait.pml.
 */
#ifndef SN_WAIT_H
#define SN_WAIT_H

#include "sched/loop.h"
#include "sched/state.h"
#include "wait/waiter.h"
#include "wait/wake.h"

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

/* More than one thread may end the wait *n. */
static inline void sn_waiter_race(struct waiter              *n,
				  struct sennit_cancel_scope *scope)
{
	/* This store comes first, because the compiler does not keep known
	 * values of n across an atomic store. */
	a_store_rlx(&n->claim, WAITER_WAITING); /* before others can see n */
	n->is.raced = true;
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
		n->home = WAITER_NO_HOME;
		n->parker = &sn_parker;
		a_store_rlx(&sn_parker.word, 0); /* before others can see n */
	}
}

/* Fill in *n for the caller, which will wait until the deadline. */
static ALWAYS_INLINE void sn_waiter_init(struct waiter *n, sennit_time deadline)
{
	struct sennit_cancel_scope *scope;

	sn_waiter_mine(n);
	scope = sn_wait_scope(n->fiber, deadline);
	if (scope || deadline < SN_UNCANCELLED)
		sn_waiter_race(n, scope);
}

/* The same for a wait for one of several objects: sn_waiter_init_whole for the
 * whole, sn_waiter_init_part for each part. Only parts are linked to
 * objects. */
static inline void sn_waiter_init_whole(struct waiter *whole,
					sennit_time    deadline)
{
	sn_waiter_mine(whole);
	sn_waiter_race(whole, sn_wait_scope(whole->fiber, deadline));
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
	if (!n->is.raced || !n->scope)
		return deadline;
	return n->scope->deadline_ < deadline ? n->scope->deadline_ : deadline;
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
		sn_owner_look_open(&n->fiber->look, owner);
}

static inline void sn_wait_close_owner(const struct waiter *n)
{
	if (likely(n->fiber))
		sn_owner_look_close(&n->fiber->look);
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
	if (unlikely(n->is.raced || !n->fiber))
		return sn_wait_in_slow(word, list, n, deadline);
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
 * releases the lock: add `locks` units of CLEANUP_MUTEX or CLEANUP_RWLOCK. The
 * check at the end of a task is free, because that word is tested there anyway
 * (loop.h). But the count costs each lock and unlock some instructions,
 * so only builds with assertions count. An unbound thread has no task. */
static ALWAYS_INLINE void sn_wait_count_held(uint32_t locks)
{
#ifndef NDEBUG
	if (sn_self)
		sn_self->home.current->cleanup += locks;
#else
	(void)locks;
#endif
}

/* --- wait any ------------------------------------------------------------- */

/* Waits for the first of several objects that becomes set: events, futures.
 *
 * Each object in turn gets a part of the wait. The thread that sets one of them
 * claims the whole. A waiter that finds an object set while it links the parts
 * claims its own wait. If that claim fails, it takes nothing from the object.
 *
 * An object is set when its word has WAIT_QUEUE_OWN.
 */

/* The maximum number of objects in one call. */
enum { WAIT_ANY_MAX = 64 };

/* The wait queue of an object. */
struct wait_any_queue {
	sennit_word *word;
	void       **list;
};

struct wait_any {
	const void *objects; /* the caller's array of pointers */
	size_t      count;   /* 1..WAIT_ANY_MAX */
	const void *first;   /* the first object, for reports */
	struct wait_any_queue (*queue)(const void *objects, size_t i);
	/* The word of object i, which is set, after one waiter has passed
	 * it. */
	uint32_t (*passed)(const void *objects, size_t i, uint32_t word);
};

/* Wait until one object is set. *which becomes its index. Returns 0, -ETIMEDOUT
 * or -ECANCELED. The object that ended the wait may be gone when this
 * returns. */
int sn_wait_any(const struct wait_any *s, size_t *which, sennit_time deadline);

/* --- deadlines ------------------------------------------------------------ */

/* Ends the waits of a worker's own fibers whose deadline has passed. */

/* Fire the timers that are due: their fibers become ready. Returns whether any
 * did. */
bool sn_deadlines_fire(struct worker *w, sennit_time now);

#endif
