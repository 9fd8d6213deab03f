/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - records what workers do, as events of sennit/trace_format.h.
 *
 * Functions that take a worker record on it, and may be called only by its
 * owner and while sn_worker_is_traced(w). Threads without a worker of the
 * scheduler share one ring, under a lock. Most of these functions are called by
 * the hooks of observe.h alone.
 */
#ifndef SN_TRACE_H
#define SN_TRACE_H

#include "sched/state.h"

/* A task begins and ends. */
void sn_trace_begin(struct worker *w, sennit_task_fn *run,
		    const void *argument);
void sn_trace_end(struct worker *w, uintptr_t task);

/* The running fiber is about to wait. Returns the flow of the wait. */
uint64_t sn_trace_wait(struct worker *w);
void     sn_trace_resume(struct worker *w, uint64_t flow);

/* The running task has a name. */
COLD void sn_trace_name(struct worker *w, const char *name);

void sn_trace_steal(struct worker *w, const struct worker *victim,
		    uint32_t tasks);

COLD void sn_trace_search(struct worker *w);

/* w falls asleep, waits for a slot or loses its thread, and goes on. */
void sn_trace_park(struct worker *w);
void sn_trace_unpark(struct worker *w);

/* Any thread is about to queue the task. */
COLD void sn_trace_spawn(sennit_scheduler *s, const struct task *t);

/* Any thread is about to wake *n, which it has claimed. Nothing is recorded if
 * nobody records. */
void sn_trace_wake(const struct waiter *n);

/* Any thread begins or ends the function `run` of a blocking call, for which *n
 * waits. kind: SENNIT_TRACED_CALL_*. */
COLD void sn_trace_call(sennit_scheduler *s, uint32_t kind, const void *run,
			const struct waiter *n);

/* Whether s records: for threads other than its workers. May be stale: such
 * events are recorded or not. */
static inline bool sn_trace_is_wanted(const sennit_scheduler *s)
{
	return unlikely(a_load_rlx(&s->observe.traced));
}

/* The workers of s are made, and no thread runs: start to record if the
 * configuration says so. Returns 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_trace_prepare(sennit_scheduler *s);

/* The events per ring. 0: never started. */
uint64_t sn_trace_capacity(sennit_scheduler *s);

/* w, a threaded worker, has a new thread, which calls this. */
void sn_trace_enter(struct worker *w);

/* The thread of w was bound, or is about to be unbound. */
void sn_trace_join(struct worker *w);
void sn_trace_leave(struct worker *w);

/* What events call f, a fiber of the worker: its ring and its number. */
static inline uint64_t sn_recorder_name(const struct recorder     *r,
					const struct sennit_fiber *f)
{
	return (uint64_t)a_load_rlx(&r->number) << 32 | f->id;
}

/* The flow of the wait that f, a fiber of the worker, is in: the ring's number
 * plus 1, then the low 24 bits of the worker's count of waits, which `doing`
 * has. Valid until the fiber can be resumed. */
static inline uint64_t sn_recorder_flow(const struct recorder     *r,
					const struct sennit_fiber *f)
{
	return ((uint64_t)a_load_rlx(&r->number) + 1) << 24 |
	       a_load_rlx(&f->state.doing) / FIBER_STATE_SERIAL;
}

/* --- trace write ---------------------------------------------------------- */

/* sennit_trace_write() writes the rings of a scheduler in the format of
 * sennit/trace_format.h. It needs no memory except for names, and takes no lock
 * that a recording thread takes. */

/* Write the rings of s to fd if this process aborts or a stack overflows; -1:
 * no longer. One scheduler of a process can ask for that. Returns 0 or
 * -EBUSY. */
SENNIT_MUST_USE int sn_trace_crash_to(sennit_scheduler *s, int fd);

/* *s ends. */
void sn_trace_crash_forget(sennit_scheduler *s);

/* The process is about to end: write what was asked for, once. May run in a
 * signal handler. */
void sn_trace_crash(void);

#endif
