/* SPDX-License-Identifier: Apache-2.0 */
/* stall.h - detects that no fiber of the process can make progress any more.
 *
 * A process has stalled if each of its threads waits in the library for
 * something that only a fiber or such a thread could do:
 *
 *	worker            asleep, with nothing to poll
 *	bound thread      waits as a fiber, and sleeps; or waits for an end
 *	unbound thread    waits, without a deadline
 *	blocking thread   idle
 *	other threads     threads of libsennit-diag that hold no references
 *
 * and no fiber is ready, or waits with a deadline, for I/O or for a blocking
 * call. A thread that is anywhere else, such as in a system call, in another
 * library or in a wait with a deadline, could wake a fiber. Events from
 * descriptors and timers count as waits for I/O or as deadlines here. Signal
 * handlers may not call the library.
 *
 * A look reads all that while all threads continue. Its result is valid if
 * nothing has changed meanwhile: ending a task, resuming a fiber and beginning
 * a wait are counted, and the sum of these counts, which only grow, is the same
 * before the look and after it. Two looks, 100 ms apart, must agree. A thread
 * that was woken but has not got a CPU yet is not counted as waiting, because
 * its waker has changed what a look reads: the bit of the worker, the state of
 * the fiber or the word of the thread.
 *
 * While this is off the cost is a test of one word before a thread sleeps.
 * While it is on, a worker that goes to sleep wakes the stall thread, which
 * sleeps until then. Only while all that is left waits for threads outside the
 * library, the stall thread looks again without being woken, at most once per
 * second.
 */
#ifndef SN_STALL_H
#define SN_STALL_H

#include "sched/hooks.h"

#if defined(SENNIT_NO_DEBUG_SWITCH) || defined(SENNIT_DETERMINISTIC)
static inline void sn_stall_look(bool begins)
{
	(void)begins;
}
#else
/* Start to look for stalls. `print_stacks` writes the stacks of all fibers;
 * NULL: not available. Returns 0, -ENOTSUP if the system does not count
 * threads, or -EAGAIN. */
SENNIT_MUST_USE int sn_stall_start(int (*print_stacks)(int fd));

/* Called in the child of a fork, which has no stall thread. */
void sn_stall_fork(void);

/* See struct sennit_debug_calls. */
void sn_stall_look(bool begins);

#endif

#endif
