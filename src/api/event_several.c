/* SPDX-License-Identifier: Apache-2.0 */
/* event_several.c - waits for one of several events, or for all of them.
 *
 * For one: a part of the wait is linked to each event in turn. What sets one of
 * them claims the whole; a waiter that finds an event set while it links the
 * parts claims its own, and if it comes too late for that takes nothing.
 *
 * For all: nothing is consumed before all are set at one moment, seen with all
 * locks held. Until then the waiter watches one event that is not set. So two
 * who wait for the same auto events cannot each hold what the other lacks, and
 * who times out has nothing to put back.
 */
#include "api/event.h"
#include "base/check.h"
#include "sched/locks.h"

#include <errno.h>

_Static_assert(SENNIT_EVENT_WAIT_MAX == LOCKS_MAX, "all can be locked at once");

/* Parts that every caller's stack has room for: below 1 KiB. */
enum { FEW = 8 };

/* --- one of several ----------------------------------------------------- */

struct one_of {
	sennit_event *const *events;
	size_t               count;
	struct waiter       *parts;
	struct waiter        whole;
};

/* Lowest index first. */
static bool pass_one(sennit_event *const events[], size_t count, size_t *which)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (sn_event_pass(events[i])) {
			*which = i;
			return true;
		}
	}
	return false;
}

/* A deadline of 0: each is looked at, also one that is being set. */
static int test_each(sennit_event *const events[], size_t count, size_t *which)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!sennit_event_wait_until(events[i], 0)) {
			*which = i;
			return 0;
		}
	}
	return -ETIMEDOUT;
}

/* Link part i, unless its event is set. *mine: then whether the caller took it
 * and need not sleep. */
static bool link_part(struct one_of *o, size_t i, bool *mine)
{
	sennit_event  *e = o->events[i];
	struct waiter *n = &o->parts[i];
	uint32_t       word;

	sn_waiter_init_part(n, &o->whole, (uint32_t)i);
	word = sn_queue_lock(&e->state_);
	if (word & EVENT_SET) {
		*mine = sn_waiter_claim(n);
		sn_queue_unlock(&e->state_,
				*mine ? sn_event_passed(e, word) : word);
		return false;
	}
	word |= sn_queue_join(&e->waiters_, n, false);
	sn_queue_unlock(&e->state_, word);
	return true;
}

/* Unlink the first `linked` parts but for `which`: that event may be gone. */
static void unlink_parts(struct one_of *o, size_t linked, size_t which)
{
	size_t i;

	for (i = 0; i < linked; i++)
		if (i != which)
			sn_wait_leave(&o->events[i]->state_,
				      &o->events[i]->waiters_, &o->parts[i]);
}

static int wait_for_one(struct one_of *o, size_t *which, sennit_time deadline)
{
	bool   mine = false;
	size_t linked = 0;
	size_t part = o->count;
	int    err = 0;

	sn_waiter_init_whole(&o->whole, deadline);
	sn_wait_show(&o->whole, SENNIT_WAITS_FOR_SELECT, o->events[0],
		     deadline);
	while (linked < o->count && link_part(o, linked, &mine))
		linked++;
	if (mine)
		sn_wait_skip(&o->whole);
	else
		err = sn_wait(&o->whole, deadline);
	if (!err)
		part = sn_waiter_part(&o->whole);
	unlink_parts(o, linked, part);
	if (!err)
		*which = part;
	return err;
}

NOINLINE static int wait_for_one_of_few(sennit_event *const events[],
					size_t count, size_t *which,
					sennit_time deadline)
{
	struct waiter parts[FEW];
	struct one_of o = { .events = events, .count = count, .parts = parts };

	return wait_for_one(&o, which, deadline);
}

NOINLINE static int wait_for_one_of_many(sennit_event *const events[],
					 size_t count, size_t *which,
					 sennit_time deadline)
{
	struct waiter parts[SENNIT_EVENT_WAIT_MAX];
	struct one_of o = { .events = events, .count = count, .parts = parts };

	return wait_for_one(&o, which, deadline);
}

static int wait_any_until(sennit_event *const events[], size_t count,
			  size_t *which, sennit_time deadline)
{
	MISUSE(!count || count > SENNIT_EVENT_WAIT_MAX, "sennit_event_wait_any",
	       count ? "more than SENNIT_EVENT_WAIT_MAX events" : "no events");
	if (pass_one(events, count, which))
		return 0;
	if (!deadline)
		return test_each(events, count, which);
	if (count <= FEW)
		return wait_for_one_of_few(events, count, which, deadline);
	return wait_for_one_of_many(events, count, which, deadline);
}

int sennit_event_wait_any_until(sennit_event *const events[], size_t count,
				size_t *which, sennit_time deadline)
{
	return wait_any_until(events, count, which, deadline);
}

size_t sennit_event_wait_any(sennit_event *const events[], size_t count)
{
	size_t which = 0;

	(void)!wait_any_until(events, count, &which, SN_UNCANCELLED);
	return which;
}

/* --- all ---------------------------------------------------------------- */

/* Wait until *e is set, at some moment, consuming nothing. */
static int watch(sennit_event *e, sennit_time deadline)
{
	struct waiter n;
	uint32_t      word;

	sn_waiter_init(&n, deadline);
	n.is.watches = true;
	word = sn_queue_lock(&e->state_);
	if (word & EVENT_SET || !deadline) {
		sn_queue_unlock(&e->state_, word);
		return word & EVENT_SET ? 0 : -ETIMEDOUT;
	}
	sn_wait_show(&n, SENNIT_WAITS_FOR_EVENT, e, deadline);
	word |= sn_queue_join(&e->waiters_, &n, false);
	sn_queue_unlock(&e->state_, word | EVENT_WATCHED);
	return sn_wait_in(&e->state_, &e->waiters_, &n, deadline);
}

/* One that is not set, or is just being changed; NULL: all were set. */
static sennit_event *find_unset(sennit_event *const events[], size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!sennit_event_is_set(events[i]))
			return events[i];
	return NULL;
}

/* Consume all if all are set at this moment. */
static bool pass_all(sennit_event *const events[], size_t count)
{
	struct locks locks;
	bool         all;
	size_t       i;

	locks.count = 0;
	for (i = 0; i < count; i++)
		sn_locks_add(&locks, &events[i]->state_);
	sn_locks_take(&locks);
	all = !find_unset(events, count);
	for (i = 0; all && i < count; i++) {
		sennit_word *word = &events[i]->state_;

		sn_locks_set(word,
			     sn_event_passed(events[i], sn_locks_get(word)));
	}
	sn_locks_drop(&locks);
	return all;
}

static int wait_all_until(sennit_event *const events[], size_t count,
			  sennit_time deadline)
{
	MISUSE(count > SENNIT_EVENT_WAIT_MAX, "sennit_event_wait_all",
	       "more than SENNIT_EVENT_WAIT_MAX events");
	for (;;) {
		sennit_event *e = find_unset(events, count);
		int           err;

		if (!e && pass_all(events, count))
			return 0;
		err = e ? watch(e, deadline) : 0;
		if (err)
			return err;
	}
}

int sennit_event_wait_all_until(sennit_event *const events[], size_t count,
				sennit_time deadline)
{
	return wait_all_until(events, count, deadline);
}

void sennit_event_wait_all(sennit_event *const events[], size_t count)
{
	(void)!wait_all_until(events, count, SN_UNCANCELLED);
}
