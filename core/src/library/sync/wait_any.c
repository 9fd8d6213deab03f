/* SPDX-License-Identifier: Apache-2.0 */
#include "sync/wait_any.h"

/* --- wait any ------------------------------------------------------------- */

/* Number of parts that fit on every caller's stack: less than 1 KiB. */
enum { FEW_WAITERS = 8 };

/* The parts by the addresses of their objects: a hash table, at most half full,
 * of 1 + the number of a part; 0: free. */
struct places {
	uint8_t part[2 * WAIT_ANY_MAX];
};

_Static_assert(2 * WAIT_ANY_MAX == 128, "seven bits are a place");

/* Returns false if a part before the i-th has the same object. */
static bool take_place(struct places *p, const struct wait_any *s, size_t i,
		       const sennit_word *word)
{
	const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
	size_t         at = (size_t)(((uintptr_t)word >> 4) * golden >> 57);

	for (; p->part[at]; at = (at + 1) % sizeof(p->part))
		if (s->queue(s->objects, p->part[at] - 1u).word == word)
			return false;
	p->part[at] = (uint8_t)(i + 1);
	return true;
}

/* Link part n to its object, whose queue is q, unless that object is set. If it
 * is set, *mine becomes whether the caller claimed its own wait and need not
 * sleep. */
static bool link_part(const struct wait_any *s, struct wait_any_queue q,
		      struct waiter *n, bool *mine)
{
	uint32_t word = sn_wait_queue_lock(q.word);

	if (word & WAIT_QUEUE_OWN) {
		*mine = sn_waiter_claim(n);
		if (*mine)
			sn_race_acquire(q.word);
		sn_wait_queue_unlock(
			q.word,
			*mine ? s->passed(s->objects, n->part, word) : word);
		return false;
	}
	word |= sn_wait_queue_join(q.list, n, false);
	sn_wait_queue_unlock(q.word, word);
	return true;
}

/* Link parts until one finds its object set. Returns the number of parts that
 * are linked, or need not be: if an object occurs several times, only the first
 * part is linked. The thread that sets the object unlinks that one, and the
 * object may be gone before others could be unlinked. It may even be gone
 * before the next part is looked at, so not even its lock may be taken. */
static NOINLINE size_t link_parts(const struct wait_any *s,
				  struct waiter *whole, struct waiter *parts,
				  bool *mine)
{
	struct places places = { .part = { 0 } };
	size_t        i;

	for (i = 0; i < s->count; i++) {
		struct wait_any_queue q = s->queue(s->objects, i);

		sn_waiter_init_part(&parts[i], whole, (uint32_t)i);
		if (take_place(&places, s, i, q.word) &&
		    !link_part(s, q, &parts[i], mine))
			break;
	}
	return i;
}

/* Unlink the first `linked` parts, except those of object `which`. The thread
 * that ended the wait has unlinked that part, and the object may be gone. */
static void unlink_parts(const struct wait_any *s, struct waiter *parts,
			 size_t linked, size_t which)
{
	const sennit_word *gone = NULL;
	size_t             i;

	if (which < s->count)
		gone = s->queue(s->objects, which).word;

	for (i = 0; i < linked; i++) {
		struct wait_any_queue q = s->queue(s->objects, i);

		if (q.word != gone)
			sn_wait_leave(q.word, q.list, &parts[i]);
	}
}

static int wait_in_parts(const struct wait_any *s, struct waiter *parts,
			 size_t *which, sennit_time deadline)
{
	struct waiter whole;
	bool          mine = false;
	size_t        linked;
	size_t        part = s->count;
	int           err = 0;

	sn_waiter_init_whole(&whole, deadline);
	sn_wait_show(&whole, SENNIT_WAITS_FOR_SELECT, s->first, deadline);
	linked = link_parts(s, &whole, parts, &mine);
	if (mine)
		sn_wait_skip(&whole);
	else
		err = sn_wait(&whole, deadline);
	if (!err)
		part = sn_waiter_part(&whole);
	unlink_parts(s, parts, linked, part);
	if (!err)
		*which = part;
	return err;
}

static NOINLINE int wait_few(const struct wait_any *s, size_t *which,
			     sennit_time deadline)
{
	struct waiter parts[FEW_WAITERS];

	return wait_in_parts(s, parts, which, deadline);
}

static NOINLINE int wait_many(const struct wait_any *s, size_t *which,
			      sennit_time deadline)
{
	struct waiter parts[WAIT_ANY_MAX];

	return wait_in_parts(s, parts, which, deadline);
}

int sn_wait_any(const struct wait_any *s, size_t *which, sennit_time deadline)
{
	return s->count <= FEW_WAITERS ? wait_few(s, which, deadline)
				       : wait_many(s, which, deadline);
}

/* --- lock set ------------------------------------------------------------- */

void sn_lock_set_add(struct lock_set *l, sennit_word *word)
{
	size_t i = l->count;
	size_t last;

	while (i && (uintptr_t)l->words[i - 1] > (uintptr_t)word)
		i--;
	if (i && l->words[i - 1] == word)
		return;
	for (last = l->count++; last > i; last--)
		l->words[last] = l->words[last - 1];
	l->words[i] = word;
}

void sn_lock_set_take(const struct lock_set *l)
{
	size_t i;

	for (i = 0; i < l->count; i++)
		sn_wait_queue_lock(l->words[i]);
}

void sn_lock_set_drop(const struct lock_set *l)
{
	size_t i;

	for (i = 0; i < l->count; i++)
		sn_wait_queue_unlock(l->words[i], sn_lock_set_get(l->words[i]));
}
