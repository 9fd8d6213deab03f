/* SPDX-License-Identifier: Apache-2.0 */
/* wait.h - the one place where anything blocks: fibers, bound threads' own
 * stacks and unbound threads alike.
 *
 * A waiter fills in a record on its stack, links it to what it waits for under
 * that object's lock, unlocks, and sleeps. A signaller takes the record off
 * under the lock, claims it, unlocks, and wakes it; after the unlock it touches
 * only what it has claimed, and nothing of that once it has woken it.
 *
 *	waiter        lock, test, link, unlock, sleep ............. return
 *	signaller                         lock, unlink, claim, unlock, wake
 *	timer (home worker)                        claim, make ready
 *	who cancels its scope              under the scope's lock: claim; wake
 *	waiter that either has woken       lock, unlink if linked, unlock
 *
 * Fibers are pinned, so a wake that comes before the fiber has finished leaving
 * its stack lies in its worker's inbox until it has. (This, and a timer that
 * only the home worker fires, would be wrong with fibers that migrate.)
 *
 * Checked by test/model/wait.pml.
 */
#ifndef SN_WAIT_H
#define SN_WAIT_H

#include "worker/loop.h"
#include "worker/wake.h"

/* Where an unbound thread sleeps. */
extern _Thread_local struct parker sn_parker
	__attribute__((tls_model("initial-exec")));

/* The scope that may cancel a wait of *f, NULL for none. */
static inline struct sennit_cancel_scope *sn_wait_scope(
	const struct sennit_fiber *f, sennit_time deadline)
{
	struct sennit_cancel_scope *s = f && deadline != SN_UNCANCELLED
						? f->scope
						: NULL;

	return s && s->kind_ == SCOPE_GROUP ? s : NULL;
}

/* *n has several that may end it. */
static inline void sn_waiter_race(struct waiter              *n,
				  struct sennit_cancel_scope *scope)
{
	n->is.raced = true;
	n->part = 0;
	n->whole = n;
	n->scope = scope;
	a_store_rlx(&n->claim, WAITER_WAITING); /* before anyone sees n */
}

/* *n is of the caller, fiber or thread. */
static ALWAYS_INLINE void sn_waiter_mine(struct waiter *n)
{
	struct worker *w = sn_self;

	n->home = w;
	n->fiber = w ? w->home.current : NULL;
	n->is = (struct waiter_flags){ .raced = false };
	if (unlikely(!w)) {
		n->parker = &sn_parker;
		a_store_rlx(&sn_parker.word, 0); /* before anyone sees n */
	}
}

/* Fill in *n for the caller, who will wait until the deadline. */
static ALWAYS_INLINE void sn_waiter_init(struct waiter *n, sennit_time deadline)
{
	struct sennit_cancel_scope *scope;

	sn_waiter_mine(n);
	scope = sn_wait_scope(n->fiber, deadline);
	if (scope || deadline < SN_UNCANCELLED)
		sn_waiter_race(n, scope);
}

/* The same for a wait for one of several: *whole, and each part of it, which
 * alone is linked to its object. */
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

/* Which part ended the wait, once sn_wait has returned 0. */
static inline uint32_t sn_waiter_part(const struct waiter *whole)
{
	/* sn_wait has seen it */
	return a_load_rlx(&whole->claim) - WAITER_SIGNALLED;
}

/* When the wait of n ends at the latest: its scope's deadline ends it, too. */
static inline sennit_time sn_wait_end(const struct waiter *n,
				      sennit_time          deadline)
{
	/* Mostly the compiler knows: the scope cannot end it. */
	if (deadline == SN_UNCANCELLED || !n->is.raced || !n->scope)
		return deadline;
	return n->scope->deadline_ < deadline ? n->scope->deadline_ : deadline;
}

/* Show that the caller, if it is a fiber, is about to wait for the object. From
 * then on it waits: before anybody may find n, to wake it. */
static inline void sn_wait_show(const struct waiter *n, uint32_t kind,
				const void *object, sennit_time deadline)
{
	const struct worker *w = sn_self;

	if (likely(n->fiber))
		sn_fiber_state_block(&n->fiber->state, kind, object,
				     (uint32_t)a_load_rlx(&w->blocks),
				     a_load_rlx(&w->clock),
				     sn_wait_end(n, deadline));
}

/* Sleep until woken, cancelled or the deadline. Returns 0, -ECANCELED or
 * -ETIMEDOUT; after an error n, and always the parts of several, may still be
 * linked to their objects: sn_wait_in unlinks n, sn_wait_leave a part. */
int sn_wait(struct waiter *n, sennit_time deadline);

/* The caller goes on without sleeping: it has claimed its own wait, n. */
void sn_wait_skip(const struct waiter *n);

/* Unlink n from the queue of *word and *list if it still is linked. */
void sn_wait_leave(sennit_word *word, void **list, struct waiter *n);

/* Sleep as sn_wait does, linked to the queue of *word and *list; afterwards n
 * is linked to nothing. */
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

/* Claim the wait of *whole, which is raced, for a wake by its part: or one's
 * own, for sn_wait_skip. False: somebody else was first; one's own must then
 * sleep, until that wake. */
static inline bool sn_waiter_claim_part(struct waiter *whole, uint32_t part)
{
	uint32_t waiting = WAITER_WAITING;

	/* -> wait.claim: what it is woken for <- wait.claim */
	return a_cas_acqrel(&whole->claim, &waiting, WAITER_SIGNALLED + part);
}

/* The same for n, which is linked or was. */
static inline bool sn_waiter_claim(struct waiter *n)
{
	return sn_waiter_claim_part(n->whole, n->part);
}

/* Take n off the queue and claim it; false: it was ended otherwise. The word's
 * bits are sn_wait_queue_bits' afterwards. Lock held. */
static inline bool sn_wait_take(void **list, struct waiter *n)
{
	sn_wait_queue_leave(list, n);
	return !n->is.raced || sn_waiter_claim(n);
}

/* Take the first waiter that still waits off the queue and claim it; NULL when
 * there is none. The word's bits are sn_wait_queue_bits' afterwards. Lock
 * held. */
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

/* Take all off and claim them; returns their chain for sn_wake_all, NULL
 * for none. The list is empty afterwards. word: its value. Lock held. */
struct link *sn_wait_take_all_raced(void **list);

static inline struct link *sn_wait_take_all(void **list, uint32_t word)
{
	struct link *all = *list;

	if (unlikely(word & WAIT_QUEUE_RACED))
		return sn_wait_take_all_raced(list);
	*list = NULL;
	return all;
}

/* Who the caller is, as owner of a lock: its fiber, the group of which it is a
 * member that runs on the opener's fiber, or its thread. Never the same for two
 * that exist at once. */
static inline void *sn_wait_identity(void)
{
	struct worker *w = sn_self;

	return likely(w) ? w->home.current->identity : (void *)&sn_parker;
}

/* The caller has taken a lock that it must give back before its task ends, or
 * gives it back: so many CLEANUP_MUTEX or CLEANUP_RWLOCK more. After each task
 * one word is looked at anyhow (task_cleanup.h), so the end costs nothing; but
 * each lock and unlock costs some instructions, so this is done in builds with
 * assertions only. An unbound thread has no task. */
static ALWAYS_INLINE void sn_wait_count_held(uint32_t locks)
{
#ifndef NDEBUG
	if (sn_self)
		sn_self->home.current->cleanup += locks;
#else
	(void)locks;
#endif
}

#endif
