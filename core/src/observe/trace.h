/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - records what workers do, as events of sennit/trace_format.h.
 *
 * Functions that take a worker record on that worker. Only its owner may call
 * them, and only while sn_worker_is_traced(w). Threads without a worker of the
 * scheduler share one ring, under a lock. Most of these functions are called
 * only by the hooks of sched/hooks.h, which declares some of them.
 */
#ifndef SN_TRACE_H
#define SN_TRACE_H

#include "sched/hooks.h"
#include "sennit/trace_format.h"

/* Tasks and waits that are in progress when the recording starts:
 *
 *	fiber   waits     -> ready          -> runs   -> its first event
 *	trace             what it waits for             STATE, RESUME
 *
 * Such a fiber passes no hook when it resumes, because its wait began
 * unrecorded. So the first event of each running fiber is preceded by STATE,
 * which contains what it runs, and by the RESUME of that wait, with the time of
 * the worker's last event, because the worker did something else until then.
 * What the fiber waited for is read while it is ready, before the wait is
 * forgotten. Nothing is done for fibers that only wait: the thread that writes
 * the file reads their state.
 *
 * The ring overwrites old events. A RESUME therefore contains the kind and the
 * begin of its wait, and a fiber that resumes records its task again if half of
 * the ring has been written since it last did.
 */

/* Record the begin and the end of a task. inside: it runs on the stack of
 * another task. */
void sn_trace_begin(struct worker *w, sennit_task_fn *run, const void *argument,
		    bool inside);
void sn_trace_end(struct worker *w, uintptr_t task);

/* Record that the running fiber is about to wait. Returns the flow of the
 * wait. */
uint64_t sn_trace_wait(struct worker *w);
void     sn_trace_resume(struct worker *w, uint64_t flow);

/* The recording starts on w. The time is proportional to the number of ready
 * fibers, and less than it takes to run them. */
void sn_trace_found(struct worker *w);

void sn_trace_steal(struct worker *w, const struct worker *victim,
		    uint32_t tasks);

COLD void sn_trace_search(struct worker *w);

/* w goes to sleep, waits for a slot or loses its thread; or continues. */
void sn_trace_park(struct worker *w);
void sn_trace_unpark(struct worker *w);

/* Any thread is about to wake the fiber of *n, which it has claimed. Does
 * nothing if neither scheduler records. */
void sn_trace_wake(const struct waiter *n);

/* Any thread begins or ends the function `run` of a blocking call. *n waits for
 * the call. kind: SENNIT_TRACED_CALL_*. */
COLD void sn_trace_call(sennit_scheduler *s, uint32_t kind, const void *run,
			const struct waiter *n);

/* Make all workers of s apply observe.traced at their next dispatch, or when
 * they wake. Any thread. */
void sn_trace_tell(sennit_scheduler *s);

/* Start to record if the configuration of s requests it. The workers of s
 * exist, and no thread runs yet. Returns 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_trace_prepare(sennit_scheduler *s);

/* Return the events per ring. 0: never started. */
uint64_t sn_trace_capacity(sennit_scheduler *s);

/* Called by the new thread of w, a worker with its own thread. */
void sn_trace_enter(struct worker *w);

/* The thread of w was bound, or is about to be unbound. */
void sn_trace_join(struct worker *w);
void sn_trace_leave(struct worker *w);

/* Return the name of f, a fiber of the worker, in events: its ring and its
 * number. */
static inline uint64_t sn_recorder_name(const struct recorder     *r,
					const struct sennit_fiber *f)
{
	return (uint64_t)a_load_rlx(&r->number) << 32 | f->id;
}

/* Return the flow of the wait that f, a fiber of the worker, is in: the ring's
 * number plus 1, then the low 24 bits of the worker's count of waits, which
 * `doing` contains. Valid until the fiber can be resumed. */
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

/* Report whether rings have ever been made. Exact under the lock. A thread that
 * has joined the bound ones need not hold the lock: the thread that makes rings
 * which it misses gives it one. */
static inline bool sn_trace_has_rings(const struct trace_state *t)
{
	return a_load_rlx(&t->capacity);
}

/* Free the rings. The scheduler has no threads left. */
void sn_trace_free(struct trace_state *t);

/* --- recorder ------------------------------------------------------------- */

static inline void sn_recorder_init(struct recorder *r, const a_u32 *on,
				    const struct home *home)
{
	r->on = on;
	r->home = home;
}

/* Make the worker check *on soon. Any thread; the worker must stay valid. */
void sn_recorder_tell(struct recorder *r, struct mailbox *mail);

/* Start or stop recording if *on has changed. Returns whether the worker
 * records from now on. Owner only. See sn_worker_update_recording. */
bool sn_recorder_update(struct recorder *r);

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
 * copies an event and reads `written` again. The copy is valid if the writer
 * cannot have begun to overwrite the event, that is, if written < i + capacity.
 *
 * Checked by core/test/model/trace_ring.pml.
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
	a_u32              thread; /* any: TID of the writer; 0: none yet, or
				    * several */
	bool               taken;  /* under the lock of the list: it belongs to
				    * a thread */
};

/* Return a ring of `capacity` events, a power of two, or NULL if there is no
 * memory. The pages are mapped, and are in use only once they are written. */
struct trace_ring *sn_trace_ring_make(uint64_t capacity);
void               sn_trace_ring_free(struct trace_ring *r);

/* Return the time of an event that happens now. */
uint64_t sn_trace_ring_now(bool ticks);

/* Forget all events. Writer only. */
void sn_trace_ring_begin(struct trace_ring *r);

/* Append an event of `fiber`: at that time, which must not be before that of
 * the last event, or at the current time. Writer only. */
void sn_trace_ring_add_at(struct trace_ring *r, uint64_t time, uint32_t fiber,
			  uint32_t kind, uint32_t detail, uint64_t a,
			  uint64_t b);
void sn_trace_ring_add(struct trace_ring *r, uint32_t fiber, uint32_t kind,
		       uint32_t detail, uint64_t a, uint64_t b);

/* Set the range of the events that are in the ring: [*begin, *end). The oldest
 * may be overwritten at any time. */
void sn_trace_ring_range(struct trace_ring *r, uint64_t *begin, uint64_t *end);

/* Copy event i of the range. If it was overwritten, *out has the kind
 * SENNIT_TRACED_NONE. */
void sn_trace_ring_read(struct trace_ring *r, uint64_t i,
			struct sennit_trace_event *out);

/* --- trace write ---------------------------------------------------------- */

/* sennit_trace_write() writes the rings of a scheduler in the format of
 * sennit/trace_format.h. It needs no memory except for names, and takes no lock
 * that a recording thread takes. */

/* Write the rings of s to fd if this process aborts or a stack overflows; fd
 * -1: no longer. *own is the file of fd if the library has opened it, and must
 * outlive *s; NULL: the program has opened it. Only one scheduler of a process
 * can request this. Returns 0 or -EBUSY. */
struct own_file;
SENNIT_MUST_USE int sn_trace_crash_to(sennit_scheduler *s, int fd,
				      const struct own_file *own);

/* Called when *s ends. */
void sn_trace_crash_forget(sennit_scheduler *s);

/* The process is about to end: write the rings that sn_trace_crash_to has
 * requested, once. May be called in a signal handler. */
void sn_trace_crash(void);

#endif
