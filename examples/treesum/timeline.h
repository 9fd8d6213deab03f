/* SPDX-License-Identifier: Apache-2.0 */
/* timeline.h - a picture of what each worker did when, as SVG.
 *
 * The time is cut into columns, each as wide as a pixel. A column of a
 * worker's row is filled from below with the share of the time that it spent
 * in each state, so that spans of any shortness show in the right amount and
 * the picture's size does not depend on their number. Steals take next to no
 * time; they show as marks.
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
