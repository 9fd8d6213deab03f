/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.h - a picture of what each worker did at each time, as SVG.
 *
 * The time is divided into columns of one pixel. A column of a worker's row is
 * filled from below with the share of the time that the worker spent in each
 * state. So spans of any length show in the right amount, and the size of the
 * picture does not depend on their number. Steals take almost no time and are
 * shown as marks.
 */
#ifndef TREESUM_TIMELINE_H
#define TREESUM_TIMELINE_H

#include <sennit.h>

#define TIMELINE_COLUMNS 960
#define TIMELINE_STATES  4

/* How long a worker was in each state within one column, in nanoseconds. */
struct column {
	double spent[TIMELINE_STATES];
};

struct timeline {
	uint32_t       workers;
	sennit_time    begin;
	sennit_time    end;
	struct column *columns; /* TIMELINE_COLUMNS for each worker */
};

/* Collect what the workers of *s did from begin until now.
 * Returns 0 or a negative errno value. */
int  timeline_collect(struct timeline *t, sennit_scheduler *s,
		      sennit_time begin);
void timeline_free(struct timeline *t);

/* Draw *t into file, under a heading of two lines.
 * Returns 0 or a negative errno value. */
int timeline_write(const struct timeline *t, const char *file,
		   const char *title, const char *subtitle);

#endif
