/* SPDX-License-Identifier: Apache-2.0 */
#include "wait/wait_any.h"

/* Number of parts that fit on every caller's stack: less than 1 KiB. */
enum { FEW = 8 };

/* Whether one of the parts before the i-th is linked to the same object. */
static bool is_linked(const struct wait_any *s, size_t i,
		      const sennit_word *word)
{
	while (i--)
		if (s->queue(s->objects, i).word == word)
			return true;
	return false;
}

/* Link part n to object n->part, unless that object is set. If it is set, *mine
 * becomes whether the caller claimed its own wait and need not sleep. If an
 * object occurs several times, only the first part is linked: the thread that
 * sets the object unlinks that one, and the object may be gone before others
 * could be unlinked. */
static bool link_part(const struct wait_any *s, struct waiter *n, bool *mine)
{
	struct wait_any_queue q = s->queue(s->objects, n->part);
	uint32_t              word = sn_wait_queue_lock(q.word);

	if (word & WAIT_QUEUE_OWN) {
		*mine = sn_waiter_claim(n);
		sn_wait_queue_unlock(
			q.word,
			*mine ? s->passed(s->objects, n->part, word) : word);
		return false;
	}
	if (likely(!*q.list) || !is_linked(s, n->part, q.word))
		word |= sn_wait_queue_join(q.list, n, false);
	sn_wait_queue_unlock(q.word, word);
	return true;
}

/* Link parts until one finds its object set. Returns the number of linked
 * parts. */
static size_t link_parts(const struct wait_any *s, struct waiter *whole,
			 struct waiter *parts, bool *mine)
{
	size_t i;

	for (i = 0; i < s->count; i++) {
		sn_waiter_init_part(&parts[i], whole, (uint32_t)i);
		if (!link_part(s, &parts[i], mine))
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
	struct waiter parts[FEW];

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
	return s->count <= FEW ? wait_few(s, which, deadline)
			       : wait_many(s, which, deadline);
}
