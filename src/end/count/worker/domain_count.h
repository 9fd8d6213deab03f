/* SPDX-License-Identifier: Apache-2.0 */
/* domain_count.h - counts the tasks of a domain in its gate, for builds with
 * SENNIT_END=count. A run of tasks on a worker counts as one more task, so that
 * the domain outlives the run.
 *
 * Invariants
 *   - A task is counted before it can be found, and uncounted after it has
 *     ended.
 *   - A thread that has counted down and was not told to end the domain no
 *     longer accesses it.
 */
#ifndef SN_DOMAIN_COUNT_H
#define SN_DOMAIN_COUNT_H

#include "core/gate.h"
#include "worker/domain_end.h"
#include "worker/worker.h"
#include "sennit/domain.h"

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

/* The caller was told by the domain's gate to end it. Returns whether it has
 * ended. */
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

#endif
