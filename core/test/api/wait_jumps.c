/* SPDX-License-Identifier: Apache-2.0 */
/* wait_jumps.c - fibers that wait for one object lead to those that wait behind
 * them. */
#include "wait/wait.h"

#include "testing/with_workers.h"

enum { CROWD = 3 * JUMP };

static sennit_event gate;
static atomic_uint  waiting;

static void wait_at_gate(void *unused)
{
	atomic_fetch_add(&waiting, 1);
	EXPECT(!sennit_event_wait(&gate));
}

static void check_jumps(void)
{
	const struct sennit_fiber *f[CROWD];
	struct link               *l = gate.waiters_;

	for (int i = 0; i < CROWD; i++, l = l->next)
		f[i] = sn_wait_queue_first(l)->fiber;
	assert_ptr_equal(l, gate.waiters_);
	for (int i = 1; i + (int)JUMP < CROWD; i++)
		assert_ptr_equal(sn_jumps_target(f[i]), f[i + (int)JUMP]);
}

/* One thread, so that all are in one queue in the order of their stacks. */
TEST_ALONE(waiters_lead_to_those_behind_them)
{
	sennit_scheduler *s = start_with(SENNIT_CONFIG(.workers = w->workers));

	assert_int_equal(sennit_thread_bind(s), 0);
	sennit_event_init(&gate, SENNIT_EVENT_MANUAL);
	for (int i = 0; i < CROWD; i++)
		must_schedule_here(wait_at_gate, NULL);
	assert_soon(atomic_load(&waiting) == CROWD);
	check_jumps();
	sennit_event_set(&gate);
	sennit_thread_unbind();
	end_scheduler(s);
}
