/* SPDX-License-Identifier: Apache-2.0 */
/* rendezvous.h - tasks that must all run at the same time: each keeps a worker
 * until the last one is running, so that no worker can run two. */
#ifndef SN_TEST_RENDEZVOUS_H
#define SN_TEST_RENDEZVOUS_H

#include "with_workers.h"

struct rendezvous {
	unsigned          needed;
	atomic_uint       in;
	sennit_wait_group done;
};

/* Prepare for `needed` tasks, which then call meet(r). *r may be one that is
 * over. */
static inline void prepare_rendezvous(struct rendezvous *r, unsigned needed)
{
	r->needed = needed;
	atomic_store(&r->in, 0);
	sennit_wait_group_init(&r->done, needed);
}

static inline void meet(void *rendezvous)
{
	struct rendezvous *r = rendezvous;
	sennit_time        give_up = sennit_after(GIVE_UP);

	atomic_fetch_add(&r->in, 1);
	while (atomic_load(&r->in) < r->needed && sennit_now() < give_up)
		sched_yield(); /* yields the thread, not the fiber */
	EXPECT(atomic_load(&r->in) == r->needed);
	sennit_wait_group_done(&r->done);
}

#endif
