/* SPDX-License-Identifier: Apache-2.0 */
/* view.h - prints a snapshot as text. */
#ifndef TOP_VIEW_H
#define TOP_VIEW_H

#include "fields.h"

#include <stdio.h>

enum view_order { VIEW_BY_INDEX, VIEW_BY_BUSY, VIEW_BY_TASKS, VIEW_BY_FIBERS };

struct view_options {
	enum view_order workers; /* the order of workers */
	bool            by_name; /* hot tasks: by name, not by share */
};

/* Write the snapshot to `out` as lines. In strings of the program, characters
 * that control terminals are replaced by `?`. */
void view_write(FILE *out, const json_t *hello, const json_t *snapshot,
		const struct view_options *how);

#endif
