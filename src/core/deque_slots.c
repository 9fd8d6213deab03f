/* SPDX-License-Identifier: Apache-2.0 */
/* deque_slots.c - the slots of a deque: allocation, growth, trimming. */
#include "core/deque.h"

#include "base/check.h"
#include "os/os.h"

#include <errno.h>

#define CAPACITY_MAX (1 << 30) /* positions are compared as signed numbers */

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
static int grow(struct deque *d, uint32_t top, uint32_t bottom,
		uint64_t capacity)
{
	struct slots *old = a_load_rlx(&d->slots);
	struct slots *s;

	if (capacity > CAPACITY_MAX)
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
		return grow(d, top, b, capacity);
	d->limit = top + d->mask + 1;
	return 0;
}

int sn_deque_push_full(struct deque *d, sennit_task_fn *run, void *argument,
		       uintptr_t meta)
{
	int err = sn_deque_reserve(d, 1);

	return err ? err
		   : sn_deque_push(d, (struct task){ run, argument, meta });
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
