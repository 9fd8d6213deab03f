/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/background.h"

#include "os/os.h"

static int wake_for(sennit_scheduler *s, int err)
{
	if (err)
		return err;
	a_fence(); /* <-> park.sleep: counted, before looking for sleepers */
	sn_parking_wake_one(&s->parking, 0);
	return 0;
}

int sn_background_send(sennit_scheduler *s, struct task t)
{
	return wake_for(s, sn_backlog_push(&s->backlog, t, os_now()));
}

int sn_background_send_many(sennit_scheduler *s, backlog_filler *fill,
			    void *filler)
{
	return wake_for(s,
			sn_backlog_fill(&s->backlog, fill, filler, os_now()));
}

static int keep(void *worker, struct task t)
{
	struct worker *w = worker;

	return sn_run_queue_keep(&w->run, t);
}

bool sn_background_take(struct worker *w, sennit_time now)
{
	ASSERT_OWNER(w);
	return sn_backlog_pass(w->backlog, now, keep, w);
}

void sn_background_catch_up(struct worker *w, sennit_time now)
{
	if (!sn_background_take(w, now) || !w->threaded)
		return;
	/* In between the task was in no queue. A worker that looked for it
	 * meanwhile may have gone to sleep. */
	a_fence(); /* <-> park.sleep: pushed, before looking for sleepers */
	sn_parking_wake_one(w->parking, w->index);
}
