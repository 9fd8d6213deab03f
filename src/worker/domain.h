/* SPDX-License-Identifier: Apache-2.0 */
/* domain.h - tells when a part of a scheduler's work has ended, without a count
 * that its tasks share.
 *
 *	gate     { references, active workers }, see core/gate.h
 *	parts[i] worker i: tasks sent from there - ended there; plain
 *	others   the same of bound threads and of those outside; atomic
 *
 * A worker is active in a domain from the start of a task of it until it has
 * none any more that it has started, on any stack. It goes on with tasks of the
 * domain as long as they lie at the newest end of its deque, and leaves after
 * that: a run of tasks costs the gate one entry and one leave. Whoever brings
 * references and active workers to zero sums the parts; zero is the end.
 *
 * Why the sum is right although nobody stops the others: who changes a part is
 * active in the domain, or lies in a group whose opener is, or holds a
 * reference. While the gate is suspended there are none of the first two, and
 * what they did is visible by their leaving (gate.out). One of the third kind
 * either still has the reference at the settling, or has given it back and
 * marked the gate DIRTY.
 *
 * Invariants
 *   - A task is counted before it can be found, and counted off before its
 *     worker leaves the gate for it.
 *   - The domain has a reference to its scheduler until it has ended.
 *   - Who has left, or released, and is not the sweeper touches the domain no
 *     more. The sweeper is inside until it has settled.
 *
 * A domain is a scope (worker/cancel_scope.h) which nobody cancels and which
 * has no deadline, so that groups inside it know it; they do not share its
 * lock.
 *
 * Checked by test/model/domain.pml.
 */
#ifndef SN_DOMAIN_H
#define SN_DOMAIN_H

#include "worker/worker.h"
#include "sennit/domain.h"

/* kind_ of a struct sennit_cancel_scope */
enum { SCOPE_GROUP = 0, SCOPE_DOMAIN };

/* A worker's share. */
struct domain_part {
	_Alignas(CACHE_LINE) a_u64 balance; /* owner writes: see above */
	uint32_t here; /* owner: tasks started here, and not ended */
};

struct sennit_domain {
	struct sennit_cancel_scope scope; /* fixed; first, as tasks know it */
	struct gate                gate;
	a_u32                      inside; /* any: sweepers, + 1 until DONE */
	a_u64                      others; /* any: see above */
	sennit_scheduler          *scheduler; /* fixed */
	sennit_end_fn             *run; /* fixed: told of the end; NULL: none */
	void                      *argument; /* fixed */
	uint32_t           parts_count; /* fixed: the scheduler's capacity */
	struct domain_part parts[];
};

/* With one reference, of the caller's. NULL: no memory. */
struct sennit_domain *sn_domain_make(sennit_scheduler *s, sennit_end_fn *run,
				     void *argument);

/* Give a reference back. *d may be gone on return. */
void sn_domain_release(struct sennit_domain *d);

/* The domain that a scope lies in; NULL: none, as for a scope that is NULL. */
static inline struct sennit_domain *sn_domain_around(
	const struct sennit_cancel_scope *s)
{
	if (s && s->kind_ != SCOPE_DOMAIN)
		s = s->root_->parent_;
	return (struct sennit_domain *)(uintptr_t)s;
}

/* The domain of w's scheduler that its running task lies in, or NULL. */
static inline struct sennit_domain *sn_domain_current(const struct worker *w)
{
	struct sennit_domain *d = sn_domain_around(w->home.current->scope);

	return d && d->scheduler == w->scheduler ? d : NULL;
}

/* The share of w, which may be NULL, in *d; NULL: it has none. */
static inline struct domain_part *sn_domain_part(struct sennit_domain *d,
						 const struct worker  *w)
{
	return likely(w && w->scheduler == d->scheduler && w->threaded)
		       ? &d->parts[w->index]
		       : NULL;
}

/* Count n tasks, below zero to count off, on the caller's share. */
static inline void sn_domain_count(struct sennit_domain *d,
				   struct domain_part *part, int64_t n)
{
	if (likely(part))
		a_store_rlx(&part->balance,
			    a_load_rlx(&part->balance) + (uint64_t)n);
	else
		a_add_rlx(&d->others, (uint64_t)n); /* seen through the gate */
}

/* The gate, for sn_domain_enter and _leave. */
void sn_domain_become_active(struct sennit_domain *d);
void sn_domain_become_idle(struct sennit_domain *d);

/* A task of *d starts on the caller's worker, whose share it is. */
static inline void sn_domain_enter(struct sennit_domain *d,
				   struct domain_part   *part)
{
	if (!part || !part->here++)
		sn_domain_become_active(d);
}

/* It has ended and is counted off, and the worker has no other one at hand. *d
 * may be gone on return. */
static inline void sn_domain_leave(struct sennit_domain *d,
				   struct domain_part   *part)
{
	if (!part || !--part->here)
		sn_domain_become_idle(d);
}

#endif
