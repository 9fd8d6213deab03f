/* SPDX-License-Identifier: Apache-2.0 */
/* observe_state.h - the parts of a fiber, a worker and a scheduler that belong
 * to observe. */
#ifndef SN_OBSERVE_STATE_H
#define SN_OBSERVE_STATE_H

#include "base/atomic.h"
#include "base/list.h"
#include "sennit/base.h"
#include "sennit/scheduler.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct home;
struct measures;
struct trace_ring;

/* Of a fiber: times in the units of observe/histogram.h. */
struct fiber_times {
	uint64_t began; /* owner: when the task began or resumed; 0: it is not
			 * timed */
	uint64_t ran;   /* owner: nanoseconds that it ran before that */
	a_u64    since; /* owner writes: when the wait began; 0: it is not
			 * timed */
	uint64_t ready; /* handed: when the wait was over; 0: unknown */
	uint64_t slept; /* owner: when the wait began, by os_now; 0: no
			 * profiler is told */

	/* A lock call of a mutex is one wait of several sleeps, which is timed
	 * from the `since` of the first one. All: owner. */
	uint64_t woken;   /* `ready` of the last sleep; 0: unknown */
	uint64_t resumed; /* when that one was over */
	bool     goes_on; /* the next sleep goes on with the last one */

	uint32_t kind;      /* owner: enum sennit_waits_for */
	uint32_t times_off; /* owner: the worker's, when the task began */

	/* For traces. All: owner. */
	uint32_t  traced;  /* the recording that knows its task; 0: none */
	uint32_t  before;  /* `doing` of a wait that began unrecorded, when the
			   * fiber became ready; 0: none */
	uint64_t  waited;  /* the time of the ring at which its wait began */
	uint64_t  told_at; /* the event of the ring that last told its task */
	uintptr_t told;    /* that task's function */
};

/* Bits of home.observed: who wants to know what the worker does. */
#define OBSERVE_TIMES  1u /* the histograms */
#define OBSERVE_PROBES 2u /* a tracer: see observe.h */
#define OBSERVE_TRACE  4u /* the trace of events: see trace.h */
#define OBSERVE_SLEEPS 8u /* a profiler: see profiler.h */

/* Counters of what is rare. They are counted always. */
struct rare_counters { /* all: owner writes */
	a_u64 calls, cancels;
	a_u64 again; /* blocks that only went on with a wait */
};

/* The part of a worker. */
struct observe_state {
	a_ptr    measures; /* owner writes: struct measures; NULL: none yet */
	uint32_t every;   /* owner: as in the scheduler; 0: off, or no memory */
	uint32_t task_in; /* owner: tasks until one is timed */
	uint32_t wait_in; /* owner: waits until one is timed */
	uint32_t times_off; /* owner: how often timing was switched off */
	uint64_t stamp;     /* owner: when what ran has stopped, if nothing else
			   * has been done since; 0: unknown */
	struct rare_counters rare;
	a_u64 told_waits, told_wakes; /* any: the most that metrics have told */
};

/* The part of a scheduler. */
struct observe_shared {
	a_u32 every;           /* any: one of how many tasks and waits is timed;
				* 0: none */
	a_u32 traced;          /* any: OBSERVE_TRACE: events are recorded;
				* OBSERVE_SLEEPS: a profiler is told of waits */
	struct measures *past; /* under bound_workers.lock: of threads that have
				* unbound; NULL: none */
	struct rare_counters past_rare; /* under bound_workers.lock */
};

/* A scheduler's part in a trace (trace.h). */
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
	a_ptr    crash_file;       /* any: struct own_file of crash_fd; NULL: it
				    * is the program's */
};

/* A worker's part in a trace (trace.h), and its ring.
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

struct recorder {
	struct trace_ring *ring;  /* owner: NULL: none yet */
	a_ptr              given; /* under tracing.lock: its ring, NULL: none */
	a_u32              number; /* the number of that ring */
	a_u32              told;   /* any: 1: the note is in the mailbox, or
				    * about to be */
	struct node        note;   /* handed */
	uint32_t           turn;   /* owner: recordings so far; not 0 in one */
	const a_u32       *on;     /* fixed: the scheduler's: see trace.h */
	const struct home *home;   /* fixed */
};

/* A scheduler's place in the list of all: see report.h. */
struct scheduler_list_state {
	struct link link;   /* under the list's lock */
	uint64_t    number; /* fixed: of all schedulers that ever joined */
	uint32_t    forks;  /* fixed: the list's, when it joined */
	bool        ready;  /* under the list's lock: created, so that others
			    * than debuggers may look */
};

#endif
