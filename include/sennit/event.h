/* SPDX-License-Identifier: Apache-2.0 */
/* event.h - something that has happened, or has not yet.
 *
 * A manual event stays set, and lets all waiters through, until it is cleared.
 * An auto event lets one waiter through and clears itself; set twice with
 * nobody waiting counts once. All zero is a manual event that is not set;
 * nothing needs destroying. shared.h has a reference-counted form.
 */
#ifndef SENNIT_EVENT_H
#define SENNIT_EVENT_H

#include "sennit/base.h"

#include <stdbool.h>

SENNIT_BEGIN

enum sennit_event_mode { SENNIT_EVENT_MANUAL = 0, SENNIT_EVENT_AUTO = 1 };

typedef struct sennit_event {
	sennit_word state_;
	uint32_t    mode_; /* enum sennit_event_mode */
	void       *waiters_;
} sennit_event;

/* clang-format off */
#define SENNIT_EVENT_INIT(mode) { { 0 }, (mode), NULL }
/* clang-format on */

/* Make *e an event of the given mode, set or not.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_event_init(sennit_event *e, enum sennit_event_mode mode,
				  bool set);

/* Declare that *e is no longer used; optional. Misuse while it is waited for.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_event_destroy(sennit_event *e);

/* Set *e: a manual event releases all who wait, an auto event the one who has
 * waited longest, or else the next to come. A released waiter may free *e at
 * once.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_event_set(sennit_event *e);

/* Make *e not set.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_event_clear(sennit_event *e);

/* Whether *e is set; consumes nothing.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API bool sennit_event_is_set(const sennit_event *e);

/* Wait until *e is set, or the deadline passes; consumes an auto event. A
 * deadline of 0 tests.
 * Returns 0, -ETIMEDOUT, or -ECANCELED.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_event_wait_until(sennit_event *e,
						       sennit_time   deadline);

/* Wait until *e is set; consumes an auto event.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API void sennit_event_wait(sennit_event *e);

/* --- several ------------------------------------------------------------ */

/* The most events that one call may wait for. */
#define SENNIT_EVENT_WAIT_MAX 64

/* Wait until one of events[0..count-1] is set, or the deadline passes; consumes
 * that one, if it is an auto event, and no other. *which becomes its index. Of
 * several that are set when it is called, the first in the array is taken; of
 * those set later, the one set first. The same event may stand there twice.
 * More than 8 events need 8 KiB of stack. Misuse for none, and for more than
 * SENNIT_EVENT_WAIT_MAX. The event that is reported may be freed at once; the
 * others must stay until the call has returned.
 * Returns 0, -ETIMEDOUT, or -ECANCELED.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_event_wait_any_until(
	sennit_event *const events[], size_t count, size_t *which,
	sennit_time deadline);

/* The same without a deadline. Returns the index.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API size_t sennit_event_wait_any(sennit_event *const events[],
					size_t              count);

/* Wait until events[0..count-1] are all set at the same moment, or the deadline
 * passes; consumes all auto events among them in that moment, and none before:
 * a call that fails has taken nothing, and two calls for the same events never
 * hold what the other lacks. It takes an auto event only when nobody waits for
 * that alone. A manual event that is cleared before the last is set has to be
 * set again. Misuse for more than SENNIT_EVENT_WAIT_MAX; none are all set.
 * (As WaitForMultipleObjects of Win32.) All may be freed at once when it has
 * returned 0.
 * Returns 0, -ETIMEDOUT, or -ECANCELED.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API SENNIT_MUST_USE int sennit_event_wait_all_until(
	sennit_event *const events[], size_t count, sennit_time deadline);

/* The same without a deadline.
 *
 * From: fiber, thread.  Blocks: yes.  */
SENNIT_API void sennit_event_wait_all(sennit_event *const events[],
				      size_t              count);

SENNIT_END

#endif
