/* SPDX-License-Identifier: Apache-2.0 */
/* verify.h - compares the sums with those of sha256sum. */
#ifndef TREESUM_VERIFY_H
#define TREESUM_VERIFY_H

#include "entries.h"
#include "progress.h"

/* Run sha256sum over all files of the sorted list and store the result in each
 * entry. An interrupt ends the call early, with no child left.
 * Returns 0, or the negative errno value of what prevented sha256sum from
 * running or from being read. */
int verify(struct entries *all, const struct progress *p);

#endif
