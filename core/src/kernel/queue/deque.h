/* SPDX-License-Identifier: Apache-2.0 */
/* deque.h - a worker's task deque. The owner pushes and pops the newest tasks;
 * thieves steal the oldest. The owner pays for synchronisation only when
 * thieves come. It is like Chase and Lev's deque (2005), with a private part as
 * in split deques.
 *
 *	  top              split = guard                bottom
 *	   v                 v                            v
 *	   | public: thieves | private: the owner's alone |
 *	   oldest                                    newest
 *
 * The owner uses the private part without atomic read-modify-writes and without
 * fences. A thief that finds nothing public asks the owner; the owner sees the
 * request when it pushes, and publishes the older half of its private tasks. If
 * the owner does not answer, a thief forces: it raises `guard`, makes sure that
 * the owner has seen the new value, and publishes in the owner's place.
 *
 * Positions are 32 bits wide and wrap around. They are compared by signed
 * difference, never by value. The slot of a position is the position modulo the
 * capacity. The slots grow by doubling. Old slots are kept, because late
 * thieves may still read them. All old slots together are smaller than the
 * newest ones.
 *
 * Invariants
 *   - top <= split <= bottom, and bottom - top <= capacity. While the
 *     owner pops, bottom may be one lower.
 *   - `pub`, which is {top, split}, never has the same value twice: top
 *     never falls, and split falls only in the step in which top rises.
 *     So if a thief's compare-and-set succeeds, the slots that it read
 *     were unchanged. (If split alone were lowered, a thief that slept
 *     meanwhile could take the old contents.) Only a thief that sleeps
 *     through exactly 2^32 tasks would be misled.
 *   - guard == split whenever `lock` is free. While a thief holds the
 *     lock, guard may be higher. split follows only when bottom is known
 *     to have stayed at or above guard.
 *   - The owner takes a task below guard only under the lock.
 *   - A slot is filled before bottom passes it (deque.push). bottom
 *     passes it before split does (deque.publish). It is filled again
 *     only after top has passed it (deque.steal).
 *
 * What excludes each pair of operations: X the lock, c the compare-and-set on
 * pub, b the barrier between guard and bottom.
 *
 *		push  pop  pop the rest  publish  steal  force
 *	steal   -     -    c             c        c      c
 *	force   -     b    X             X        c      X
 *
 * (push, pop and publish are operations of the owner.)
 *
 * Linearisation points. push: the store of bottom. pop: the load of guard. pop
 * the rest: the compare-and-set. steal: the compare-and-set.
 *
 * Progress. push and pop of private tasks are wait-free. steal is lock-free: it
 * gives up when it loses. force gives up when the lock is held. The owner's
 * slow paths wait for at most one forced take.
 */
#ifndef SN_DEQUE_H
#define SN_DEQUE_H

#include "base/atomic.h"
#include "base/torture.h"
#include "arch/cpu.h"
#include "queue/task.h"

#include <stdalign.h>

/* Trimming frees slots only above this capacity. */
#define DEQUE_KEPT TORTURED(128u, 1024u)

/* The words of one task. They are relaxed atomics, because a thief whose
 * compare-and-set will fail may read a slot while the owner fills it. */
struct slot {
	alignas(32) a_word run;
	a_word argument;
	a_word meta;
#ifdef SENNIT_SPAWN_SITES
	a_word site;
#endif
#ifdef SENNIT_RACE
	a_word sent;
#endif
};

struct slots {
	uint32_t      mask;   /* fixed: capacity - 1 */
	struct slots *older;  /* fixed: the slots that these replaced */
	struct slot   slot[]; /* owner writes */
};

struct deque {
	/* The owner writes this line in every operation; thieves read it
	 * seldom. */
	/* Owner writes bottom. zero: owner: always 0; a fork writes it in one
	 * store with bottom. */
	alignas(CACHE_LINE) HALVES(a_u32, bottom, uint32_t, zero);
	uint32_t                limit;      /* owner: bottom may grow to here
					     * without a look at top */
	uint32_t                mask;       /* owner: mask of the current
					     * slots */
	struct slot            *slot;       /* owner: the current slots */
	bool                    asymmetric; /* fixed: thieves use the process
					       * barrier, the owner no fence */
	const sennit_allocator *allocator;  /* fixed */

	/* The owner reads this line in every operation; it is written
	 * seldom. */
	alignas(CACHE_LINE) a_u32 guard; /* any, under lock */
	a_u32 asked;                     /* any; 1: a thief asks the owner to
					  * publish. May stay set when no thief
					  * waits any more */
	a_u32 lock;                      /* any; 1: held */

	/* Thieves write this line. */
	alignas(CACHE_LINE) a_u64 pub; /* any: top below, split above */
	a_ptr slots;                   /* owner writes */
};

/* `capacity` is the initial capacity, a power of two. `asymmetric` says that
 * os_process_barrier() works; otherwise each pop has a fence. Returns 0 or
 * -ENOMEM. */
SENNIT_MUST_USE int sn_deque_init(struct deque           *d,
				  const sennit_allocator *allocator,
				  uint32_t capacity, bool asymmetric);

/* No thread may use the deque any more. Tasks that are still queued are
 * dropped. */
void sn_deque_free(struct deque *d);

/* --- the owner ---------------------------------------------------------- */

static inline SENNIT_MUST_USE int sn_deque_push(struct deque *d, struct task t);
static inline bool sn_deque_pop(struct deque *d, struct task *out);

/* Whether there are tasks. Exact. Reads the thieves' cache line only when
 * nothing is private. */
static inline bool sn_deque_has_tasks_owner(const struct deque *d);

/* Whether the next pop will find a task without reading the thieves' cache
 * line. */
static inline bool sn_deque_has_private_owner(const struct deque *d)
{
	return (int32_t)(a_load_rlx(&d->bottom) - a_load_rlx(&d->guard)) > 0;
}

/* The position after the newest task. */
static inline uint32_t sn_deque_bottom(const struct deque *d)
{
	return a_load_rlx(&d->bottom);
}

/* Pop the newest task if its meta, masked with `mask`, equals `meta`. */
static inline bool sn_deque_pop_if(struct deque *d, uintptr_t mask,
				   uintptr_t meta, struct task *out);

/* Make room for n more tasks. Returns 0. On -ENOMEM nothing has changed. */
SENNIT_MUST_USE int sn_deque_reserve(struct deque *d, uint32_t n);

/* sn_deque_spare returns slot i of the reserved room, for the caller to fill.
 * No other thread reads it until sn_deque_push_filled adds the first n of these
 * slots as tasks, in one step. */
static inline struct slot *sn_deque_spare(struct deque *d, uint32_t i);
static inline void         sn_deque_push_filled(struct deque *d, uint32_t n);

/* Take the oldest task into *out. Returns false when there is none. Publishes
 * the older half of the private tasks when nothing is public, so that most
 * calls cost one compare-and-set. */
bool sn_deque_pop_oldest(struct deque *d, struct task *out);

/* Clear the request and publish the older half of the private tasks, rounded
 * up. Returns the number of public tasks. Returns 0 also while a thief is
 * forcing. */
uint32_t sn_deque_publish(struct deque *d);

/* Free the memory of the slots if there are no tasks and the capacity is large.
 * The addresses stay valid. */
void sn_deque_trim(struct deque *d);

static inline bool sn_deque_is_large(const struct deque *d)
{
	return d->mask >= DEQUE_KEPT;
}

/* Whether a thief has asked the owner to publish. A late view is harmless: the
 * thief does not wait for it. */
static inline bool sn_deque_is_asked(const struct deque *d)
{
	return a_load_rlx(&d->asked);
}

/* --- thieves ------------------------------------------------------------ */

/* Take the older half of the public tasks, rounded up, but at most `max`, into
 * out, oldest first. Returns the number taken. 0 means that there were none, or
 * that another thief was faster. */
uint32_t sn_deque_steal(struct deque *victim, struct task out[], uint32_t max);

/* Ask the owner to publish. Returns whether a request is pending; false when
 * there are no private tasks. */
bool sn_deque_ask(struct deque *victim);

/* Publish the older half of the private tasks in the owner's place. This
 * interrupts every running thread of the process, so the caller must limit the
 * rate. Returns whether it published anything. */
bool sn_deque_force(struct deque *victim);

/* --- any thread, as a hint ---------------------------------------------- */

bool sn_deque_has_public(const struct deque *d);

/* May miss only tasks that were pushed or published after the call began. */
bool sn_deque_has_tasks(const struct deque *d);

/* The number of tasks. Exact for the owner. */
uint32_t sn_deque_count(const struct deque *d);

/* A lack of private tasks is no proof: a forced take may hold guard at or above
 * bottom before it has published anything. The low half of pub is top. */
static inline bool sn_deque_has_tasks_owner(const struct deque *d)
{
	return sn_deque_has_private_owner(d) ||
	       a_load_rlx(&d->bottom) != (uint32_t)a_load_rlx(&d->pub);
}

/* --- the fast paths ----------------------------------------------------- */

/* The slow paths: push when bottom has reached limit, pop when bottom has
 * reached guard. push_full takes the task as words, because a struct argument
 * that must be in memory would slow the fast path. */
COLD int      sn_deque_push_full(struct deque *d, sennit_task_fn *run,
				 void *argument, uintptr_t meta SITE_PARAMETER);
NOINLINE bool sn_deque_pop_rest(struct deque *d, struct task *out);

static inline void sn_slot_fill(struct slot *s, struct task t)
{
	sn_task_send(&t);
	a_store_rlx(&s->run, (uintptr_t)t.run);
	a_store_rlx(&s->argument, (uintptr_t)t.argument);
	a_store_rlx(&s->meta, t.meta);
#ifdef SENNIT_SPAWN_SITES
	a_store_rlx(&s->site, (uintptr_t)t.site);
#endif
#ifdef SENNIT_RACE
	a_store_rlx(&s->sent, (uintptr_t)t.sent);
#endif
}

#ifdef SENNIT_SPAWN_SITES
/* The macros of fork_join.h leave what stood in the slot. */
static inline const void *sn_slot_site(const struct slot *s)
{
	return (a_load_rlx(&s->meta) & TASK_TAG) == TASK_INSIDE
		       ? NULL
		       : (const void *)a_load_rlx(&s->site);
}
#endif

static inline struct task sn_slot_read(const struct slot *s)
{
	return (struct task){
		.run = (sennit_task_fn *)a_load_rlx(&s->run),
		.argument = (void *)a_load_rlx(&s->argument),
		.meta = a_load_rlx(&s->meta),
#ifdef SENNIT_SPAWN_SITES
		.site = sn_slot_site(s),
#endif
#ifdef SENNIT_RACE
		.sent = (void *)a_load_rlx(&s->sent),
#endif
	};
}

/* Whether the next push will find room without reading the thieves' cache
 * line. */
static inline bool sn_deque_has_room(const struct deque *d)
{
	return (int32_t)(a_load_rlx(&d->bottom) - d->limit) < 0;
}

/* The same for n pushes. */
static inline bool sn_deque_has_room_for(const struct deque *d, uint32_t n)
{
	return (int32_t)(d->limit - a_load_rlx(&d->bottom)) >= (int32_t)n;
}

/* Make the next push read the thieves' cache line, whether there is room or
 * not. */
static inline void sn_deque_forget_room(struct deque *d)
{
	d->limit = a_load_rlx(&d->bottom);
}

/* Push at b, which equals bottom. There must be room. */
static ALWAYS_INLINE void sn_deque_push_at(struct deque *d, uint32_t b,
					   struct task t)
{
	sn_slot_fill(&d->slot[b & d->mask], t);
	TORTURE_POINT();
	a_store_rel(&d->bottom, b + 1); /* -> deque.push: the slot, the task */
}

static inline void sn_deque_push_room(struct deque *d, struct task t)
{
	sn_deque_push_at(d, a_load_rlx(&d->bottom), t);
}

/* Push t as the newest task. Returns 0. On -ENOMEM nothing has changed. */
static inline SENNIT_MUST_USE int sn_deque_push(struct deque *d, struct task t)
{
	uint32_t b = a_load_rlx(&d->bottom);

	if (unlikely((int32_t)(b - d->limit) >= 0)) {
#ifdef SENNIT_RACE
		int err = sn_deque_reserve(d, 1);

		return err ? err : sn_deque_push(d, t);
#else
		return sn_deque_push_full(d, t.run, t.argument,
					  t.meta SITE_OF(t));
#endif
	}
	sn_deque_push_at(d, b, t);
	return 0;
}

static inline struct slot *sn_deque_spare(struct deque *d, uint32_t i)
{
	return &d->slot[(a_load_rlx(&d->bottom) + i) & d->mask];
}

static inline void sn_deque_push_filled(struct deque *d, uint32_t n)
{
	TORTURE_POINT();
	/* -> deque.push: the slots, the tasks */
	a_store_rel(&d->bottom, a_load_rlx(&d->bottom) + n);
}

/* Take the newest task, at b, into *out. Returns false when there is none.
 *
 * The owner lowers bottom and then reads guard. A thief raises guard and then
 * reads bottom. At least one of them sees the other's write. The owner's store
 * may be relaxed because it only removes tasks: a thread that reads its value
 * still sees everything that the earlier pushes released (C11 5.1.2.4, release
 * sequence). */
static ALWAYS_INLINE bool sn_deque_pop_at(struct deque *d, uint32_t b,
					  struct task *out)
{
	struct task rest; /* keeps *out in registers */

	a_store_rlx(&d->bottom, b);
	if (likely(d->asymmetric))
		a_compiler_fence(); /* <-> deque.force: claim, then look */
	else
		a_fence(); /* <-> deque.force: claim, then look */
	TORTURE_POINT();
	if (unlikely((int32_t)(b - a_load_rlx(&d->guard)) < 0)) {
		if (!sn_deque_pop_rest(d, &rest))
			return false;
		*out = rest;
		return true;
	}
	TORTURE_POINT();
	*out = sn_slot_read(&d->slot[b & d->mask]);
	return true;
}

static inline bool sn_deque_pop(struct deque *d, struct task *out)
{
	return sn_deque_pop_at(d, a_load_rlx(&d->bottom) - 1, out);
}

/* Pop the newest task if its meta, as far as in `mask`, is `meta`. When there
 * is no task, the slot below bottom holds an old one, and the pop fails. */
static inline bool sn_deque_pop_if(struct deque *d, uintptr_t mask,
				   uintptr_t meta, struct task *out)
{
	uint32_t b = a_load_rlx(&d->bottom) - 1;

	return (a_load_rlx(&d->slot[b & d->mask].meta) & mask) == meta &&
	       sn_deque_pop_at(d, b, out);
}

#endif
