/* SPDX-License-Identifier: Apache-2.0 */
/* event_several.c - waits for one of several events, or for all of them.
 *
 * For one: see wait/wait_any.
 *
 * For all: no event is consumed until all of them are set at one moment, which
 * is checked with all locks held. Until then the waiter watches one event that
 * is not set. So two waiters for the same auto events cannot each hold an event
 * that the other needs, and a waiter that times out has nothing to put back.
 */
#include "api/event.h"
#include "base/check.h"
#include "fiber/lock_set.h"
#include "wait/wait_any.h"

#include <errno.h>

_Static_assert(SENNIT_EVENT_WAIT_MAX == LOCK_SET_MAX,
	       "all can be locked at once");
_Static_assert(SENNIT_EVENT_WAIT_MAX == WAIT_ANY_MAX &&
		       EVENT_SET == WAIT_QUEUE_OWN,
	       "one of them can be waited for");

/* --- one of several ----------------------------------------------------- */

static struct wait_any_queue queue_of(const void *events, size_t i)
{
	sennit_event *e = ((sennit_event *const *)events)[i];

	return (struct wait_any_queue){ &e->state_, &e->waiters_ };
}

static uint32_t passed(const void *events, size_t i, uint32_t word)
{
	return sn_event_passed(((sennit_event *const *)events)[i], word);
}

/* Pass the first set event, lowest index first. */
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

/* For a deadline of 0: test each event, including one that is just being
 * set. */
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

static int wait_any_until(sennit_event *const events[], size_t count,
			  size_t *which, sennit_time deadline, const char *call)
{
	MISUSE(!count || count > SENNIT_EVENT_WAIT_MAX, call,
	       count ? "more than SENNIT_EVENT_WAIT_MAX events" : "no events");
	if (pass_one(events, count, which))
		return 0;
	if (!deadline)
		return test_each(events, count, which);
	return sn_wait_any(&(struct wait_any){ .objects = events,
					       .count = count,
					       .first = events[0],
					       .queue = queue_of,
					       .passed = passed },
			   which, deadline);
}

int sennit_event_wait_any_until(sennit_event *const events[], size_t count,
				size_t *which, sennit_time deadline)
{
	return wait_any_until(events, count, which, deadline,
			      "sennit_event_wait_any_until");
}

size_t sennit_event_wait_any(sennit_event *const events[], size_t count)
{
	size_t which = 0;

	(void)!wait_any_until(events, count, &which, SN_UNCANCELLED,
			      "sennit_event_wait_any");
	return which;
}

/* --- all ---------------------------------------------------------------- */

/* Wait until *e is set, at any moment, without consuming it. */
static int watch(sennit_event *e, sennit_time deadline)
{
	struct waiter n;
	uint32_t      word;

	sn_waiter_init(&n, deadline);
	n.is.watches = true;
	word = sn_wait_queue_lock(&e->state_);
	if (word & EVENT_SET || !deadline) {
		sn_wait_queue_unlock(&e->state_, word);
		return word & EVENT_SET ? 0 : -ETIMEDOUT;
	}
	sn_wait_show(&n, SENNIT_WAITS_FOR_EVENT, e, deadline);
	word |= sn_wait_queue_join(&e->waiters_, &n, false);
	sn_wait_queue_unlock(&e->state_, word | EVENT_WATCHED);
	return sn_wait_in(&e->state_, &e->waiters_, &n, deadline);
}

/* An event that is not set, or is just being changed. NULL: all were set. */
static sennit_event *find_unset(sennit_event *const events[], size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!sennit_event_is_set(events[i]))
			return events[i];
	return NULL;
}

/* Consume all events if all are set now. */
static bool pass_all(sennit_event *const events[], size_t count)
{
	struct lock_set locks;
	bool            all;
	size_t          i;

	locks.count = 0;
	for (i = 0; i < count; i++)
		sn_lock_set_add(&locks, &events[i]->state_);
	sn_lock_set_take(&locks);
	all = !find_unset(events, count);
	for (i = 0; all && i < count; i++) {
		sennit_word *word = &events[i]->state_;

		sn_lock_set_set(word, sn_event_passed(events[i],
						      sn_lock_set_get(word)));
	}
	sn_lock_set_drop(&locks);
	return all;
}

static int wait_all_until(sennit_event *const events[], size_t count,
			  sennit_time deadline, const char *call)
{
	MISUSE(count > SENNIT_EVENT_WAIT_MAX, call,
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
	return wait_all_until(events, count, deadline,
			      "sennit_event_wait_all_until");
}

void sennit_event_wait_all(sennit_event *const events[], size_t count)
{
	(void)!wait_all_until(events, count, SN_UNCANCELLED,
			      "sennit_event_wait_all");
}
