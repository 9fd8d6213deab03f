/* SPDX-License-Identifier: Apache-2.0 */
/* screen.h - shows a live view on a terminal. */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H

#include "fields.h"
#include "link.h"

/* Show snapshots as they arrive, until a key or the end of the program. `hello`
 * is the greeting. Returns the exit status, with *f set if it is not 0. */
int screen_run(struct link *l, const json_t *hello, struct fault *f);

#endif
