/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/deque.h"

#include "base/compiler.h"
#include "base/memory.h"
#include "os/os.h"

#include <errno.h>

/* Bounds the tasks that take_back_tasks moves. */
#define TAKE_BACK_MAX TORTURED(2, 16)

/* About 2 us: longer than a forced take. */
#define SPINS 100

static uint32_t top_of(uint64_t pub)
{
	return (uint32_t)pub;
}

static uint32_t split_of(uint64_t pub)
{
	return (uint32_t)(pub >> 32);
}

static uint64_t pub_of(uint32_t top, uint32_t split)
{
	return (uint64_t)split << 32 | top;
}

static uint32_t public_count(uint64_t pub)
{
	return split_of(pub) - top_of(pub);
}

/* --- the lock: protects guard and split, except what thieves take ------- */

static bool try_lock(struct deque *d)
{
	return !a_load_rlx(&d->lock) &&
	       !a_swap_acq(&d->lock, 1); /* <- deque.lock */
}

static void lock_deque(struct deque *d)
{
	for (uint32_t i = 1; !try_lock(d); i++) {
		if (i % SPINS == 0)
			os_thread_give_way(i / SPINS - 1);
		else
			a_pause();
	}
}

static void unlock_deque(struct deque *d)
{
	a_store_rel(&d->lock, 0); /* -> deque.lock: guard, split */
}

/* --- owner: publishing and taking back ---------------------------------- */

/* Under the lock. Make everything below `split` public. Meanwhile only top may
 * change. */
static void raise_split(struct deque *d, uint32_t split)
{
	uint64_t p = a_load_rlx(&d->pub);

	while (!a_cas_weak_rel(&d->pub, &p,
			       pub_of(top_of(p), split))) /* -> deque.publish:
							   * slots, tasks */
		;
}

/* Under the lock, by the owner. No barrier is needed between guard and bottom,
 * because the owner writes both. */
static void publish_half(struct deque *d)
{
	uint32_t guard = a_load_rlx(&d->guard);
	uint32_t count = a_load_rlx(&d->bottom) - guard;

	if (count == 0)
		return;
	guard += count - count / 2;
	a_store_rlx(&d->guard, guard);
	TORTURE_POINT();
	raise_split(d, guard);
}

uint32_t sn_deque_publish(struct deque *d)
{
	a_store_rlx(&d->asked, 0);
	if (!try_lock(d))
		return 0;
	publish_half(d);
	unlock_deque(d);
	return public_count(a_load_rlx(&d->pub));
}

/* Under the lock, when nothing is private. Take back the newer half of the
 * public tasks, at most TAKE_BACK_MAX of them, together with the oldest one, so
 * that top rises. The newest task goes to *out. The others move up by one slot
 * to make room for the oldest below them.
 *	before	| o | a | b | c | d |  split = bottom	(public)
 *	after	    | a | b | o | c |  bottom	*out = d
 *			    ^ split
 * Relaxed: the owner itself filled these slots, and a thief that loses against
 * this discards what it has read. */
static bool take_back_tasks(struct deque *d, struct task *out)
{
	uint32_t    bottom = a_load_rlx(&d->bottom);
	uint64_t    p = a_load_rlx(&d->pub);
	struct task oldest;
	uint32_t    kept;

	do {
		if (public_count(p) == 0)
			return false;
		kept = public_count(p) / 2;
		if (kept > TAKE_BACK_MAX)
			kept = TAKE_BACK_MAX;
		oldest = sn_slot_read(&d->slot[top_of(p) & d->mask]);
		TORTURE_POINT();
	} while (!a_cas_rlx(&d->pub, &p, pub_of(top_of(p) + 1, bottom - kept)));
	a_store_rlx(&d->guard, bottom - kept);
	if (kept == 0) {
		*out = oldest;
		return true;
	}
	TORTURE_POINT(); /* taken back, not yet moved */
	*out = sn_slot_read(&d->slot[(bottom - 1) & d->mask]);
	for (uint32_t i = bottom - 1; i != bottom - kept; i--)
		sn_slot_fill(&d->slot[i & d->mask],
			     sn_slot_read(&d->slot[(i - 1) & d->mask]));
	sn_slot_fill(&d->slot[(bottom - kept) & d->mask], oldest);
	return true;
}

/* Under the lock. */
static bool pop_locked(struct deque *d, struct task *out)
{
	uint32_t b = a_load_rlx(&d->bottom) - 1;

	if ((int32_t)(b - a_load_rlx(&d->guard)) < 0)
		return take_back_tasks(d, out);
	a_store_rlx(&d->bottom, b); /* a forced take has lowered guard
				     * again */
	*out = sn_slot_read(&d->slot[b & d->mask]);
	return true;
}

bool sn_deque_pop_rest(struct deque *d, struct task *out)
{
	uint32_t b = a_load_rlx(&d->bottom) + 1;
	bool     found;

	TORTURE_POINT();
	a_store_rlx(&d->bottom, b); /* give back the position that pop has
				     * claimed */

	/* Not stale: only the owner lowers split, and top never passes
	 * split. */
	if (a_load_rlx(&d->pub) == pub_of(b, b)) {
		if (a_load_rlx(&d->asked))
			a_store_rlx(&d->asked, 0); /* nothing to publish */
		return false;
	}
	lock_deque(d);
	found = pop_locked(d, out);
	unlock_deque(d);
	return found;
}

bool sn_deque_pop_oldest(struct deque *d, struct task *out)
{
	while (sn_deque_steal(d, out, 1) == 0) {
		if (sn_deque_count(d) == 0)
			return false;
		if (sn_deque_has_public(d))
			continue; /* another thief was faster */
		lock_deque(d);
		publish_half(d);
		unlock_deque(d);
	}
	return true;
}

/* --- thieves ------------------------------------------------------------ */

uint32_t sn_deque_steal(struct deque *victim, struct task out[], uint32_t max)
{
	uint64_t      p = a_load_acq(&victim->pub); /* <- deque.publish */
	uint32_t      top = top_of(p);
	uint32_t      count = public_count(p);
	struct slots *s;

	count -= count / 2;
	if (count > max)
		count = max;
	if (count == 0)
		return 0;
	s = a_load_acq(&victim->slots); /* <- deque.slots */
	for (uint32_t i = 0; i < count; i++)
		out[i] = sn_slot_read(&s->slot[(top + i) & s->mask]);
	TORTURE_POINT(); /* read, not yet taken */
	if (!a_cas_acqrel(&victim->pub, &p,
			  pub_of(top + count,
				 split_of(p)))) /* -> deque.steal: slots read
						 * <- deque.publish */
		return 0;
	return count;
}

bool sn_deque_ask(struct deque *victim)
{
	/* Stale values cause at most one request too many, or a request at the
	 * next look. */
	uint32_t bottom = a_load_rlx(&victim->bottom);

	/* Check this first: `asked` may outlive the tasks that it asked for. */
	if ((int32_t)(bottom - split_of(a_load_rlx(&victim->pub))) <= 0)
		return false;
	if (!a_load_rlx(&victim->asked))
		a_store_rlx(&victim->asked, 1);
	return true;
}

/* Under the lock. Either the owner sees the raised guard and waits for the lock
 * before it takes anything below it, or this thread sees that bottom has fallen
 * below guard and restores guard. No thief takes tasks below guard before split
 * has followed. */
static bool force_locked(struct deque *d)
{
	uint32_t old = a_load_rlx(&d->guard);
	int32_t  count = (int32_t)(a_load_rlx(&d->bottom) - old);
	uint32_t guard = old + (uint32_t)count - (uint32_t)count / 2;

	if (count <= 0)
		return false;
	a_store_rlx(&d->guard, guard);
	TORTURE_POINT(); /* the owner sees a raised guard */
	if (d->asymmetric)
		os_process_barrier(); /* <-> deque.force: raise, then look */
	else
		a_fence(); /* <-> deque.force: raise, then look */
	if ((int32_t)(a_load_acq(&d->bottom) - guard) < 0) { /* <- deque.push */
		a_store_rlx(&d->guard, old);
		return false;
	}
	TORTURE_POINT();
	raise_split(d, guard);
	return true;
}

bool sn_deque_force(struct deque *victim)
{
	bool forced;

	if (!try_lock(victim))
		return false;
	forced = force_locked(victim);
	unlock_deque(victim);
	return forced;
}

/* --- any thread --------------------------------------------------------- */

bool sn_deque_has_public(const struct deque *d)
{
	return public_count(a_load_rlx(&d->pub)) != 0;
}

/* Read bottom first: tasks that become public in between then show in pub. */
bool sn_deque_has_tasks(const struct deque *d)
{
	uint32_t bottom = a_load_acq(&d->bottom); /* <- deque.push */
	uint64_t p = a_load_rlx(&d->pub);

	return public_count(p) != 0 || (int32_t)(bottom - split_of(p)) > 0;
}

uint32_t sn_deque_count(const struct deque *d)
{
	uint32_t bottom = a_load_acq(&d->bottom); /* <- deque.push */
	int32_t  count = (int32_t)(bottom - top_of(a_load_rlx(&d->pub)));

	return count > 0 ? (uint32_t)count : 0;
}

/* --- deque slots ---------------------------------------------------------- */

/* The slots of a deque: allocation, growth, trimming. */

#define DEQUE_CAPACITY_MAX \
	(1 << 30) /* positions are compared as signed numbers */

static size_t slots_size(uint32_t capacity)
{
	return sizeof(struct slots) + capacity * sizeof(struct slot);
}

/* From now on the owner works on *s. */
static void use_slots(struct deque *d, struct slots *s)
{
	d->mask = s->mask;
	d->slot = s->slot;
	a_store_rel(&d->slots, s); /* -> deque.slots: mask, the tasks copied */
}

static struct slots *take_slots(const sennit_allocator *a, uint32_t capacity)
{
	struct slots *s = sn_memory_take(a, slots_size(capacity),
					 _Alignof(struct slots));

	if (s)
		s->mask = capacity - 1;
	return s;
}

int sn_deque_init(struct deque *d, const sennit_allocator *allocator,
		  uint32_t capacity, bool asymmetric)
{
	struct slots *s = take_slots(allocator, capacity);

	ASSERT(capacity && !(capacity & (capacity - 1)));
	if (!s)
		return -ENOMEM;
	a_init(&d->bottom, 0);
	d->zero = 0;
	a_init(&d->guard, 0);
	a_init(&d->asked, 0);
	a_init(&d->lock, 0);
	a_init(&d->pub, 0);
	d->limit = capacity;
	d->asymmetric = asymmetric;
	d->allocator = allocator;
	use_slots(d, s);
	return 0;
}

void sn_deque_free(struct deque *d)
{
	struct slots *s = a_load_rlx(&d->slots);

	while (s) {
		struct slots *older = s->older;

		sn_memory_give(d->allocator, s, slots_size(s->mask + 1));
		s = older;
	}
}

/* No lock is needed. A thief with the old slots finds in them every task that
 * it may take, because the owner no longer fills them. A thief with the new
 * slots fails if it wants a task so old that it was not copied, because top has
 * passed that task. */
static int grow_deque(struct deque *d, uint32_t top, uint32_t bottom,
		      uint64_t capacity)
{
	struct slots *old = a_load_rlx(&d->slots);
	struct slots *s;

	if (capacity > DEQUE_CAPACITY_MAX)
		return -ENOMEM;
	s = take_slots(d->allocator, (uint32_t)capacity);
	if (!s)
		return -ENOMEM;
	s->older = old;
	TORTURE_POINT();
	for (uint32_t i = top; i != bottom; i++)
		sn_slot_fill(&s->slot[i & s->mask],
			     sn_slot_read(&old->slot[i & old->mask]));
	use_slots(d, s);
	d->limit = top + (uint32_t)capacity;
	return 0;
}

/* Thieves may have made room since the last look. */
int sn_deque_reserve(struct deque *d, uint32_t n)
{
	uint32_t b = a_load_rlx(&d->bottom);
	uint32_t top = (uint32_t)a_load_acq(&d->pub); /* <- deque.steal */
	uint64_t had = (uint64_t)d->mask + 1;
	uint64_t capacity = had;

	while (capacity < (uint64_t)(b - top) + n)
		capacity *= 2;
	if (capacity > had)
		return grow_deque(d, top, b, capacity);
	d->limit = top + d->mask + 1;
	return 0;
}

int sn_deque_push_full(struct deque *d, sennit_task_fn *run, void *argument,
		       uintptr_t meta SITE_PARAMETER)
{
	int err = sn_deque_reserve(d, 1);

	return err ? err
		   : sn_deque_push(d, (struct task){ run, argument,
						     meta SITE_ARGUMENT });
}

/* A late thief may still read old or new slots: it reads zeros, or what was
 * there. It has seen a `pub` with tasks, and that value never comes again. So
 * its compare-and-set fails, and it discards what it has read. */
void sn_deque_trim(struct deque *d)
{
	struct slots *s = a_load_rlx(&d->slots);

	if (!sn_deque_is_large(d) || sn_deque_has_tasks_owner(d))
		return;
	for (; s; s = s->older)
		os_discard(s->slot, (s->mask + 1) * sizeof(struct slot));
}
