/* SPDX-License-Identifier: Apache-2.0 */
/* stall.h - finds out that nothing in the process can go on any more.
 *
 * A process has stalled if each of its threads waits in the library for
 * something that only a fiber or such a thread could do:
 *
 *	worker            asleep, without anything to poll
 *	bound thread      waits as a fiber, and sleeps; or for an end
 *	unbound thread    waits, without a deadline
 *	blocking thread   idle
 *	the rest          the library's own threads that only look
 *
 * and no fiber is ready, waits with a deadline, for I/O or for a blocking call.
 * A thread that is anywhere else, in a system call, in another library or in a
 * wait with a deadline, could wake a fiber. So could what a descriptor or a
 * timer reports, which is a wait for I/O or a deadline here. Signal handlers
 * may not call the library.
 *
 * A look reads all that while everybody goes on. It is true if nothing has
 * changed meanwhile: who ends a task, resumes a fiber or begins a wait counts
 * that, and the sum of these counts, which only grow, is the same before the
 * look and after it. Two looks, 100 ms apart, must agree. A thread that was
 * woken, but has not got a CPU since, does not wait: its waker has changed what
 * a look reads, the bit of the worker, the state of the fiber or the word of
 * the thread.
 *
 * It costs nothing while it is off: a test of one word before a thread sleeps.
 * When it is on, a worker that goes to sleep tells the thread that looks, which
 * sleeps until then. Only while all that is left waits for threads outside the
 * library, it looks again by itself, at most once per second.
 */
#ifndef SN_STALL_H
#define SN_STALL_H

#include "sched/state.h"

/* A thread that waits without being a fiber. */
struct stalled_thread {
	struct link             link;   /* under the lock of stall.c */
	uint32_t                thread; /* fixed: the system's number */
	a_u32                  *word;   /* fixed: 0 until it is woken */
	const sennit_scheduler *end;    /* fixed: whose end it waits for; NULL:
					 * something else */
	bool                    listed; /* owner */
};

#if defined(SENNIT_NO_DEBUG_SWITCH) || defined(SENNIT_DETERMINISTIC)
static inline void sn_stall_park(struct worker *w)
{
	(void)w;
}

static inline void sn_stall_sleep(struct stalled_thread *t, a_u32 *word,
				  const sennit_scheduler *end,
				  sennit_time             deadline)
{
	(void)t;
	(void)word;
	(void)end;
	(void)deadline;
}

static inline void sn_stall_wake(struct stalled_thread *t)
{
	(void)t;
}
#else
/* Look for stalls from now on. `print_stacks` writes the stacks of all fibers;
 * NULL: nobody can. Returns 0, -ENOTSUP if the system does not count threads,
 * or -EAGAIN. */
SENNIT_MUST_USE int sn_stall_start(int (*print_stacks)(int fd));

/* In the child of a fork: it has none. */
void sn_stall_fork(void);

/* Set before the first scheduler's threads start, and once. A thread that
 * waited before is taken for one outside the library. */
extern a_u32 sn_stall_on; /* any: 1: stalls are looked for */

static inline bool sn_stall_is_on(void)
{
	return unlikely(a_load_rlx(&sn_stall_on));
}

COLD void sn_stall_worker_sleeps(struct worker *w);
COLD void sn_stall_thread_sleeps(struct stalled_thread *t, a_u32 *word,
				 const sennit_scheduler *end,
				 sennit_time             deadline);
COLD void sn_stall_thread_woke(struct stalled_thread *t);

/* The worker is about to announce its sleep. Owner only. */
static inline void sn_stall_park(struct worker *w)
{
	if (sn_stall_is_on())
		sn_stall_worker_sleeps(w);
}

/* The calling thread is about to sleep on *word, until it is no longer 0 or the
 * deadline has passed. It must do nothing else between the two calls. */
static inline void sn_stall_sleep(struct stalled_thread *t, a_u32 *word,
				  const sennit_scheduler *end,
				  sennit_time             deadline)
{
	t->listed = false;
	if (sn_stall_is_on())
		sn_stall_thread_sleeps(t, word, end, deadline);
}

static inline void sn_stall_wake(struct stalled_thread *t)
{
	if (unlikely(t->listed))
		sn_stall_thread_woke(t);
}

#endif

#endif
