/* SPDX-License-Identifier: Apache-2.0 */
/* deque.h - a worker's tasks: it pushes and pops the newest, thieves take the
 * oldest, and it pays for that only when thieves come.
 *
 *	  top              split = guard                bottom
 *	   v                 v                            v
 *	   | public: thieves | private: the owner's alone |
 *	   oldest                                    newest
 *
 * The owner works on the private part without any atomic read-modify-write or
 * fence. A thief that finds nothing public asks; the owner sees that where it
 * pushes and publishes the older half. From an owner that does not answer a
 * thief takes by force: it raises `guard`, makes sure that the owner has seen
 * it, and publishes for it.
 *
 * Positions are 32 bits wide and wrap: compared by signed difference, never by
 * value. A position's slot is the position modulo the capacity of the slots,
 * which grow by doubling. Old slots are kept, as late thieves may still read
 * them: all of them together are smaller than the newest.
 *
 * Invariants
 *   - top <= split <= bottom, bottom - top <= capacity; while the owner pops,
 *     bottom may lie one lower.
 *   - `pub`, which is {top, split}, never has the same value twice: top never
 *     falls, and split falls only in the same step in which top rises. So a
 *     thief whose compare-and-set succeeds has read the slots as they are.
 *     (Taking back split alone would let a thief that slept meanwhile take
 *     what was there before.) A thief would have to sleep through exactly
 *     2^32 tasks to be fooled.
 *   - guard == split whenever `lock` is free. Under lock a thief may hold
 *     guard higher; split follows it only when bottom is known to have
 *     stayed at or above it.
 *   - The owner takes nothing below guard but under lock.
 *   - A slot is filled before bottom passes it (deque.push), bottom passes it
 *     before split does (deque.publish), and it is filled again only after
 *     top has passed it (deque.steal).
 *
 * Who excludes whom: X by the lock, c by compare-and-set on pub, b by the
 * barrier between guard and bottom.
 *
 *		push  pop  pop the rest  publish  steal  force
 *	steal   -     -    c             c        c      c
 *	force   -     b    X             X        c      X
 *
 * (push, pop and publish are all the owner's.)
 *
 * Linearisation: push at its store of bottom; pop at its load of guard, or of
 * the rest at its compare-and-set; steal at its compare-and-set. Progress:
 * push and pop of private tasks wait-free, steal lock-free (it gives up when
 * it loses), force gives up when the lock is taken; the owner's slow paths
 * wait for one forced take at most.
 */
#ifndef SN_DEQUE_H
#define SN_DEQUE_H

#include "base/atomic.h"
#include "base/memory.h"
#include "base/torture.h"
#include "core/task.h"

#include <stdalign.h>

/* So few slots are not worth giving their memory back. */
#define DEQUE_KEPT TORTURED(128u, 1024u)

/* The words of one task. Relaxed atomics, since a thief that is about to lose
 * may read a slot that the owner fills. */
struct slot {
	alignas(32) a_word run;
	a_word argument;
	a_word meta;
};

struct slots {
	uint32_t      mask;   /* fixed: capacity - 1 */
	struct slots *older;  /* fixed: the ones these replaced */
	struct slot   slot[]; /* owner writes */
};

struct deque {
	/* The owner writes here at every operation, thieves look seldom. */
	alignas(CACHE_LINE) a_u32 bottom;   /* owner writes */
	uint32_t                zero;       /* owner: stays so; forks write it
					     * along with bottom */
	uint32_t                limit;      /* owner: bottom may grow to here
					    * without a look at top */
	uint32_t                mask;       /* owner: that of slots */
	struct slot            *slot;       /* owner: those of slots */
	bool                    asymmetric; /* fixed: thieves use the process
					       * barrier, the owner no fence */
	const sennit_allocator *allocator;  /* fixed */

	/* The owner looks here at every operation, written seldom. */
	alignas(CACHE_LINE) a_u32 guard; /* any, under lock */
	a_u32 asked;                     /* any; set: publish, please. May stay
					  * set when nobody waits any more */
	a_u32 lock;                      /* any; 1: held */

	/* Thieves write here. */
	alignas(CACHE_LINE) a_u64 pub; /* any: top below, split above */
	a_ptr slots;                   /* owner writes */
};

/* capacity: a power of two, for the start. asymmetric: os_process_barrier()
 * works; otherwise each pop has a fence. Returns 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_deque_init(struct deque           *d,
				  const sennit_allocator *allocator,
				  uint32_t capacity, bool asymmetric);

/* Nobody may use it any more. Whatever is still queued is dropped. */
void sn_deque_free(struct deque *d);

/* --- the owner ---------------------------------------------------------- */

static inline SENNIT_MUST_USE int sn_deque_push(struct deque *d, struct task t);
static inline bool sn_deque_pop(struct deque *d, struct task *out);

/* Whether there are tasks; exact, and looks at the thieves' line only when
 * nothing is private. */
static inline bool sn_deque_has_tasks_owner(const struct deque *d);

/* Whether the next pop will find a task without looking at that line. */
static inline bool sn_deque_has_private_owner(const struct deque *d)
{
	return (int32_t)(a_load_rlx(&d->bottom) - a_load_rlx(&d->guard)) > 0;
}

/* Pop if the newest task's meta, under the mask, is the one given. */
static inline bool sn_deque_pop_if(struct deque *d, uintptr_t mask,
				   uintptr_t meta, struct task *out);

/* Make room for n more tasks. Returns 0, or -ENOMEM: nothing has changed. */
SENNIT_MUST_USE int sn_deque_reserve(struct deque *d, uint32_t n);

/* Slot i, within the room made, of tasks to come: nobody else looks there until
 * sn_deque_push_filled has made those filled in tasks, all in one step. */
static inline struct slot *sn_deque_spare(struct deque *d, uint32_t i);
static inline void         sn_deque_push_filled(struct deque *d, uint32_t n);

/* Take the oldest task into *out; false when there is none. Publishes the
 * older half when nothing is public, so that most calls cost one
 * compare-and-set. */
bool sn_deque_pop_oldest(struct deque *d, struct task *out);

/* Clear the request and make the older half of the private tasks, rounded up,
 * public. Returns how many are public now; 0 also when a thief is taking by
 * force just now. */
uint32_t sn_deque_publish(struct deque *d);

/* Give the memory of the slots back, if there are no tasks and a good many
 * slots; they stay where they are. */
void sn_deque_trim(struct deque *d);

static inline bool sn_deque_is_large(const struct deque *d)
{
	return d->mask >= DEQUE_KEPT;
}

/* Whether some thief asked for tasks to be made public. Seen late at worst,
 * and the thief does not wait for it. */
static inline bool sn_deque_is_asked(const struct deque *d)
{
	return a_load_rlx(&d->asked);
}

/* --- thieves ------------------------------------------------------------ */

/* Take the oldest half of the public tasks, rounded up, at most max, into out,
 * oldest first. Returns how many; 0 when there were none or another was
 * faster. */
uint32_t sn_deque_steal(struct deque *victim, struct task out[], uint32_t max);

/* Ask the owner to publish. Returns whether a request stands: false when there
 * is nothing private to ask for. */
bool sn_deque_ask(struct deque *victim);

/* Publish the older half of the private tasks in the owner's stead. Interrupts
 * every thread of the process for a moment: the caller limits the rate.
 * Returns whether it made something public. */
bool sn_deque_force(struct deque *victim);

/* --- any thread, as a hint ---------------------------------------------- */

bool sn_deque_has_public(const struct deque *d);

/* Misses only tasks that were pushed, or made public, since it was called. */
bool sn_deque_has_tasks(const struct deque *d);

/* How many tasks there are; exact for the owner. */
uint32_t sn_deque_count(const struct deque *d);

/* Nothing private does not tell: a forced take may hold guard at or above
 * bottom before it has made anything public. The low half of pub is top. */
static inline bool sn_deque_has_tasks_owner(const struct deque *d)
{
	return sn_deque_has_private_owner(d) ||
	       a_load_rlx(&d->bottom) != (uint32_t)a_load_rlx(&d->pub);
}

/* --- the fast paths ----------------------------------------------------- */

/* Push that has reached limit, pop that has reached guard. The task goes in
 * words, as the fast path would pay for a struct that has to lie in memory. */
COLD int      sn_deque_push_full(struct deque *d, sennit_task_fn *run,
				 void *argument, uintptr_t meta);
NOINLINE bool sn_deque_pop_rest(struct deque *d, struct task *out);

static inline void sn_slot_fill(struct slot *s, struct task t)
{
	a_store_rlx(&s->run, (uintptr_t)t.run);
	a_store_rlx(&s->argument, (uintptr_t)t.argument);
	a_store_rlx(&s->meta, t.meta);
}

static inline struct task sn_slot_read(const struct slot *s)
{
	return (struct task){
		.run = (sennit_task_fn *)a_load_rlx(&s->run),
		.argument = (void *)a_load_rlx(&s->argument),
		.meta = a_load_rlx(&s->meta),
	};
}

/* Whether the next push will find room without a look at the thieves' line. */
static inline bool sn_deque_has_room(const struct deque *d)
{
	return (int32_t)(a_load_rlx(&d->bottom) - d->limit) < 0;
}

/* The same for n pushes. */
static inline bool sn_deque_has_room_for(const struct deque *d, uint32_t n)
{
	return (int32_t)(d->limit - a_load_rlx(&d->bottom)) >= (int32_t)n;
}

/* The next push looks at the thieves' line whether there is room or not. */
static inline void sn_deque_forget_room(struct deque *d)
{
	d->limit = a_load_rlx(&d->bottom);
}

/* Push at b, which is bottom, where there is room. */
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

/* Put t at the newest end. Returns 0, or -ENOMEM: nothing has changed. */
static inline SENNIT_MUST_USE int sn_deque_push(struct deque *d, struct task t)
{
	uint32_t b = a_load_rlx(&d->bottom);

	if (unlikely((int32_t)(b - d->limit) >= 0))
		return sn_deque_push_full(d, t.run, t.argument, t.meta);
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

/* Take the task at b, which is the newest, into *out; false when there is none.
 *
 * Here the owner lowers bottom and then looks at guard, while a thief raises
 * guard and then looks at bottom: at least one of them sees the other. The
 * store may be relaxed, as it only takes away: who reads it still sees all
 * that the pushes before it released (C11 5.1.2.4, release sequence). */
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

/* The slot below bottom is the newest task's, or, when there is none, an old
 * one's, and then the pop fails. */
static inline bool sn_deque_pop_if(struct deque *d, uintptr_t mask,
				   uintptr_t meta, struct task *out)
{
	uint32_t b = a_load_rlx(&d->bottom) - 1;

	return (a_load_rlx(&d->slot[b & d->mask].meta) & mask) == meta &&
	       sn_deque_pop_at(d, b, out);
}

#endif
