/* SPDX-License-Identifier: Apache-2.0 */
/* walk.h - starts the searches of all files, in order.
 *
 * One task walks through the folders in order and starts a search for each
 * file. When it enters a folder, tasks begin to read the folders in it, up to a
 * number of folders that it has not entered.
 */
#ifndef GREP_WALK_H
#define GREP_WALK_H

#include "grep/search.h"

/* A member of run->group, with the run as its argument. */
int walk_all(void *run);

#endif
