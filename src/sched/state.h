/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - every struct of a scheduler and of a worker, one thread's share of
 * it, with the functions that only read or write them.
 *
 *	threaded worker               a worker thread of the scheduler; its
 *	                              tasks may be stolen until they start
 *	bound worker                  a bound thread; its tasks are pinned to
 *	                              it, and run when it blocks or unbinds
 *
 * Only the worker's own thread accesses it, except for the deque's public end,
 * the inboxes, the sleeper and the counters.
 */
#ifndef SN_STATE_H
#define SN_STATE_H

#include "base/atomic.h"
#include "base/compiler.h"
#include "base/list.h"
#include "base/torture.h"
#include "core/gate.h"
#include "core/parking.h"
#include "core/shares.h"
#include "core/topology.h"
#include "life/end_clients.h"
#include "observe/recorder.h"
#include "os/os.h"
#include "queue/inbox.h"
#include "queue/task.h"
#include "sched/fiber.h"
#include "sched/run_queue.h"
#include "stack/stack.h"
#include "wait/blocking_threads.h"
#include "sennit/base.h"
#include "sennit/config.h"
#include "sennit/poller.h"
#include "sennit/resources.h"
#include "sennit/scheduler.h"
#include "sennit/task.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- balance state -------------------------------------------------------- */

/* Whether a worker's tasks wait or end: see steal.h. */

struct balance_state {         /* all: owner */
	uint64_t seen_blocked; /* fibers that waited at the last count */
	uint64_t seen_tasks;   /* tasks that had ended at the last count */
	uint64_t dealt_at;     /* `blocks` when it last dealt */
	uint32_t pile;         /* the waits that have begun recently, weighted:
			        * at most SHARE_PILE_MAX */
	uint32_t waits;        /* recent tasks that began to wait */
	uint32_t tasks;        /* recent tasks: these, and those that ended */
};

/* --- counters ------------------------------------------------------------- */

/* The counters of a worker.
 *
 * The worker writes its own counters with plain stores, and any thread may read
 * them. The number of fibers that wait or are ready is blocks - resumes.
 */

struct counters { /* all: owner writes */
	a_u64 tasks, steals, parks, blocks, resumes, blocked_peak;
};

/* The sums over several workers. */
struct counters_sum {
	uint64_t tasks, steals, parks, blocks, resumes, fibers_peak;
};

static inline uint64_t sn_counters_tasks(const struct counters *c)
{
	return a_load_rlx(&c->tasks);
}

static inline uint64_t sn_counters_blocks(const struct counters *c)
{
	return a_load_rlx(&c->blocks);
}

/* The number of fibers that wait or are ready. Another thread may get a higher
 * number, but never a negative one: it sees the block of each resume that it
 * sees. (The sweep of end.c gets exact values, because the worker is out
 * of the gate.) Checked by test/model/counts.pml. */
static inline uint64_t sn_counters_blocked(const struct counters *c)
{
	uint64_t resumes = a_load_acq(&c->resumes); /* <- counters.resume */

	return a_load_rlx(&c->blocks) - resumes;
}

/* --- owner only --------------------------------------------------------- */

static inline void sn_counters_count_task(struct counters *c)
{
	a_bump_owner(&c->tasks);
}

static inline void sn_counters_count_steals(struct counters *c, uint32_t n)
{
	a_store_rlx(&c->steals, a_load_rlx(&c->steals) + n);
}

static inline void sn_counters_count_park(struct counters *c)
{
	a_bump_owner(&c->parks);
}

/* A fiber begins to wait. */
static inline void sn_counters_count_block(struct counters *c)
{
	a_bump_owner(&c->blocks);
}

/* A wait that was counted as a block has ended. */
static inline void sn_counters_count_resume(struct counters *c)
{
	uint64_t resumes = a_load_rlx(&c->resumes); /* not raced: only the owner
						     * writes */

	a_store_rel(&c->resumes, resumes + 1); /* -> counters.resume: block */
}

/* Record the number of fibers that wait now. */
static inline void sn_counters_note_blocked(struct counters *c,
					    uint64_t         blocked)
{
	if (blocked > a_load_rlx(&c->blocked_peak))
		a_store_rlx(&c->blocked_peak, blocked);
}

/* --- sums --------------------------------------------------------------- */

/* Reads counters while the owner writes them: see sennit_stats. */
static inline void sn_counters_add(struct counters_sum   *sum,
				   const struct counters *c)
{
	sum->tasks += a_load_rlx(&c->tasks);
	sum->steals += a_load_rlx(&c->steals);
	sum->parks += a_load_rlx(&c->parks);
	sum->resumes += a_load_rlx(&c->resumes);
	sum->blocks += a_load_rlx(&c->blocks);
	sum->fibers_peak += a_load_rlx(&c->blocked_peak);
}

static inline void sn_counters_join(struct counters_sum       *sum,
				    const struct counters_sum *more)
{
	sum->tasks += more->tasks;
	sum->steals += more->steals;
	sum->parks += more->parks;
	sum->resumes += more->resumes;
	sum->blocks += more->blocks;
	sum->fibers_peak += more->fibers_peak;
}

/* --- idle state ----------------------------------------------------------- */

/* The state of a worker's idle time: see loop.h. */

/* In `time`: the worker is idle. */
#define IDLE_NOW (UINT64_C(1) << 63)

struct idle_state {
	uint32_t spin_ns;          /* owner: maximum length of the next spin, in
				    * ns */
	bool     starts_searching; /* handed: begins as a searcher that is
				    * already counted */
	bool     retiring;         /* owner: asleep, out of the gate, about to
				    * give up its thread */
	a_u64    time;             /* owner writes: the sum of idle times; with
				    * IDLE_NOW: when the current one began minus
				    * the sum of those before it */
};

static inline void sn_idle_init(struct idle_state *i, uint32_t spin_ns)
{
	i->spin_ns = spin_ns;
	a_init(&i->time, 0);
}

/* An idle time begins, or goes on if the worker gave up its thread in it. */
static inline void sn_idle_begin(struct idle_state *i, sennit_time now)
{
	uint64_t time = a_load_rlx(&i->time); /* not raced: only the owner
					       * writes */

	if (!(time & IDLE_NOW))
		a_store_rlx(&i->time, IDLE_NOW | (now - time));
}

static inline void sn_idle_end(struct idle_state *i, sennit_time now)
{
	a_store_rlx(&i->time, now - (a_load_rlx(&i->time) & ~IDLE_NOW));
}

/* Any thread: whether the worker searches or sleeps. May be stale. */
static inline bool sn_idle_is_idle(const struct idle_state *i)
{
	return a_load_rlx(&i->time) & IDLE_NOW;
}

/* Any thread: the sum of all idle times up to `now`. One word holds all that it
 * takes, so the sum never goes back by more than clocks differ. */
static inline uint64_t sn_idle_time(const struct idle_state *i, sennit_time now)
{
	uint64_t time = a_load_rlx(&i->time);

	return time & IDLE_NOW ? now - (time & ~IDLE_NOW) : time;
}

/* For a worker whose thread is about to begin: whether it is already counted as
 * a searcher. */
static inline void sn_idle_start_searching(struct idle_state *i, bool counted)
{
	i->starts_searching = counted;
}

/* Whether sn_idle returned because the worker must retire. sn_idle_end_retiring
 * resets this. */
static inline bool sn_idle_is_retiring(const struct idle_state *i)
{
	return i->retiring;
}

static inline void sn_idle_end_retiring(struct idle_state *i)
{
	i->retiring = false;
}

/* --- poller state --------------------------------------------------------- */

/* What a worker polls: fibers that wait on its poller, and its hooks. See
 * poller.h. */

struct poller_state {
	uint32_t            waiting; /* owner: fibers that wait on the poller */
	uint32_t            ready;   /* owner: of those, the complete ones
				     * that have not run since */
	uint32_t            active;  /* owner: hooks that must be asked */
	uint32_t            allowed; /* owner: dispatches that one period may
				     * have, by the last one; 0: none was */
	uint32_t            counted; /* owner: dispatches of this period */
	uint32_t            later;   /* owner: those that it may have beside; 0:
				     * it is measured already */
	sennit_time         since;   /* owner: when it began */
	sennit_poller_hook *hooks;   /* owner: all of them */
	sennit_poller_hook *asking;  /* owner: the one whose `ask` runs */
};

/* Whether there is anything to poll: one test for the worker without. */
static inline bool sn_poller_state_is_busy(const struct poller_state *p)
{
	return p->waiting | p->active;
}

/* Ask all hooks that have something to wait for. */
NOINLINE void sn_poller_state_ask(struct poller_state *p);

/* The earliest time at which a hook must be asked again. */
NOINLINE sennit_time sn_poller_state_due(const struct poller_state *p);

/* The worker is gone, and its hooks with it. */
void sn_poller_state_free(struct poller_state *p);

/* --- roster --------------------------------------------------------------- */

/* The fibers of a worker, including idle ones, for reports.
 *
 * A worker adds and removes its own fibers. Any thread may walk the list under
 * the lock.
 */

struct roster {
	pthread_mutex_t lock;   /* rank: below bound_workers.lock */
	struct link    *fibers; /* under lock: all except the thread's own */
	a_u32           count;  /* owner writes: number of fibers */
	uint32_t        last;   /* owner: the last id that was assigned */
	bool            hidden; /* owner: no other thread can find the worker,
				 * so nobody else takes the lock */
};

static inline void sn_roster_init(struct roster *r)
{
	pthread_mutex_init(&r->lock, NULL);
}

static inline void sn_roster_free(struct roster *r)
{
	pthread_mutex_destroy(&r->lock);
}

static inline uint32_t sn_roster_count(const struct roster *r)
{
	return a_load_rlx(&r->count);
}

/* The id of a fiber that is about to join: unique within the worker. */
static inline uint32_t sn_roster_new_id(struct roster *r)
{
	return ++r->last;
}

/* Call this with true after the worker has become hidden from other threads,
 * and with false before they can find it. */
static inline void sn_roster_hide(struct roster *r, bool hidden)
{
	r->hidden = hidden;
}

static inline void sn_roster_change(struct roster *r)
{
	if (!r->hidden)
		os_lock(&r->lock);
}

static inline void sn_roster_changed(struct roster *r)
{
	if (!r->hidden)
		pthread_mutex_unlock(&r->lock);
}

static inline void sn_roster_join(struct roster *r, struct sennit_fiber *f)
{
	sn_roster_change(r);
	sn_link_join(&r->fibers, &f->roster);
	sn_roster_changed(r);
	a_store_rlx(&r->count, sn_roster_count(r) + 1); /* relaxed: only a
							 * statistic */
}

static inline void sn_roster_leave(struct roster *r, struct sennit_fiber *f)
{
	sn_roster_change(r);
	sn_link_leave(&r->fibers, &f->roster);
	sn_roster_changed(r);
	a_store_rlx(&r->count, sn_roster_count(r) - 1); /* relaxed: only a
							 * statistic */
}

/* No fiber joins or leaves between these two calls. */
static inline void sn_roster_lock(struct roster *r)
{
	os_lock(&r->lock);
}

static inline void sn_roster_unlock(struct roster *r)
{
	pthread_mutex_unlock(&r->lock);
}

/* The fiber after f, or the first one if f is NULL. NULL: there is none. */
static inline struct sennit_fiber *sn_roster_next(const struct roster       *r,
						  const struct sennit_fiber *f)
{
	struct link *l = f ? sn_link_after(&f->roster, r->fibers) : r->fibers;

	return l ? container_of(l, struct sennit_fiber, roster) : NULL;
}

/* --- bound workers -------------------------------------------------------- */

/* The workers of bound threads, and the counters of workers that have been
 * unbound. */

struct bound_workers {
	pthread_mutex_t     lock;
	struct link        *list; /* under lock: of struct binding */
	struct counters_sum past; /* under lock: of threads that have unbound */
	a_ptr spare; /* any: memory of a worker whose thread has unbound; NULL:
		      * none */
};

/* The part of a worker. */
struct binding {
	struct link link;    /* under bound_workers.lock */
	bool        leaving; /* owner: it is unbinding, and runs its remaining
			      * tasks */
};

static inline void sn_bound_init(struct bound_workers *b)
{
	pthread_mutex_init(&b->lock, NULL);
	a_init(&b->spare, NULL);
}

static inline void sn_bound_free(struct bound_workers *b)
{
	pthread_mutex_destroy(&b->lock);
}

/* Leave a worker's memory for the next thread that binds. Returns what was
 * there: NULL or another one. */
static inline struct worker *sn_bound_swap_spare(struct bound_workers *b,
						 struct worker        *w)
{
	/* -> bound.spare: no more accesses <- bound.spare */
	return a_swap_acqrel(&b->spare, w);
}

/* Take that memory. NULL: there is none. A stale NULL costs an allocation. */
static inline struct worker *sn_bound_take_spare(struct bound_workers *b)
{
	if (!a_load_rlx(&b->spare))
		return NULL;
	return a_swap_acq(&b->spare, NULL); /* <- bound.spare */
}

/* No worker joins or leaves between these two calls. */
static inline void sn_bound_lock(struct bound_workers *b)
{
	os_lock(&b->lock);
}

static inline void sn_bound_unlock(struct bound_workers *b)
{
	pthread_mutex_unlock(&b->lock);
}

/* The binding after `after`, or the first one for NULL. NULL: there is none.
 * Lock held. */
static inline struct binding *sn_bound_next(const struct bound_workers *b,
					    const struct binding       *after)
{
	struct link *l = after ? sn_link_after(&after->link, b->list) : b->list;

	return l ? container_of(l, struct binding, link) : NULL;
}

/* Add the counters of threads that have unbound. Lock held. */
static inline void sn_bound_add_past(const struct bound_workers *b,
				     struct counters_sum        *sum)
{
	sn_counters_join(sum, &b->past);
}

static inline void sn_bound_join(struct bound_workers *b, struct binding *mine)
{
	sn_bound_lock(b);
	sn_link_join(&b->list, &mine->link);
	sn_bound_unlock(b);
}

/* The worker's counters stay in the sums. Lock held. */
static inline void sn_bound_leave(struct bound_workers *b, struct binding *mine,
				  const struct counters *counters)
{
	sn_link_leave(&b->list, &mine->link);
	sn_counters_add(&b->past, counters);
}

static inline bool sn_bound_is_any(struct bound_workers *b)
{
	bool any;

	sn_bound_lock(b);
	any = b->list;
	sn_bound_unlock(b);
	return any;
}

/* Owner only: whether it runs its remaining tasks in order to unbind. */
static inline bool sn_bound_is_leaving(const struct binding *b)
{
	return b->leaving;
}

static inline void sn_bound_set_leaving(struct binding *b, bool leaving)
{
	b->leaving = leaving;
}

/* --- cpu masks ------------------------------------------------------------ */

/* A scheduler's copy of the CPU masks of its threads. It is needed because
 * threads may start at any time. */

struct cpu_masks {
	sennit_cpu_mask *masks; /* fixed: the masks and then their CPUs, one
				 * after the other, in one block; NULL: none */
	size_t           size;  /* fixed: bytes of that block */
	size_t           count; /* fixed */
};

/* Copy n masks, or make one of all CPUs of this process if `from` is NULL.
 * Returns 0 or -ENOMEM. */
SENNIT_MUST_USE int sn_cpu_masks_copy(struct cpu_masks       *m,
				      const sennit_allocator *memory,
				      const sennit_cpu_mask *from, size_t n);
void sn_cpu_masks_free(struct cpu_masks *m, const sennit_allocator *memory);

/* Mask i modulo the number of masks. */
static inline sennit_cpu_mask sn_cpu_masks_get(const struct cpu_masks *m,
					       size_t                  i)
{
	return m->masks[i % m->count];
}

/* The CPUs of the first mask, to be sorted before any thread runs. */
static inline uint32_t *sn_cpu_masks_cpus(const struct cpu_masks *m)
{
	return (uint32_t *)(m->masks + m->count);
}

/* The CPUs of all masks. Empty if there are no masks. */
sennit_cpu_mask sn_cpu_masks_all(const struct cpu_masks *m);

/* --- finalise state ------------------------------------------------------- */

/* The threads that are still inside a scheduler that ends: see end.h. */

/* The maximum number of ended threads that are left for the client to join. */
#define FINALISE_EXITS TORTURED(2, 32)

struct end_state {
	a_u32    inside; /* any: threads that may still access the scheduler, +
			  * 1 until DONE */
	uint32_t exits;  /* under lock: number of threads in `exited` */
	bool     abandoned; /* fixed once the gate is DONE */
	pthread_mutex_t lock;
	pthread_t exited[FINALISE_EXITS]; /* under lock: threads that have left
					   * and must be joined */
};

static inline void sn_inside_init(struct end_state *f, uint32_t threads)
{
	a_init(&f->inside, threads + 1);
	pthread_mutex_init(&f->lock, NULL);
}

static inline void sn_inside_free(struct end_state *f)
{
	pthread_mutex_destroy(&f->lock);
}

/* Count one more thread. The caller is itself inside, holds a reference, or
 * runs a fiber of the scheduler, so the scheduler cannot end meanwhile. */
static inline void sn_inside_enter(struct end_state *f)
{
	a_add_rlx(&f->inside, 1);
}

/* Count one less. Returns true if it was the last one. A caller that only
 * undoes its own sn_inside_enter never is. */
static inline bool sn_inside_leave(struct end_state *f)
{
	/* -> finalise.inside: all that this thread did <- finalise.inside: what
	 * all others did */
	return a_sub_acqrel(&f->inside, 1) == 1;
}

/* --- scheduler list state ------------------------------------------------- */

/* A scheduler's place in the list of all: see debugger.h. */

struct scheduler_list_state {
	struct link link;  /* under the list's lock */
	uint32_t    forks; /* fixed: the list's, when it joined */
	bool        ready; /* under the list's lock: created, so that others
			    * than debuggers may look */
};

/* --- slots state ---------------------------------------------------------- */

/* A scheduler's part in a CPU budget: see slots.h. */

struct slots_state {
	sennit_resources *resources; /* fixed; NULL: none */
	struct sharer     sharer;    /* under resources->lock */
	bool closed; /* under resources->lock: the scheduler has ended, nobody
		      * waits for a slot */
};

/* --- worker counts -------------------------------------------------------- */

/* The numbers of workers of a scheduler: see worker_threads.h. */

struct worker_counts {
	a_u32 target;  /* under lock: number of workers wanted */
	a_u32 open;    /* under lock: workers below this take new work */
	a_u32 extent;  /* under lock: workers from this on have no thread */
	a_u32 retired; /* under lock: open workers without a thread, because
		        * they were idle */
	sennit_time     refused; /* under lock: no thread is started before this
				  * time */
	pthread_mutex_t lock;
	void *(*main)(void *worker); /* fixed: the thread's main function */
};

static inline void sn_worker_counts_init(struct worker_counts *t,
					 uint32_t target, uint32_t open,
					 void *(*main)(void *worker))
{
	a_init(&t->target, target);
	a_init(&t->open, open);
	a_init(&t->extent, open);
	a_init(&t->retired, 0);
	t->refused = 0;
	t->main = main;
	pthread_mutex_init(&t->lock, NULL);
}

static inline void sn_worker_counts_free(struct worker_counts *t)
{
	pthread_mutex_destroy(&t->lock);
}

/* The number of workers wanted. Any answer may be stale. */
static inline uint32_t sn_worker_counts_target(const struct worker_counts *t)
{
	return a_load_rlx(&t->target);
}

/* The number of workers that take new work. Stale unless the lock is held. */
static inline uint32_t sn_worker_counts_open(const struct worker_counts *t)
{
	return a_load_rlx(&t->open);
}

/* Only workers below this may have a thread or tasks. Stale unless the lock is
 * held: a thread that adds a worker also wakes for it. */
static inline uint32_t sn_worker_counts_extent(const struct worker_counts *t)
{
	return a_load_rlx(&t->extent);
}

/* Whether the worker with this index takes no new work. */
static inline bool sn_worker_counts_is_closed(const struct worker_counts *t,
					      uint32_t                    index)
{
	return index >= a_load_acq(&t->open); /* <- worker_threads.open */
}

/* Under lock. */
static inline void sn_worker_counts_set_open(struct worker_counts *t,
					     uint32_t              open)
{
	TORTURE_POINT();
	a_store_rel(&t->open, open); /* -> worker_threads.open: extent */
}

/* --- trim state ----------------------------------------------------------- */

/* What a worker records about its need of memory: see life.h. */

struct trim_state {
	sennit_time at;             /* owner: time of the next look, or step */
	uint64_t    busiest;        /* owner: most fibers that waited at once
				     * since the last look */
	uint64_t    work_done;      /* owner: work done until the last look */
	uint32_t    surplus;        /* owner: idle stacks to return */
	uint32_t    surplus_shared; /* owner: the same for the depot */
	uint32_t    seen;           /* owner: number of requests that it has
				     * seen */
	bool        expects_more;   /* owner: the last look saw a peak */
	a_u32       done; /* owner writes: the last request that it has
			   * finished */
};

/* The part of a scheduler. */
struct trim_shared {
	a_u32 told; /* any: number of requests to trim */
	a_u64 at;   /* any: time of the next look at what workers share */
};

/* A new worker ignores earlier requests. */
static inline void sn_trim_init(struct trim_state        *t,
				const struct trim_shared *shared)
{
	t->seen = a_load_rlx(&shared->told); /* the requests so far */
	a_init(&t->done, t->seen);
}

/* Record the number of the owner's fibers that wait now. */
static inline void sn_trim_note_blocked(struct trim_state *t, uint64_t blocked)
{
	if (blocked > t->busiest)
		t->busiest = blocked;
}

/* --- scheduler ------------------------------------------------------------ */

/* A scheduler: the state that its workers share.
 *
 * Fields are fixed after creation unless marked otherwise, so that workers read
 * them without disturbing each other.
 */

struct stack_depths;
struct worker;

/* Each part belongs to a module, as the parts of struct worker do. */
struct sennit_scheduler {
	sennit_config    config;     /* fixed: every default filled in */
	sennit_allocator memory;     /* fixed */
	char             name[16];   /* fixed */
	struct worker  **workers;    /* fixed: array of `capacity` workers */
	struct sleeper **sleepers;   /* fixed: their sleepers, for parking */
	uint32_t         capacity;   /* fixed: maximum number of workers */
	uint32_t         process;    /* fixed: the process, see life.h */
	bool             asymmetric; /* fixed: os_process_barrier() works */
	uint64_t         fp_control; /* fixed: of the creating thread */

	struct worker_counts  counts; /* of worker_threads,
					* retire */
	struct cpu_masks      masks;  /* of slots */
	struct topology_slot *places; /* fixed: `capacity` entries sorted by
				        * place; NULL: too few workers, see
				        * steal.h */

	struct parking        parking;
	struct stacks         stacks;
	struct stack_depths  *depths; /* fixed; NULL: stacks are not measured */
	struct observe_shared observe; /* of observe, metrics, trace */
	struct pool           pool;
	struct backlog        backlog; /* any: background tasks */
	struct blocking_threads blocking;

	_Alignas(CACHE_LINE) struct gate gate;
	_Alignas(CACHE_LINE) a_u32 next_worker; /* of worker_threads: any: the
						 * next worker for tasks from
						 * outside */
	struct slots_state slots;               /* of slots */
	struct trim_shared trim;                /* of trim */

	_Alignas(CACHE_LINE) struct end_state end; /* of end */
	struct end_clients          clients;       /* of end_clients */
	struct bound_workers        bound;         /* of bind */
	struct scheduler_list_state in_list;       /* of debugger */
	struct trace_state          tracing;       /* of trace */
};

/* The fields that every thread reads lie before `parking`, whose words all
 * threads write. The gate, next_worker and the count of the end are words that
 * all threads write, each on lines of its own. */
_Static_assert(offsetof(struct sennit_scheduler, parking) % CACHE_LINE == 0,
	       "parking is apart from what is fixed");
_Static_assert(offsetof(struct sennit_scheduler, gate) % CACHE_LINE == 0 &&
		       offsetof(struct sennit_scheduler, next_worker) -
				       offsetof(struct sennit_scheduler,
						gate) ==
			       CACHE_LINE,
	       "the gate is alone on its lines");
_Static_assert(offsetof(struct sennit_scheduler, end) % CACHE_LINE == 0,
	       "the count of the end is apart from the turn of workers");

/* --- thread state --------------------------------------------------------- */

/* The thread of a worker. */

struct startup;

struct thread_state {
	pthread_t       id;       /* fixed while it runs */
	a_u32           number;   /* owner writes: the system's thread id; in a
				   * report it may be that of the previous
				   * thread while another begins; 0: no thread
				   * has begun */
	a_u32           present;  /* under counts.lock: whether there is a
				   * thread */
	struct startup *startup;  /* fixed: the creator that the thread reports
				   * to; NULL: none */
	bool            founding; /* handed: the scheduler's creator started the
				   * thread */
};

/* Stale unless counts.lock is held. */
static inline bool sn_thread_is_present(const struct thread_state *t)
{
	return a_load_rlx(&t->present); /* not raced under the lock */
}

/* Under counts.lock. */
static inline void sn_thread_set_present(struct thread_state *t, bool present)
{
	a_store_rlx(&t->present, present); /* the lock or the gate makes it
					    * visible */
}

/* Start the thread with run(argument). Its stack has `stack` bytes, and as many
 * more as a signal stack at its far end takes. Returns 0 or -EAGAIN. */
SENNIT_MUST_USE static inline int sn_thread_start(struct thread_state *t,
						  void *(*run)(void *),
						  void *argument, size_t stack)
{
	return os_thread_start(&t->id, run, argument,
			       stack + os_fault_stack_size());
}

/* The thread is the calling one, which is never joined. */
static inline void sn_thread_adopt(struct thread_state *t)
{
	t->id = pthread_self();
}

static inline void sn_thread_join(const struct thread_state *t)
{
	os_thread_join(t->id);
}

/* A new thread reports to *startup, if that is not NULL, before it works.
 * founding: its scheduler is being created. */
static inline void sn_thread_prepare(struct thread_state *t,
				     struct startup *startup, bool founding)
{
	t->startup = startup;
	t->founding = founding;
}

static inline struct startup *sn_thread_startup(const struct thread_state *t)
{
	return t->startup;
}

static inline bool sn_thread_is_founding(const struct thread_state *t)
{
	return t->founding;
}

/* The calling thread is the worker's. Only reports use the number, so relaxed
 * is enough. */
static inline void sn_thread_begin(struct thread_state *t)
{
	a_store_rlx(&t->number, os_thread_id());
}

/* Stale: the previous thread's id, or 0 before the first thread. */
static inline uint32_t sn_thread_number(const struct thread_state *t)
{
	return a_load_rlx(&t->number);
}

/* --- steal state ---------------------------------------------------------- */

/* Which victims a worker visits: see steal.h. */

struct steal_state {
	uint32_t           random;      /* owner */
	uint32_t           last_victim; /* owner: the worker that last had
					 * tasks; its own index: none */
	struct steal_rings rings; /* fixed: its neighbours; only if there are
				   * places */
};

/* `seed` must not be 0, and must differ between workers. `own` is the worker's
 * index. */
static inline void sn_steal_init(struct steal_state *s, uint32_t seed,
				 uint32_t own)
{
	s->random = seed;
	s->last_victim = own;
}

/* Compute its neighbours from the order of places, before its thread runs. */
static inline void sn_steal_set_neighbours(struct steal_state         *s,
					   const struct topology_slot *places,
					   uint32_t n, uint32_t at)
{
	sn_steal_order_rings(&s->rings, places, n, at);
}

/* The next search begins with this worker. */
static inline void sn_steal_begin_with(struct steal_state *s, uint32_t victim)
{
	s->last_victim = victim;
}

/* --- worker --------------------------------------------------------------- */

/* Each part belongs to the modules that its comment names ("of ...").
 *
 * Cache lines: first what the owner writes at every dispatch; then what thieves
 * read and write, in run.deque; then what any thread writes, from mail on. */
struct worker {
	struct home        home;        /* first, because fibers know it */
	struct stack_cache idle_stacks; /* stacks without context */
	struct parking    *parking;     /* fixed: the scheduler's */
	int               *error;       /* fixed: the thread's errno */
	a_u64              clock;       /* owner writes: not after the start of
					 * what runs, and as recent as is
					 * cheap */
	struct counters    counters;    /* what it has done */
	struct run_queue   run;         /* of run_queue */
	struct pool_cache  cache;       /* owner */

	struct idle_state    idle;    /* of idle */
	struct steal_state   steal;   /* of steal */
	struct balance_state balance; /* of steal */
	struct trim_state    trim;    /* of trim */
	struct observe_state observe; /* of observe */
	struct claim         slot;    /* of slots */
	struct backlog      *backlog; /* fixed: the scheduler's, or own */
	struct timers        timers;  /* owner */
	sennit_poller       *poller;  /* owner: see poller.h; NULL: none */
	struct poller_state  polled;  /* of poller */

	uint32_t  index;        /* fixed: a threaded worker's index, from 0 */
	uint32_t  serial;       /* fixed: unique in the process, not 0 */
	uintptr_t last_seen_at; /* of run_task: an address on the
					   * thread's own stack; 0: none */
	struct cxx_globals *exceptions; /* fixed: the exception state of the
					 * thread */
	struct recorder     recorder;   /* of trace */
	struct sennit_fiber main;       /* the thread's own stack */
	struct thread_state thread;     /* of worker_threads */
	struct roster       roster;     /* its fibers except main */
	struct binding      binding;    /* of bind; bound workers only */

	_Alignas(CACHE_LINE) struct mailbox mail; /* what others leave */
	sennit_scheduler *scheduler; /* fixed; here for threads that wake a
					 * fiber */
	bool              threaded; /* fixed: threaded worker; here for the same
					 * reason */
	struct sleeper sleeper; /* any: the threaded worker's among those of its
					 * scheduler */
	a_u64          forced;  /* of steal: any: time of the last
					 * forced take */
	struct own_parking own_parking; /* where it sleeps for fibers alone */
	struct backlog
		own; /* bound workers only: in a scheduler without workers */
	struct errands errands; /* tasks for it alone */
};

/* Lines of the owner: a pair of lines before the run queue, with nothing of
 * other threads. */
_Static_assert(offsetof(struct worker, run) == CACHE_LINE,
	       "home, clock and counters fill the owner's first lines");
_Static_assert(offsetof(struct worker, run.deque) == 2 * CACHE_LINE,
	       "what is ready and whose turn it is share the next ones");
/* Lines of others: a thread that leaves a fiber or a queued task, and wakes the
 * worker for it, accesses one line, which contains nothing that the owner
 * writes at every dispatch. */
_Static_assert(offsetof(struct worker, mail) % CACHE_LINE == 0 &&
		       offsetof(struct worker, own_parking) -
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

/* Make a worker of *s. index UINT32_MAX makes a bound worker. Returns 0 or
 * -ENOMEM. */
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

/* The number of fibers of w that wait or are ready: see state.h. */
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
uint32_t sn_worker_take_queued(struct worker *w, struct worker *from,
			       uint32_t parts);

/* Move ready fibers and tasks from the mailbox to w's queues. */
void sn_worker_collect(struct worker *w);

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
