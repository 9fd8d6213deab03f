/* SPDX-License-Identifier: Apache-2.0 */
/* event.h - an event: a flag that tasks and threads can wait for.
 *
 * A manual event stays set until it is cleared, and lets all waiters through.
 * An auto event lets one waiter through and clears itself. An auto event that
 * is set twice without a waiter lets only one waiter through later.
 *
 * An event with all bytes zero is a manual event that is not set. An event
 * needs no destruction. shared.h adds a reference count.
 */
#ifndef SENNIT_EVENT_H
#define SENNIT_EVENT_H

#include "sennit/base.h"

#include <stdbool.h>

SENNIT_BEGIN

enum sennit_event_mode { SENNIT_EVENT_MANUAL = 0, SENNIT_EVENT_AUTO = 1 };

/* A flag of sennit_event_init: the event is set. */
#define SENNIT_EVENT_SET UINT32_C(2)

typedef struct sennit_event {
	sennit_word state_;
	uint32_t    mode_; /* enum sennit_event_mode */
	void       *waiters_;
} sennit_event;

/* clang-format off */
#define SENNIT_EVENT_INIT(mode) { { 0 }, (mode), NULL }
/* clang-format on */

/* Initialise *e as an event. flags is one of enum sennit_event_mode, combined
 * by | with SENNIT_EVENT_SET if the event is set. It is misuse if a flag is
 * unknown.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_event_init(sennit_event *e, uint32_t flags);

/* Declare that *e is no longer used. This call is optional. It is misuse while
 * anyone waits for *e.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_event_destroy(sennit_event *e);

/* Set *e. A manual event releases all waiters. An auto event releases the
 * waiter that has waited longest; if there is none, it lets the next caller
 * through. A released waiter may free *e at once.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_event_set(sennit_event *e);

/* Clear *e: it is no longer set.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_event_clear(sennit_event *e);

/* Return whether *e is set. The call does not clear an auto event.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API bool sennit_event_is_set(const sennit_event *e);

/* Wait until *e is set or the deadline passes. The call clears an auto event.
 * With a deadline of 0 the call tests the event and does not wait.
 * Returns 0, -ETIMEDOUT at the deadline, or -ECANCELED if the caller's group is
 * cancelled.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_event_wait_until(sennit_event *e,
						       sennit_time   deadline);

/* Like sennit_event_wait_until, with the deadline of the caller's group alone.
 * Returns 0, -ECANCELED, or the group's -ETIMEDOUT.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_event_wait(sennit_event *e);

/* --- several ------------------------------------------------------------ */

/* The largest number of events that one call may wait for. */
#define SENNIT_EVENT_WAIT_MAX 64

/* Wait until one of events[0..count-1] is set or the deadline passes, and store
 * its index in *which, unless which is NULL. The call clears that event if it
 * is an auto event, and no other event. If several events are set when the call
 * begins, it takes the first in the array. If none is, it takes the event that
 * is set first. The array may contain the same event twice.
 *
 * The event that is reported may be freed at once. The other events must exist
 * until the call has returned. With more than 8 events the call needs 8 KiB of
 * stack. It is misuse to pass no events, or more than SENNIT_EVENT_WAIT_MAX.
 * Returns 0, -ETIMEDOUT at the deadline, or -ECANCELED if the caller's group is
 * cancelled.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_event_wait_any_until(
	sennit_event *const events[], size_t count, size_t *which,
	sennit_time deadline);

/* Like sennit_event_wait_any_until, with the deadline of the caller's group
 * alone.
 * Returns 0, -ECANCELED, or the group's -ETIMEDOUT.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_event_wait_any(
	sennit_event *const events[], size_t count, size_t *which);

/* Wait until events[0..count-1] are all set at the same moment, or the deadline
 * passes. At that moment the call clears all auto events among them. Before it,
 * the call clears none: a call that fails has cleared nothing, and two calls
 * that wait for the same events never hold events that the other lacks. The
 * call takes an auto event only if no caller waits for that event alone. A
 * manual event that is cleared before the last event is set has to be set
 * again. With a count of 0 the call returns 0 at once.
 *
 * After the call has returned 0, all events may be freed at once. It is misuse
 * to pass more than SENNIT_EVENT_WAIT_MAX events. (WaitForMultipleObjects of
 * Win32 has the same semantics.)
 * Returns 0, -ETIMEDOUT at the deadline, or -ECANCELED if the caller's group is
 * cancelled.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_event_wait_all_until(
	sennit_event *const events[], size_t count, sennit_time deadline);

/* Like sennit_event_wait_all_until, with the deadline of the caller's group
 * alone. Returns 0, -ECANCELED, or the group's -ETIMEDOUT.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_event_wait_all(
	sennit_event *const events[], size_t count);

SENNIT_END

#endif
