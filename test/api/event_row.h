/* SPDX-License-Identifier: Apache-2.0 */
/* event_row.h - events of one mode, and the array of pointers that a wait
 * takes. */
#ifndef SN_TEST_EVENT_ROW_H
#define SN_TEST_EVENT_ROW_H

#include "with_workers.h"

enum { MANY = SENNIT_EVENT_WAIT_MAX };

/* Events of one mode, and an array of pointers to them. */
struct row {
	sennit_event  event[MANY];
	sennit_event *all[MANY];
};

static inline void make_row(struct row *r, enum sennit_event_mode mode)
{
	unsigned i;

	for (i = 0; i < MANY; i++) {
		sennit_event_init(&r->event[i], mode, false);
		r->all[i] = &r->event[i];
	}
}

#endif
