/* SPDX-License-Identifier: Apache-2.0 */
/* recorder.h - a worker's part in a trace (trace.h), and its ring.
 *
 * The owner records into its ring while home.observed has OBSERVE_TRACE. Any
 * thread may tell the owner to look whether recording is on: it leaves a note
 * among the fibers in the worker's mailbox, which the owner looks into at every
 * dispatch.
 *
 *	other thread   on = 1; told = 1; if it was 0: put the note
 *	owner          takes the note; told = 0; looks at on
 *
 * While nothing is recorded, this costs nothing at a dispatch: the flags that
 * lead to the recording code are those that lead to other rare paths, too.
 */
#ifndef SN_RECORDER_H
#define SN_RECORDER_H

#include "base/atomic.h"
#include "base/list.h"
#include "sennit/base.h"
#include "sennit/report.h"
#include "sennit/trace_format.h"

#include <pthread.h>

struct home;
struct mailbox;

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

/* Append an event that happens now on `fiber`. Writer only. */
void sn_trace_ring_add(struct trace_ring *r, uint32_t fiber, uint32_t kind,
		       uint32_t detail, uint64_t a, uint64_t b);

/* The events that are in the ring: [*begin, *end). The oldest may be
 * overwritten any time. */
void sn_trace_ring_range(struct trace_ring *r, uint64_t *begin, uint64_t *end);

/* Copy event i of the range. If it was overwritten, *out is an event of kind
 * SENNIT_TRACED_NONE. */
void sn_trace_ring_read(struct trace_ring *r, uint64_t i,
			struct sennit_trace_event *out);

/* --- observe state -------------------------------------------------------- */

/* The parts of a worker and of a scheduler for observe.h. */

/* Bits of home.observed: who wants to know what the worker does. */
#define OBSERVE_TIMES  1u /* the histograms */
#define OBSERVE_PROBES 2u /* a tracer: see observe.h */
#define OBSERVE_TRACE  4u /* the trace of events: see trace.h */

/* Counters of what is rare. They are counted always. */
struct rare_counters { /* all: owner writes */
	a_u64 calls, cancels;
};

/* The part of a worker. */
struct observe_state {
	a_ptr    measures; /* owner writes: struct measures; NULL: none yet */
	uint32_t every;   /* owner: as in the scheduler; 0: off, or no memory */
	uint32_t task_in; /* owner: tasks until one is timed */
	uint32_t wait_in; /* owner: waits until one is timed */
	uint64_t stamp;   /* owner: when what ran has stopped, if nothing else
			   * has been done since; 0: unknown */
	struct rare_counters rare;
};

/* The part of a scheduler. */
struct observe_shared {
	a_u32 every;           /* any: one of how many tasks and waits is timed;
				* 0: none */
	a_u32 traced;          /* any: 1: events are recorded */
	struct measures *past; /* under bound_workers.lock: of threads that have
				* unbound; NULL: none */
	struct rare_counters past_rare; /* under bound_workers.lock */
};

static inline struct measures *sn_observe_measures(struct observe_state *o)
{
	return a_load_acq(&o->measures); /* <- observe.measures */
}

static inline const struct rare_counters *sn_observe_rare(
	const struct observe_state *o)
{
	return &o->rare;
}

/* bound_workers.lock held. */
static inline const struct rare_counters *sn_observe_past_rare(
	const struct observe_shared *o)
{
	return &o->past_rare;
}

static inline bool sn_observe_is_timed(const struct observe_shared *o)
{
	return a_load_rlx(&o->every); /* for a gauge */
}

/* --- owner only --------------------------------------------------------- */

/* Count down. Returns whether it is not yet the turn of one to be timed. */
static inline bool sn_observe_pass(struct observe_state *o, uint32_t *left)
{
	if (*left <= 1)
		return false;
	--*left;
	o->stamp = 0;
	return true;
}

/* The worker has a new thread, which has not looked yet. */
static inline void sn_observe_reset(struct observe_state *o)
{
	o->every = 0;
	o->stamp = 0;
}

static inline void sn_observe_count_call(struct observe_state *o)
{
	a_bump_owner(&o->rare.calls);
}

static inline void sn_observe_count_cancel(struct observe_state *o)
{
	a_bump_owner(&o->rare.cancels);
}

/* --- trace state ---------------------------------------------------------- */

/* A scheduler's part in a trace (observe/trace.h). */

struct trace_state {
	pthread_mutex_t    lock;   /* rank: below bound_workers.lock */
	a_ptr              rings;  /* under lock; readers need none: a list of
				      * struct trace_ring that only grows */
	struct trace_ring *others; /* under lock: of threads without worker */
	a_u64    capacity;         /* under lock: events of each ring; 0: there
				      * are no rings yet */
	uint32_t last;             /* under lock: the highest number of a
				      * ring */
	a_u64    begin_ticks;      /* under lock */
	a_u64    begin_ns;         /* under lock */
	uint32_t process;          /* fixed once there are rings */
	uint32_t cpus;             /* fixed once there are rings */
	a_u32    crash_fd;         /* any */
};

static inline void sn_trace_init(struct trace_state *t)
{
	pthread_mutex_init(&t->lock, NULL);
}

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

struct recorder {
	struct trace_ring *ring;  /* owner: NULL: none yet */
	a_ptr              given; /* under tracing.lock: its ring, NULL: none */
	a_u32              number; /* the number of that ring */
	a_u32              told;   /* any: 1: the note is in the mailbox, or
				    * about to be */
	struct node        note;   /* handed */
	const a_u32       *on;     /* fixed: the scheduler's: see trace.h */
	const struct home *home;   /* fixed */
};

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
 * records from now on. Owner only. See sn_worker_look. */
bool sn_recorder_look(struct recorder *r);

/* Whether a note may be in the chain. A stale value is harmless: the note of a
 * thread that has just said so is still to come. */
static inline bool sn_recorder_is_told(const struct recorder *r)
{
	return a_load_rlx(&r->told);
}

/* The note, which is no work: a worker that sleeps leaves it in its mailbox. */
static inline const struct node *sn_recorder_note(const struct recorder *r)
{
	return &r->note;
}

/* Record an event of the running fiber. home.observed must have OBSERVE_TRACE.
 * Owner only. */
COLD void sn_recorder_add(struct recorder *r, uint32_t kind, uint32_t detail,
			  uint64_t a, uint64_t b);

#endif
