/* SPDX-License-Identifier: Apache-2.0 */
/* domain.h - a part of a scheduler's work, and its end.
 *
 * A domain is a scope (group/cancel.h) that is never cancelled and has
 * no deadline, so that groups inside it know it. Those groups do not share its
 * lock. It holds a reference to its scheduler until it has ended.
 */
#ifndef SN_DOMAIN_H
#define SN_DOMAIN_H

#include "group/cancel.h"
#include "sched/fiber.h"
#include "sennit/domain.h"

/* --- domain end ----------------------------------------------------------- */

/* The callback that a domain calls at its end, and its block of memory, which
 * weak handles keep and which may outlive its scheduler. */

/* The part of a domain. */
struct domain_end {
	struct end_clients clients;
	sennit_allocator   memory;  /* fixed: of the block */
	size_t             size;    /* fixed: of the block */
	uint32_t           process; /* fixed: see life/fork.h */
};

/* --- domain count --------------------------------------------------------- */

/* Detects when all tasks of a domain have ended, without a count that they
 * share.
 *
 *	gate     { references, active workers }, see park/gate.h
 *	parts[i] worker i: tasks sent from there - tasks ended there; plain
 *	others   the same for bound threads and unbound threads; atomic
 *
 * A worker is active in a domain from the start of one of its tasks until every
 * task of it that the worker has started, on any stack, has ended. The worker
 * continues with tasks of the domain while they are the newest on its deque,
 * and leaves the gate after that. So a run of tasks enters and leaves the gate
 * once. The thread that makes references and active workers zero computes the
 * sum of the parts. Zero is the end.
 *
 * Why the sum is right although the other threads are not stopped: a thread
 * that changes a part is active in the domain, or is in a group whose opener is
 * active, or holds a reference. While the gate is suspended there are none of
 * the first two kinds, and gate.out makes their changes visible. A thread of
 * the third kind either still holds its reference when the sweep settles, or
 * has released it and set DIRTY.
 *
 * Invariants
 *   - A task is counted before it can be found, and uncounted before its
 *     worker leaves the gate for it.
 *   - A thread that has left or released, and is not the sweeper, no
 *     longer accesses the domain. The sweeper counts as inside until it
 *     has settled.
 *
 * Checked by core/test/model/domain.pml.
 *
 * In builds with SENNIT_END=count the domain's gate counts its tasks instead. A
 * run of tasks on a worker counts as one more task, so that the domain outlives
 * the run.
 */

#ifdef SENNIT_END_COUNT

struct domain_part; /* no worker has one */

struct sennit_domain {
	struct sennit_cancel_scope scope; /* fixed; first, because tasks carry
					   * its address */
	struct gate                gate;
	a_u32                      inside; /* any: the thread that ends it, + 1
					    * until then */
	sennit_scheduler          *scheduler; /* fixed */
	sennit_end_fn             *run;       /* fixed: called at the end; NULL:
					 * none */
	void                      *argument;  /* fixed */
	struct domain_end          ended;
};

/* The size of a domain of s, in bytes, and its counts at the beginning: one
 * reference and no task. */
static inline size_t sn_domain_count_size(const sennit_scheduler *s)
{
	(void)s;
	return sizeof(struct sennit_domain);
}

static inline void sn_domain_count_begin(struct sennit_domain *d)
{
	sn_gate_init(&d->gate, 1, 0);
}

/* The domain's gate has made the caller responsible for the end. Returns
 * whether the domain has ended. */
static inline bool sn_domain_count_check(struct sennit_domain *d)
{
	return sn_gate_is_done(&d->gate);
}

static inline struct domain_part *sn_domain_part(struct sennit_domain *d,
						 const struct worker  *w)
{
	(void)d;
	(void)w;
	return NULL;
}

/* Count n tasks, negative to uncount. The caller has a reference, or is in a
 * run of tasks. */
static inline void sn_domain_count(struct sennit_domain *d,
				   struct domain_part *part, int64_t n)
{
	(void)part;
	if (n >= 0)
		sn_gate_add_tasks(&d->gate, (uint32_t)n);
	else
		sn_gate_drop_tasks(&d->gate, (uint32_t)-n);
}

void sn_domain_end(struct sennit_domain *d);

/* A run of tasks of *d starts on the caller's worker. */
static inline void sn_domain_enter(struct sennit_domain *d,
				   struct domain_part   *part)
{
	(void)part;
	sn_gate_add_tasks(&d->gate, 1);
}

/* The run has ended. *d may be gone on return. */
static inline void sn_domain_leave(struct sennit_domain *d,
				   struct domain_part   *part)
{
	(void)part;
	if (unlikely(sn_gate_end_task(&d->gate)))
		sn_domain_end(d);
}

#else

/* The counts of one worker. */
struct domain_part {
	_Alignas(CACHE_LINE) a_u64 balance; /* owner writes: tasks sent - tasks
					     * ended */
	uint32_t here; /* owner: tasks started here that have not ended */
};

struct sennit_domain {
	struct sennit_cancel_scope scope; /* fixed; first, because tasks carry
					   * its address */
	struct gate                gate;
	a_u32                      inside; /* any: sweepers, + 1 until DONE */
	a_u64                      others; /* any: tasks sent - tasks ended */
	sennit_scheduler          *scheduler; /* fixed */
	sennit_end_fn             *run;       /* fixed: called at the end; NULL:
					 * none */
	void                      *argument;  /* fixed */
	struct domain_end          ended;
	uint32_t           parts_count; /* fixed: the scheduler's capacity */
	struct domain_part parts[];
};

/* The size of a domain of s, in bytes, and its counts at the beginning: one
 * reference and no task. */
size_t sn_domain_count_size(const sennit_scheduler *s);
void   sn_domain_count_begin(struct sennit_domain *d);

/* The domain's gate has made the caller responsible for the end. Returns
 * whether the domain has ended. */
bool sn_domain_count_check(struct sennit_domain *d);

/* The part of w, which may be NULL, in *d. NULL: w has none. */
static inline struct domain_part *sn_domain_part(struct sennit_domain *d,
						 const struct worker  *w)
{
	return likely(w && w->scheduler == d->scheduler && w->threaded)
		       ? &d->parts[w->index]
		       : NULL;
}

/* Count n tasks, negative to uncount, in the caller's part. */
static inline void sn_domain_count(struct sennit_domain *d,
				   struct domain_part *part, int64_t n)
{
	if (likely(part))
		a_store_rlx(&part->balance,
			    a_load_rlx(&part->balance) + (uint64_t)n);
	else
		a_add_rlx(&d->others, (uint64_t)n); /* relaxed: the gate makes
						     * it visible */
}

/* The slow paths of sn_domain_enter and sn_domain_leave: the worker enters the
 * gate; the caller, which its gate told to, ends the domain. */
void sn_domain_become_active(struct sennit_domain *d);
void sn_domain_end(struct sennit_domain *d);

/* A task of *d starts on the caller's worker. `part` is that worker's. */
static inline void sn_domain_enter(struct sennit_domain *d,
				   struct domain_part   *part)
{
	if (!part || !part->here++)
		sn_domain_become_active(d);
}

/* The task has ended and has been uncounted, and the worker does not run
 * another one next. *d may be gone on return. */
static inline void sn_domain_leave(struct sennit_domain *d,
				   struct domain_part   *part)
{
	if ((!part || !--part->here) && sn_gate_leave(&d->gate))
		sn_domain_end(d);
}

#endif

/* --- domain --------------------------------------------------------------- */

/* Make a domain with one reference, which the caller holds. NULL: out of
 * memory. */
struct sennit_domain *sn_domain_make(sennit_scheduler *s, sennit_end_fn *run,
				     void *argument);

/* Release a reference. *d may be gone on return. */
void sn_domain_release(struct sennit_domain *d);

/* Run a task of a domain on w, the caller's worker, and its next tasks if they
 * belong to the same domain. Returns w. */
struct worker *sn_domain_run(struct worker *w, const struct task *first);

/* Drop a weak handle, which keeps the block. *d may be gone on return. */
void sn_domain_drop(struct sennit_domain *d);

/* The caller, on w, is about to queue a task in domain d, which may be NULL. */
static inline void sn_domain_count_sent(struct sennit_domain *d,
					const struct worker  *w)
{
	if (d)
		sn_domain_count(d, sn_domain_part(d, w), 1);
}

/* The domain that contains a scope. NULL: none, or s is NULL. */
static inline struct sennit_domain *sn_domain_around(
	const struct sennit_cancel_scope *s)
{
	if (s && s->kind_ != SCOPE_DOMAIN)
		s = s->root_->parent_;
	return (struct sennit_domain *)(uintptr_t)s;
}

/* The domain of w's scheduler that contains the task running on w, or NULL. */
static inline struct sennit_domain *sn_domain_current(const struct worker *w)
{
	struct sennit_domain *d =
		sn_domain_around(sn_fiber_scope(w->home.current));

	return d && d->scheduler == w->scheduler ? d : NULL;
}

#endif
