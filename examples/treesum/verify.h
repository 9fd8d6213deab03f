/* SPDX-License-Identifier: Apache-2.0 */
/* verify.h - asks sha256sum about the same files. */
#ifndef TREESUM_VERIFY_H
#define TREESUM_VERIFY_H

#include "entries.h"
#include "progress.h"

/* Run sha256sum over all files of the sorted list and store in each entry what
 * came of it. Stops early when interrupted, with no child left.
 * Returns 0, or the negative errno value of what kept sha256sum from being
 * run or heard. */
int verify(struct entries *all, const struct progress *p);

#endif
