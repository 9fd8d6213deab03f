/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - the words of a report. */
#ifndef SN_REPORT_H
#define SN_REPORT_H

#include "sched/state.h"
#include "sennit/report.h"

#define SN_REPORT_WAITS (SENNIT_WAITS_FOR_IO + 1)

/* Read what the report says of f, a fiber of w. e->name may point to `name`.
 * Returns false if f runs no task. */
bool sn_report_read(struct worker *w, struct sennit_fiber *f,
		    sennit_report_entry *e, char name[SENNIT_NAME_SIZE]);

/* The names of enum sennit_waits_for, for people. */
extern const char *const sn_report_waits[SN_REPORT_WAITS];

#endif
