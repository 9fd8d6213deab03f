/* SPDX-License-Identifier: Apache-2.0 */
/* retry.h - a lack of resources that may pass; in listen.c. */
#ifndef SN_RETRY_H
#define SN_RETRY_H

#include <stdbool.h>

/* If err is a temporary lack of resources, sleep before a retry. Returns
 * whether to try again: false for other errors, and if the group was
 * cancelled. */
bool sn_wait_for_resources(int err);

#endif
