/* SPDX-License-Identifier: Apache-2.0 */
/* event.h - something that has happened, or has not yet.
 *
 * A manual event stays set, and lets all waiters through, until it is cleared.
 * An auto event lets one waiter through and clears itself; set twice with
 * nobody waiting counts once. All zero is a manual event that is not set;
 * nothing needs destroying.
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

SENNIT_END

#endif
