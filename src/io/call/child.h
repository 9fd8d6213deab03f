/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - a child process, as it is waited for. */
#ifndef SN_CHILD_H
#define SN_CHILD_H

#include "sennit/base.h"

#include <sys/types.h>

/* How long a child may have ended before that is seen, where there are no
 * pidfds. */
#define CHILD_LAST_LOOK (64 * SENNIT_MILLISECOND)

/* Whether it has ended: 0, -EAGAIN: it runs, or -ECHILD. It is not reaped. */
int sn_child_look(pid_t child);

/* Reap it, and store its status unless status is NULL. Returns the same. */
int sn_child_reap(pid_t child, int *status);

/* A descriptor that becomes readable as it ends; or a negative errno. */
int sn_child_open(pid_t child);

#endif
