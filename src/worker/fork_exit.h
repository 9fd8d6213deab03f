/* SPDX-License-Identifier: Apache-2.0 */
/* fork_exit.h - notices when threads part from their workers, and processes
 * from their schedulers.
 *
 * A key of the thread's own holds its worker from before the thread is bound,
 * or a worker's initialiser runs, until it is unbound or its loop has ended.
 * The key's destructor runs only if that did not happen.
 *
 * In the child of a fork the forking thread, the only one there, is unbound and
 * all schedulers so far are the parent's: they have no threads here, and locks
 * of theirs may be held by those who are not here. What else the process knows
 * (that it has a key, how the system guards pages, how many mappings there are)
 * holds in the child as well.
 */
#ifndef SN_FORK_EXIT_H
#define SN_FORK_EXIT_H

#include "worker/worker.h"

/* Which process this is: how many forks lead to it. Changes only where there is
 * no other thread. */
extern a_u32 sn_process; /* any */

/* Whoever is given a scheduler by the program asks this before it touches it or
 * more of it: `call` is the public call's name. */
#define MISUSE_INHERITED(s, call)                                       \
	do {                                                            \
		MISUSE(!(s), (call), "the scheduler is NULL");          \
		MISUSE((s)->process != a_load_rlx(&sn_process), (call), \
		       "the scheduler belongs to the parent process");  \
	} while (0)

/* Make the key and watch forks, once in the process. 0, or -EAGAIN or -ENOMEM
 * of the system, which stays its answer. */
SENNIT_MUST_USE int sn_fork_exit_prepare(void);

/* The calling thread must not exit before sn_fork_exit_unwatch. 0 or
 * -ENOMEM. */
SENNIT_MUST_USE int sn_fork_exit_watch(struct worker *w);
void                sn_fork_exit_unwatch(void);

#endif
