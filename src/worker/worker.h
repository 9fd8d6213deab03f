/* SPDX-License-Identifier: Apache-2.0 */
/* worker.h - one thread's share of a scheduler.
 *
 *	multi-threaded worker (MTW)   a worker thread of the scheduler; its
 *	                              tasks may be stolen until they start
 *	single-threaded worker (STW)  a bound thread; its tasks are pinned to
 *	                              it, and run when it blocks or unbinds
 *
 * Only the worker's own thread accesses it, except for the deque's public end,
 * the inboxes, the sleeper and the counters.
 */
#ifndef SN_WORKER_H
#define SN_WORKER_H

#include "base/check.h"
#include "core/shares.h"
#include "core/tracebuffer.h"
#include "worker/balance_state.h"
#include "worker/bias.h"
#include "worker/counters.h"
#include "worker/errands.h"
#include "worker/fiber_parking.h"
#include "worker/idle_state.h"
#include "worker/mailbox.h"
#include "worker/observe_state.h"
#include "worker/poller_state.h"
#include "worker/recorder.h"
#include "worker/roster.h"
#include "worker/scheduler.h"
#include "worker/thread_state.h"
#include "worker/trim_state.h"
#include "worker/steal_state.h"
#include "worker/stack_cache.h"
#include "fiber/fiber.h"
#include "worker/run_queue.h"
#include "worker/task_inbox.h"
#include "sennit/trace.h"

#include <stddef.h>

/* Each part belongs to the modules that its comment names ("of ..."). No other
 * module accesses its fields (tools/check-owners).
 *
 * Cache lines: first what the owner writes at every dispatch; then what thieves
 * read and write, in run.deque; then what any thread writes, from mail on. */
struct worker {
	struct home        home;        /* first, because fibers know it */
	struct stack_cache idle_stacks; /* of stack_cache */
	struct parking    *parking;     /* fixed: the scheduler's */
	int               *error;       /* fixed: the thread's errno */
	a_u64              clock;       /* owner writes: not after the start of
					 * what runs, and as recent as is
					 * cheap */
	struct counters    counters;    /* of counters */
	struct run_queue   run;         /* of run_queue */
	struct pool_cache  cache;       /* owner */

	struct idle_state    idle;    /* of idle */
	struct steal_state   steal;   /* of steal */
	struct balance_state balance; /* of balance */
	struct trim_state    trim;    /* of trim */
	struct observe_state observe; /* of observe, worker */
	struct claim         slot;    /* of slots */
	struct bias          bias;    /* of bias */
	struct backlog      *backlog; /* fixed: the scheduler's, or own */
	struct timers        timers;  /* owner */
	sennit_poller       *poller;  /* owner: see poller.h; NULL: none */
	struct poller_state  polled;  /* of poller */

	uint32_t            index;  /* fixed: an MTW's index, from 0 */
	uint32_t            serial; /* fixed: unique in the process, not 0 */
	uintptr_t           last_seen_at; /* of longjmp_check: an address on the
					   * thread's own stack; 0: none */
	struct cxx_globals *exceptions;   /* fixed: the exception state of the
					 * thread */
	struct tracebuffer  trace;
	struct recorder     recorder; /* of recorder, trace */
	struct sennit_fiber main;     /* the thread's own stack */
	struct thread_state thread;   /* of thread_state */
	struct roster       roster;   /* of roster: its fibers except main */
	struct binding      binding;  /* of bound_workers; STW only */

	_Alignas(CACHE_LINE) struct mailbox mail; /* of mailbox */
	sennit_scheduler    *scheduler; /* fixed; here for threads that wake a
					 * fiber */
	bool                 threaded;  /* fixed: MTW; here for the same
					 * reason */
	struct sleeper       sleeper;   /* any: the MTW's among those of its
					 * scheduler */
	a_u64                forced;    /* of steal: any: time of the last
					 * forced take */
	struct fiber_parking alone;     /* of fiber_parking */
	struct backlog       own; /* STW only: in a scheduler without workers */
	struct errands       errands; /* of errands, worker */
};

/* Lines of the owner: a pair of lines before the run queue, with nothing of
 * other threads. */
_Static_assert(offsetof(struct worker, run) == CACHE_LINE,
	       "home, clock and counters fill the owner's first lines");
_Static_assert(offsetof(struct worker, run.deque) == 2 * CACHE_LINE,
	       "what is ready and whose turn it is share the next ones");
/* Lines of others: a thread that leaves a fiber or a parcel, and wakes the
 * worker for it, accesses one line, which contains nothing that the owner
 * writes at every dispatch. */
_Static_assert(offsetof(struct worker, mail) % CACHE_LINE == 0 &&
		       offsetof(struct worker, alone) -
				       offsetof(struct worker, mail) ==
			       CACHE_LINE,
	       "the mailbox shares its lines with what a waker needs alone");
_Static_assert(offsetof(struct worker, sleeper) + sizeof(struct sleeper) -
			       offsetof(struct worker, mail) <=
		       64,
	       "and all of that is on the first of them");

/* The calling thread's worker. NULL on an unbound thread. Fibers never leave
 * their thread, so the value may be kept across waits. */
extern _Thread_local struct worker *sn_self
	__attribute__((tls_model("initial-exec")));

/* The worker of *f. */
static inline struct worker *sn_worker_of(const struct sennit_fiber *f)
{
	return (struct worker *)f->home;
}

/* The worker of *b. */
static inline struct worker *sn_worker_bound(struct binding *b)
{
	return container_of(b, struct worker, binding);
}

/* Make a worker of *s. index UINT32_MAX makes an STW. Returns 0 or -ENOMEM. */
int sn_worker_make(struct worker **out, sennit_scheduler *s, uint32_t index);
/* Free w, which must have nothing left to do, and no stacks. */
void sn_worker_free(struct worker *w);

/* The same for a bound thread, whose worker takes the memory of one that has
 * unbound, if there is any. sn_worker_free_bound keeps that memory, of one
 * worker for each scheduler. sn_worker_free_spare frees what was kept; any
 * thread. */
int  sn_worker_make_bound(struct worker **out, sennit_scheduler *s);
void sn_worker_free_bound(struct worker *w);
void sn_worker_free_spare(sennit_scheduler *s);

/* Make the calling thread, whose number is `thread`, the worker's thread. */
void sn_worker_enter(struct worker *w);

/* f waits with a deadline for the first time: see struct alarm. */
COLD struct alarm *sn_worker_new_alarm(struct worker       *w,
				       struct sennit_fiber *f);

/* f, a fiber of w, no longer needs its alarm. */
void sn_worker_drop_alarm(struct worker *w, struct sennit_fiber *f);

/* The alarm of f, a fiber of w. */
static inline struct alarm *sn_worker_alarm(struct worker       *w,
					    struct sennit_fiber *f)
{
	return likely(f->alarm) ? f->alarm : sn_worker_new_alarm(w, f);
}

/* Whether the thread handles exceptions, or unwinds its stack. */
static inline bool sn_worker_has_exceptions(const struct worker *w)
{
	return sn_cxx_is_busy(w->home.cxx) && sn_cxx_is_busy(w->exceptions);
}

/* Whether the events of w are recorded. Owner only. */
static inline bool sn_worker_is_traced(const struct worker *w)
{
	return unlikely(w->home.observed & OBSERVE_TRACE);
}

/* Set or clear OBSERVE_* bits of w: see observe.h. Owner only. */
COLD void sn_worker_observe(struct worker *w, uint32_t bits, bool on);

/* Start or stop to record events on w, as its scheduler says. Owner only. */
COLD void sn_worker_look(struct worker *w);

/* The marks that the fibers of w have for their whole life. */
static inline uint32_t sn_worker_cleanup(const struct worker *w)
{
	return w->home.fp_shared ? CLEANUP_FP_SHARED : 0;
}

static inline bool sn_worker_is_own(const struct worker *w)
{
	return w == sn_self;
}

/* For thieves, and for pushes onto the caller's own deque. */
static inline struct deque *sn_worker_deque(const struct worker *w)
{
	return sn_run_queue_deque(&w->run);
}

/* The number of fibers of w that wait or are ready: see counters.h. */
static inline uint64_t sn_worker_blocked(const struct worker *w)
{
	return sn_counters_blocked(&w->counters);
}

/* Whether the loop would run w's newest own task next: no fiber, pinned task or
 * older task comes before it. May miss fibers that are arriving. */
static inline bool sn_worker_wants_newest(const struct worker *w)
{
	return sn_run_queue_wants_newest(&w->run) &&
	       !sn_mailbox_has_fibers(&w->mail);
}

/* Move tasks from a mailbox, w's own or a victim's, to w's deque: 1/parts of
 * them (sn_task_inbox_take). Returns their number. */
uint32_t sn_worker_take_parcels(struct worker *w, struct worker *from,
				uint32_t parts);

/* Move ready fibers and tasks from the mailbox to w's queues. */
void sn_worker_collect(struct worker *w);

/* Record that w changes to a state of trace.h now. */
static inline void sn_worker_trace(struct worker *w, uint32_t state)
{
	if (sn_worker_is_traced(w) && state == SENNIT_TRACE_SPIN)
		sn_recorder_add(&w->recorder, SENNIT_TRACED_SEARCH, 0, 0, 0);
	if (unlikely(w->trace.events) && w->trace.state != state)
		sn_tracebuffer_record(&w->trace, state, os_now());
}

/* Free a copied argument that came from the allocator. */
void sn_worker_free_copy(sennit_scheduler *s, void *argument);

/* Free a task's argument as its meta says, on w. */
void sn_worker_discard(struct worker *w, void *argument, uintptr_t meta);

/* Wake w, if it sleeps, for a fiber that was put in its inbox. */
void sn_worker_wake(struct worker *w);

/* Wake all workers and bound threads of s that sleep, to look at what has
 * changed. */
void sn_worker_wake_all(sennit_scheduler *s);

#define ASSERT_OWNER(w) ASSERT(sn_worker_is_own(w))

#endif
