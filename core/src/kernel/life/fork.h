/* SPDX-License-Identifier: Apache-2.0 */
/* fork.h - detects threads that exit while they have a worker, and processes
 * that were forked.
 *
 * A thread-specific key holds the thread's worker. It is set before the thread
 * is bound, or before a worker's initialiser runs, and cleared when the thread
 * is unbound or the worker's loop has ended. The key's destructor runs only if
 * the key was not cleared.
 *
 * In the child of a fork, the forking thread is the only one and is unbound.
 * All earlier schedulers belong to the parent: they have no threads in the
 * child, and threads that do not exist there may hold their locks. Other state
 * of the process (that it has a key, how the system guards pages, the number of
 * mappings) is also valid in the child.
 */
#ifndef SN_FORK_H
#define SN_FORK_H

#include "base/atomic.h"
#include "sched/state.h"

/* The number of forks that led to this process. It changes only while there is
 * no other thread. */
extern a_u32 sn_process; /* any */

/* Every public call that gets a scheduler checks this before it accesses *s.
 * `call` is the name of the public call. */
#define MISUSE_INHERITED(s, call)                                       \
	do {                                                            \
		MISUSE(!(s), (call), "the scheduler is NULL");          \
		MISUSE((s)->process != a_load_rlx(&sn_process), (call), \
		       "the scheduler belongs to the parent process");  \
	} while (0)

/* Make the key and watch forks, once per process. Returns 0, or -EAGAIN or
 * -ENOMEM of the system; later calls return the same. */
SENNIT_MUST_USE int sn_fork_exit_prepare(void);

/* The calling thread must not exit before sn_fork_exit_unwatch. Returns 0 or
 * -ENOMEM. */
SENNIT_MUST_USE int sn_fork_exit_watch(struct worker *w);
void                sn_fork_exit_unwatch(void);

#endif
