/* SPDX-License-Identifier: Apache-2.0 */
/* worker.h - makes workers and wakes them; their counters, their fibers. */
#ifndef SN_WORKER_H
#define SN_WORKER_H

#include "os/os.h"
#include "sched/state.h"

/* --- counters ------------------------------------------------------------- */

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
 * of the gate.) Checked by core/test/model/counts.pml. */
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

/* --- roster --------------------------------------------------------------- */

static inline uint32_t sn_roster_count(const struct roster *r)
{
	return a_load_rlx(&r->count);
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

/* The fiber after f, or the first one if f is NULL. NULL: there is none. */
static inline struct sennit_fiber *sn_roster_next(const struct roster       *r,
						  const struct sennit_fiber *f)
{
	struct link *l = f ? sn_link_after(&f->roster, r->fibers) : r->fibers;

	return l ? container_of(l, struct sennit_fiber, roster) : NULL;
}

/* --- own parking ---------------------------------------------------------- */

static inline void sn_own_parking_init(struct own_parking *p)
{
	p->only[0] = &p->sleeper;
	sn_parking_init(&p->parking, p->only, 1);
	sn_sleeper_init(&p->sleeper, &p->parking, 0);
}

/* The owner is awake again. */
static inline void sn_own_parking_withdraw(struct own_parking *p)
{
	sn_parking_withdraw(&p->sleeper);
	sn_parking_found(&p->parking);
}

/* Whether the owner may be asleep here. The owner counts itself before it
 * announces. So false after the caller's fence means that the owner will look
 * at its mailbox afterwards. */
static inline bool sn_own_parking_is_used(struct own_parking *p)
{
	return a_load_rlx(&p->parking.counts);
}

/* --- worker --------------------------------------------------------------- */

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

/* The marks that the fibers of w have for their whole life. */
static inline uint32_t sn_worker_cleanup(const struct worker *w)
{
	return w->home.fp_shared ? CLEANUP_FP_SHARED : 0;
}

static inline bool sn_worker_is_own(const struct worker *w)
{
	return w == sn_self;
}

/* The number of tasks that w has and has not started; it may be late. *exact:
 * whether there are not more. Any thread. */
uint32_t sn_worker_queued(const struct worker *w, bool *exact);

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

/* Wake w, if it sleeps, for a fiber that was put in its inbox. Returns whether
 * it did. */
bool sn_worker_wake(struct worker *w);

/* Wake all workers and bound threads of s that sleep, to look at what has
 * changed. */
void sn_worker_wake_all(sennit_scheduler *s);

#define ASSERT_OWNER(w) ASSERT(sn_worker_is_own(w))

/* Whether the thread handles exceptions, or unwinds its stack. */
static inline bool sn_worker_has_exceptions(const struct worker *w)
{
	return sn_cxx_is_busy(w->home.cxx) && sn_cxx_is_busy(w->exceptions);
}

#endif
