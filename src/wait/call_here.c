/* SPDX-License-Identifier: Apache-2.0 */
#include "wait/call_here.h"

static int call_fresh(struct sennit_fiber *f, const struct task *t)
{
	if (!sn_task_is_tied(t->meta))
		return sn_call_here_member(f, t);
	sn_call_here_tied(f, t);
	return 0;
}

static COLD int call_observed(struct sennit_fiber *f, const struct task *t)
{
	struct observed_task waiter;
	int                  error;

	ARCH_BARRIER();
	sn_observe_begin_inside(sn_worker_of(f), t, &waiter);
	error = call_fresh(f, t);
	sn_observe_end_inside(sn_worker_of(f), &waiter);
	return error;
}

int sn_call_here_aside(struct sennit_fiber *f, const struct task *t)
{
	struct task_cleanup_saved aside;
	int                       error;

	ARCH_BARRIER();
	if (sn_observe_pass_inside(sn_worker_of(f)))
		return call_fresh(f, t);
	sn_task_cleanup_save(f, &aside);
	error = likely(!(aside.cleanup & CLEANUP_OBSERVED))
			? call_fresh(f, t)
			: call_observed(f, t);
	sn_task_cleanup_restore(f, &aside);
	return error;
}
