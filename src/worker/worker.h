/* SPDX-License-Identifier: Apache-2.0 */
/* worker.h - one thread's share of a scheduler.
 *
 *	multi-threaded worker (MTW)   a thread of the scheduler's own; its tasks
 *	                              may be stolen until they start
 *	single-threaded worker (STW)  a bound thread: tasks pinned to it, run
 *	                              when it blocks or unbinds
 *
 * Only the worker's own thread touches it, but for the deque's public end, the
 * inboxes, the sleeper and the counters.
 */
#ifndef SN_WORKER_H
#define SN_WORKER_H

#include "base/check.h"
#include "core/deque.h"
#include "core/inbox.h"
#include "core/ring.h"
#include "core/shares.h"
#include "core/tracebuffer.h"
#include "worker/scheduler.h"
#include "fiber/fiber.h"
#include "worker/task_inbox.h"

#include <pthread.h>

/* Deque capacity at the start, and how many tasks a thief takes at most: an
 * empty deque always has room for them. */
#ifdef SENNIT_TORTURE
#define WORKER_DEQUE 2u
#define WORKER_LOOT  2u
#else
#define WORKER_DEQUE 256u
#define WORKER_LOOT  32u
#endif

/* [W1] The bound of fairness: every so many dispatches, of fibers and tasks
 * alike, inbox and timers have their turn, and one task starts even if fibers
 * are ready. 61 as in Go's scheduler: a prime, so that no pattern of the
 * program's keeps in step. */
#define WORKER_UPKEEP 61u

/* Every so many upkeeps that fall between tasks the oldest own task runs:
 * newest first alone could leave it for ever. Not more often: each opens work
 * that fork-join would rather finish; every 61 dispatches fib(32) took 22,000
 * stacks. */
#define WORKER_OLDEST 1024u

struct worker {
	struct home  home;         /* first, as fibers know it */
	struct fifo  ready;        /* owner: fibers to resume */
	struct node *idle;         /* owner: idle stacks, last used first */
	void        *first_stack;  /* handed: the first stack, not taken into
				       * use yet; NULL: it has been */
	uint32_t     dispatches;   /* owner: until the next upkeep */
	uint32_t     upkeeps;      /* owner: until the oldest's turn */
	uint32_t     serial;       /* fixed: unique in the process, not 0 */
	bool         oldest_first; /* fixed: the order of own tasks */
	bool         unbinding;    /* owner: STW that runs dry */
	bool         draining;     /* owner: takes no new tasks */
	bool starts_searching;     /* handed: begins as a counted searcher */
	bool started_by_create;    /* handed: its thread is create's */
	bool retiring;             /* owner: asleep, out of the gate, about to
				     * lose its thread */
	bool pushes;               /* owner: own tasks go to the deque, and
				       * need no fence; not while closed */
	bool pops;                 /* owner: own tasks come from there */
	struct parking   *parking; /* fixed: the scheduler's */
	int              *error;   /* fixed: the thread's errno */
	a_u64             clock;   /* owner writes: not after what runs
					 * began, and as late as is cheap */
	struct ring       pinned;  /* owner: tasks that stay */
	struct pool_cache cache;   /* owner */
	struct timers     timers;  /* owner */
	struct backlog   *backlog; /* fixed: the scheduler's, or below */

	struct claim        slot;      /* of the budget: see slots.h */
	uint32_t            index;     /* fixed: MTW's 0.. */
	uint32_t            fiber_ids; /* owner: the last given */
	uint32_t            spin_ns; /* owner: how long the next spin may be */
	uint32_t            random;  /* owner */
	uint32_t            last_victim; /* owner: who had tasks when last seen;
				       * its own index: nobody */
	struct steal_rings  rings; /* fixed: its neighbours; with seats only */
	uintptr_t           seen;  /* owner: an address on the thread's own
					 * stack; 0: none yet */
	void               *fault_stack; /* owner: NULL: none of ours */
	struct tracebuffer  trace;
	struct sennit_fiber main;        /* the thread's own stack */
	pthread_t           thread;      /* fixed while it runs */
	a_u32               thread_id;   /* owner writes: the system's, or that
					  * of the last, in a report just when
					  * another begins; 0: not begun */
	pthread_mutex_t     roster_lock; /* rank: below scheduler->lock */
	struct link        *roster;  /* under roster_lock: fibers but main */
	struct startup     *startup; /* fixed: whom to report to; NULL: none */
	a_u32 has_thread;  /* under scheduler->threads_lock: has a thread */
	struct link bound; /* under scheduler->lock */

	/* Giving memory back: see trim.h. */
	sennit_time trim_at;        /* owner: the next look, or step */
	uint64_t    busiest;        /* owner: most fibers that waited at once,
				     * since the last look */
	uint64_t    work_done;      /* owner: what it had done by then */
	uint32_t    surplus;        /* owner: idle stacks to be given back */
	uint32_t    surplus_shared; /* owner: the same of the depot's */
	uint32_t    trim_seen;      /* owner: how often, as far as seen */
	bool        expects_more;   /* owner: the last look saw a peak */
	a_u32       trimmed; /* owner writes: the last trim that was done */
	a_u32       stacks;  /* owner writes: how many it has */

	/* Who gets tasks that have not started: see balance.h. */
	uint64_t seen_blocked; /* owner: fibers that waited at the last count */
	uint64_t seen_tasks;   /* owner: tasks that had ended by then */
	uint32_t pile;         /* owner: by how many more tasks began to wait
				* than ended, lately; SHARE_PILE_MAX at most */
	uint64_t dealt_at;     /* owner: `blocks` when it last dealt */

	/* Counters: owner writes. Fibers blocked or ready: blocks - resumes. */
	a_u64 tasks, steals, parks, blocks, resumes, blocked_peak;

	struct deque deque; /* MTW only */

	_Alignas(CACHE_LINE) struct inbox fibers; /* any: ready fibers */
	struct inbox      tasks_in;  /* any, thieves too: struct parcel */
	a_u32             idle_now;  /* owner writes; 1: it has nothing to do,
				      * and will look into tasks_in first */
	sennit_scheduler *scheduler; /* fixed; here for who wakes a fiber */
	bool              threaded;  /* fixed: MTW; the same */
	struct sleeper    sleeper;   /* any: MTW among its scheduler's */
	a_u64             forced;    /* any: when a thief last used force */
	a_u32             callers; /* any: STW: threads in sn_wait that may yet
				 * touch it; it is not freed before zero */
	struct parking    alone;   /* where only this one parks, for fibers: */
	struct sleeper    solo;    /* any: see sn_idle_for_fiber */
	struct sleeper   *only[1]; /* fixed: solo, for alone */
	struct backlog    own; /* STW only: of a scheduler without workers */
};

/* The calling thread's worker; NULL on an unbound thread. Fibers never leave
 * their thread, so it may be kept across waits. */
extern _Thread_local struct worker *sn_self
	__attribute__((tls_model("initial-exec")));

/* The worker of *f. */
static inline struct worker *sn_worker_of(const struct sennit_fiber *f)
{
	return (struct worker *)f->home;
}

/* A worker of *s, index UINT32_MAX for an STW; 0 or -ENOMEM. */
int sn_worker_make(struct worker **out, sennit_scheduler *s, uint32_t index);
/* w takes new tasks from now on, or no more. */
void sn_worker_set_draining(struct worker *w, bool closed);
/* Free w, which has nothing left to do; its stacks go back. */
void sn_worker_free(struct worker *w);

/* The worker's thread is the calling one from now on. */
void sn_worker_enter(struct worker *w);

/* A stack never used before by w; NULL when none can be had. */
COLD struct sennit_fiber *sn_worker_new_stack(struct worker *w);

/* Put such a stack on the idle list. False: none can be had. */
COLD bool sn_worker_add_stack(struct worker *w);

/* What the worker's thread, which has just begun, is to run on. */
struct sennit_fiber *sn_worker_first_stack(struct worker *w);

/* The stack of f, which is in care, is about to be idle. Abort if it has a
 * canary and was overrun. Of a bound thread with a limit on stacks, it is the
 * one that the thread keeps: outside it would give none to those that have
 * none. */
COLD void sn_worker_end_unguarded(struct worker *w, struct sennit_fiber *f);

/* n, the first of the idle list, off it. */
static inline struct sennit_fiber *sn_worker_take_idle(struct worker *w,
						       struct node   *n)
{
	w->idle = n->next;
	if (n->next)
		__builtin_prefetch(n->next, 1);
	return container_of(n, struct sennit_fiber, link);
}

/* An idle stack, off the idle list; NULL when there is none. */
static inline struct sennit_fiber *sn_worker_idle_stack(struct worker *w)
{
	return w->idle ? sn_worker_take_idle(w, w->idle) : NULL;
}

/* An idle or a new stack; NULL when none can be had. */
static inline struct sennit_fiber *sn_worker_stack(struct worker *w)
{
	struct sennit_fiber *f = sn_worker_idle_stack(w);

	return f ? f : sn_worker_new_stack(w);
}

/* Give up to `most` idle stacks back to the system, at most STACK_BATCH, but
 * not the last used ones, of which it keeps so many. Returns how many. */
COLD uint32_t sn_worker_return_stacks(struct worker *w, uint32_t keep,
				      uint32_t most);

/* f waits with a deadline for the first time: see struct alarm. */
COLD struct alarm *sn_worker_new_alarm(struct worker       *w,
				       struct sennit_fiber *f);

/* The alarm of f, a fiber of w. */
static inline struct alarm *sn_worker_alarm(struct worker       *w,
					    struct sennit_fiber *f)
{
	return likely(f->alarm) ? f->alarm : sn_worker_new_alarm(w, f);
}

/* With a limit on stacks: give all idle ones but one back, for others that may
 * have none. Without one, nothing. */
COLD void sn_worker_share_stacks(struct worker *w);

/* A fiber of w is ready to go on. */
static inline void sn_worker_ready(struct worker *w, struct sennit_fiber *f)
{
	sn_fifo_push(&w->ready, &f->link);
}

static inline bool sn_worker_is_own(const struct worker *w)
{
	return w == sn_self;
}

/* Whether w has tasks that it may start itself. */
static inline bool sn_worker_has_task(const struct worker *w)
{
	return !sn_ring_is_empty(&w->pinned) ||
	       sn_deque_has_tasks_owner(&w->deque);
}

/* Fibers of w that wait or are ready; by another thread, as many or some more:
 * it sees the block of each resume that it sees, so never fewer than none. (The
 * sweep of finalise.c sees both as they are: w is out of the gate.) Checked by
 * test/model/counts.pml. */
static inline uint64_t sn_worker_blocked(const struct worker *w)
{
	uint64_t resumes = a_load_acq(&w->resumes); /* <- worker.resume */

	return a_load_rlx(&w->blocks) - resumes;
}

/* A wait of w's that was counted in `blocks` is over. */
static inline void sn_worker_count_resume(struct worker *w)
{
	uint64_t resumes = a_load_rlx(&w->resumes); /* only w writes it */

	a_store_rel(&w->resumes, resumes + 1); /* -> worker.resume: its block */
}

/* Move tasks of an inbox, w's own or a victim's, to w's deque: one of so many
 * equal parts (sn_task_inbox_take). Returns how many were moved. */
uint32_t sn_worker_take_parcels(struct worker *w, struct inbox *from,
				uint32_t parts);

/* Move ready fibers and tasks from the inboxes to where w finds them. */
void sn_worker_collect(struct worker *w);

/* Fire the timers that are due: their fibers get ready. Whether any did. */
bool sn_worker_fire(struct worker *w, sennit_time now);

/* Note that w changes to a state of trace.h, now. */
static inline void sn_worker_trace(struct worker *w, uint32_t state)
{
	if (unlikely(w->trace.events) && w->trace.state != state)
		sn_tracebuffer_record(&w->trace, state, os_now());
}

/* Free a copied argument that came from the allocator. */
void sn_worker_free_copy(sennit_scheduler *s, void *argument);

/* Free a task's argument as its meta says, on w. */
void sn_worker_discard(struct worker *w, void *argument, uintptr_t meta);

/* Wake w, if it sleeps, for a fiber that was put in its inbox. */
void sn_worker_wake(struct worker *w);

#define ASSERT_OWNER(w) ASSERT(sn_worker_is_own(w))

#endif
