/* SPDX-License-Identifier: Apache-2.0 */
/* domain.h - a part of a scheduler's work, and its end. How the end is detected
 * is in worker/domain_count.h.
 *
 * A domain is a scope (worker/cancel_scope.h) that is never cancelled and has
 * no deadline, so that groups inside it know it. Those groups do not share its
 * lock. It holds a reference to its scheduler until it has ended.
 */
#ifndef SN_DOMAIN_H
#define SN_DOMAIN_H

#include "worker/domain_count.h"
#include "worker/worker.h"
#include "sennit/domain.h"

/* Values of kind_ in a struct sennit_cancel_scope. */
enum { SCOPE_GROUP = 0, SCOPE_DOMAIN };

/* Make a domain with one reference, which the caller holds. NULL: out of
 * memory. */
struct sennit_domain *sn_domain_make(sennit_scheduler *s, sennit_end_fn *run,
				     void *argument);

/* Release a reference. *d may be gone on return. */
void sn_domain_release(struct sennit_domain *d);

/* Drop a weak handle, which keeps the block. *d may be gone on return. */
void sn_domain_drop(struct sennit_domain *d);

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
