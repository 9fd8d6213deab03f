/* SPDX-License-Identifier: Apache-2.0 */
/* child.h - checking, reaping and waiting for a child process. */
#ifndef SN_CHILD_H
#define SN_CHILD_H

#include "sennit/base.h"

#include <sys/types.h>

/* The longest interval between two checks of a child for which there is no
 * pidfd. */
#define CHILD_LAST_LOOK (64 * SENNIT_MILLISECOND)

/* Check whether the child has ended, without reaping it. Returns 0 if it has,
 * -EAGAIN if it is running, or -ECHILD. */
int sn_child_look(pid_t child);

/* If the child has ended, reap it and store its status unless status is NULL.
 * Returns what sn_child_look() returns. */
int sn_child_reap(pid_t child, int *status);

/* Return a pidfd, which becomes readable when the child ends, or a negative
 * errno. */
int sn_child_open(pid_t child);

#endif
