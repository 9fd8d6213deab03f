/* SPDX-License-Identifier: Apache-2.0 */
/* replay.h - replays the events of a file and builds its timeline. */
#ifndef APPS_TRACE_REPLAY_H
#define APPS_TRACE_REPLAY_H

#include "trace/file.h"
#include "trace/timeline.h"

/* Takes ownership of the texts of f->names. timeline_free() frees the
 * result. */
void replay(struct timeline *t, struct file *f);

#endif
