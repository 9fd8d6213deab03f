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
#include "sennit/trace_format.h"

/* What runs when the recording starts has begun before it.
 *
 *	fiber   waits     -> ready          -> runs   -> its first event
 *	trace             what it waits for             STATE, RESUME
 *
 * A fiber that waits passes no hook when it resumes, as its wait began
 * unrecorded. So the first event of each running fiber is preceded by STATE,
 * which says what it runs, and by the RESUME of that wait, with the time of the
 * worker's last event: it ran something else until then. What the fiber waited
 * for is read while it is ready, before the wait is forgotten. Nothing is done
 * for fibers that only wait: who writes the file asks for their state.
 *
 * The ring overwrites old events. A RESUME therefore contains the kind and the
 * begin of its wait, and a fiber that resumes tells its task again if half of
 * the ring was written since it last did.
 */

/* A task begins, inside another one on its stack or not, and ends. */
void sn_trace_begin(struct worker *w, sennit_task_fn *run, const void *argument,
		    bool inside);
void sn_trace_end(struct worker *w, uintptr_t task);

/* The running fiber is about to wait. Returns the flow of the wait. */
uint64_t sn_trace_wait(struct worker *w);
void     sn_trace_resume(struct worker *w, uint64_t flow);

/* The running fiber runs a task. The trace knows it afterwards. */
void sn_trace_running(struct worker *w);

/* The recording starts on w. It takes as long as there are ready fibers, which
 * is less than to run them. */
void sn_trace_found(struct worker *w);

/* The fibers from `first` on are about to run, on w. */
void sn_trace_ready(struct worker *w, struct node *first);

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

/* Have all workers of s look what is wanted of them (observe.traced): at their
 * next dispatch, or when they wake. Any thread. */
void sn_trace_tell(sennit_scheduler *s);

/* Whether s records: for threads other than its workers. May be stale: such
 * events are recorded or not. */
static inline bool sn_trace_is_wanted(const sennit_scheduler *s)
{
	return unlikely(a_load_rlx(&s->observe.traced) & OBSERVE_TRACE);
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
static inline uint64_t sn_recorder_flow_of(const struct recorder *r,
					   uint32_t               doing)
{
	return ((uint64_t)a_load_rlx(&r->number) + 1) << 24 |
	       doing / FIBER_STATE_SERIAL;
}

static inline uint64_t sn_recorder_flow(const struct recorder     *r,
					const struct sennit_fiber *f)
{
	return sn_recorder_flow_of(r, a_load_rlx(&f->state.doing));
}

/* --- state ---------------------------------------------------------------- */

/* Whether there were rings at some time. Exact under the lock. A thread that
 * has joined the bound ones need not hold it: rings that it misses, it is given
 * by whoever makes them. */
static inline bool sn_trace_has_rings(const struct trace_state *t)
{
	return a_load_rlx(&t->capacity);
}

/* The scheduler has no threads left. */
void sn_trace_free(struct trace_state *t);

/* --- recorder ------------------------------------------------------------- */

static inline void sn_recorder_init(struct recorder *r, const a_u32 *on,
				    const struct home *home)
{
	r->on = on;
	r->home = home;
}

/* The worker looks at *on soon. Any thread; the worker must stay. */
void sn_recorder_tell(struct recorder *r, struct mailbox *mail);

/* Remove the note from the chain of fibers first..*last; afterwards the caller
 * looks. Returns the new first. NULL: none is left. Owner only. */
COLD struct node *sn_recorder_take_note(struct recorder *r, struct node *first,
					struct node **last);

/* Record the start or the stop if *on has changed. Returns whether the worker
 * records from now on. Owner only. See sn_worker_update_recording. */
bool sn_recorder_update(struct recorder *r);

/* Whether a note may be in the chain. A stale value is harmless: the note of a
 * thread that has just said so is still to come. */
static inline bool sn_recorder_is_notified(const struct recorder *r)
{
	return a_load_rlx(&r->told);
}

/* Record an event of the running fiber. home.observed must have OBSERVE_TRACE.
 * Owner only. */
COLD void sn_recorder_add(struct recorder *r, uint32_t kind, uint32_t detail,
			  uint64_t a, uint64_t b);

/* --- trace ring ----------------------------------------------------------- */

/* The most recent events of one thread, in a ring.
 *
 *	words    four of each event: time, { fiber | kind | detail }, a, b
 *	written  events so far; event i lies at i % capacity
 *	first    the first event of this recording
 *
 * One thread writes, or several under a lock. Any thread reads, at any time: it
 * copies an event and reads `written` again. The event is whole if the writer
 * cannot have begun to overwrite it, that is, if written < i + capacity.
 *
 * Checked by test/model/trace_ring.pml.
 */

enum { TRACE_RING_WORDS = 4 };

struct trace_ring {
	struct trace_ring *next;     /* fixed once the ring is listed */
	a_u64             *words;    /* writer writes */
	uint64_t           capacity; /* fixed: events, a power of two */
	a_u64              written;  /* writer writes */
	a_u64              first;    /* writer writes */
	bool               ticks;  /* fixed: times are arch_ticks, not os_now */
	uint32_t           number; /* fixed */
	uint32_t           kind;   /* fixed: enum sennit_trace_ring_kind */
	a_u32              thread; /* any: the system's number of the writer;
				      * 0: none yet, or several */
	bool               taken;  /* under the lock of the list: it belongs
				      * to a thread */
};

/* Returns a ring of `capacity` events, a power of two. It allocates pages of
 * the system, which are in use only once they are written. NULL: out of
 * memory. */
struct trace_ring *sn_trace_ring_make(uint64_t capacity);
void               sn_trace_ring_free(struct trace_ring *r);

/* The time of an event that happens now. */
uint64_t sn_trace_ring_now(bool ticks);

/* Forget all events. Writer only. */
void sn_trace_ring_begin(struct trace_ring *r);

/* Append an event of `fiber` at that time, which is not before that of the last
 * one, or one that happens now. Writer only. */
void sn_trace_ring_add_at(struct trace_ring *r, uint64_t time, uint32_t fiber,
			  uint32_t kind, uint32_t detail, uint64_t a,
			  uint64_t b);
void sn_trace_ring_add(struct trace_ring *r, uint32_t fiber, uint32_t kind,
		       uint32_t detail, uint64_t a, uint64_t b);

/* The events that are in the ring: [*begin, *end). The oldest may be
 * overwritten any time. */
void sn_trace_ring_range(struct trace_ring *r, uint64_t *begin, uint64_t *end);

/* Copy event i of the range. If it was overwritten, *out is an event of kind
 * SENNIT_TRACED_NONE. */
void sn_trace_ring_read(struct trace_ring *r, uint64_t i,
			struct sennit_trace_event *out);

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
