/* SPDX-License-Identifier: Apache-2.0 */
/* cancel_objects.h - objects that fibers in cancelled groups wait for. */
#ifndef SN_TEST_CANCEL_OBJECTS_H
#define SN_TEST_CANCEL_OBJECTS_H

#include "testing/with_workers.h"

/* Objects that no one signals, a mutex that another holds, and objects that are
 * available. */
struct things {
	sennit_event      never, set;
	sennit_wait_group one, none;
	sennit_mutex      held, free;
	sennit_cond       quiet;
	atomic_uint       waiting;
	sennit_event      go; /* set by the canceller */
};

static inline void set_up(struct things *t)
{
	memset(t, 0, sizeof(*t));
	sennit_event_init(&t->set, SENNIT_EVENT_MANUAL | SENNIT_EVENT_SET);
	sennit_wait_group_init(&t->one, 1);
}

#endif
