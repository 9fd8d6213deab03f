/* SPDX-License-Identifier: Apache-2.0 */
/* rendezvous.h - tasks that meet, and tasks in a pile. */
#ifndef SN_TEST_RENDEZVOUS_H
#define SN_TEST_RENDEZVOUS_H

#include "testing/with_workers.h"

/* --- rendezvous -------------------------------------------------------- */

/* Tasks that must all run at the same time: each keeps a worker
 * until the last one is running, so that no worker can run two. */

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

/* --- background pile --------------------------------------------------- */

/* Background tasks that count their runs. */

static inline void must_schedule_late(sennit_task_fn *run, void *argument)
{
	const sennit_task t = { .run = run,
				.argument = argument,
				.flags = SENNIT_TASK_BACKGROUND };

	EXPECT(sennit_schedule_task(&t) == 0);
}

struct pile {
	sennit_scheduler *s;
	sennit_wait_group done;
	atomic_uint       ran;
	atomic_uint       others; /* normal tasks that have run */
	atomic_uint       early;  /* background tasks before the last of
				   * these */
	atomic_bool       found;
	pthread_t         stranger; /* a thread that must not run any */
	sennit_event      go;
};

static inline void run_one(void *argument)
{
	struct pile *p = argument;

	atomic_fetch_add(&p->ran, 1);
	sennit_wait_group_done(&p->done);
}

enum { SOME = 20 };

#endif
