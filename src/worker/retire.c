/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/retire.h"

#include "base/torture.h"
#include "os/os.h"
#include "worker/trim.h"
#include "sennit/trace.h"

/* --- starting ----------------------------------------------------------- */

/* The caller is active or holds a reference. So w's places in the gate and
 * inside are not the last. */
int sn_retire_fill_locked(struct worker *w, bool started)
{
	sennit_scheduler *s = w->scheduler;
	int               err;

	CHECK(sn_gate_enter(&s->gate) || sn_gate_ends_beside_workers(&s->gate),
	      "a worker added to an ended scheduler");
	sn_inside_enter(&s->end);
	sn_idle_start_searching(&w->idle, started);
	sn_thread_prepare(&w->thread, NULL, false);
	sn_mailbox_set_awaited(&w->mail, true); /* its thread begins idle */
	sn_thread_set_present(&w->thread, true);
	err = sn_thread_start(&w->thread, s->counts.main, w,
			      s->config.stack_size);
	if (!err)
		return 0;
	sn_idle_start_searching(&w->idle, false);
	sn_mailbox_set_awaited(&w->mail, false);
	sn_thread_set_present(&w->thread, false);
	(void)sn_inside_leave(&s->end);
	CHECK(!sn_gate_leave(&s->gate), "a worker added without a reference");
	return err;
}

/* --- retiring ----------------------------------------------------------- */

void sn_retire_prepare(struct worker *w)
{
	ASSERT(!sn_run_queue_has_task(&w->run) && !sn_worker_blocked(w));
	sn_worker_trace(w, SENNIT_TRACE_PARK);
	sn_trim_leave(w, 1);
}

bool sn_retire_worker(struct worker *w)
{
	sennit_scheduler *s = w->scheduler;
	bool              retires;

	sn_retire_prepare(w);
	sn_idle_end_retiring(&w->idle);
	/* From now on others take what is left with it: see is_left. Before
	 * sn_parking_retire, which makes it visible. */
	sn_mailbox_set_awaited(&w->mail, false);
	os_lock(&s->counts.lock);
	/* A worker that was closed meanwhile has been woken. */
	retires = sn_retire_threads(s) > s->config.min_workers &&
		  sn_parking_retire(&w->sleeper);
	if (retires) {
		/* Not raced: the lock is held. */
		a_store_rlx(&s->counts.retired,
			    a_load_rlx(&s->counts.retired) + 1);
		sn_thread_set_present(&w->thread, false);
	}
	pthread_mutex_unlock(&s->counts.lock);
	return retires;
}

uint32_t sn_retire_count_locked(const sennit_scheduler *s, uint32_t open)
{
	uint32_t retired = 0;

	for (uint32_t i = 0; i < open; i++) /* not raced: the lock is held */
		retired += !sn_thread_is_present(&s->workers[i]->thread);
	return retired;
}

/* --- starting again ----------------------------------------------------- */

/* The first open worker that has a thread (present), or that has none. */
static struct worker *first_locked(sennit_scheduler *s, bool present)
{
	uint32_t i = 0;

	while (sn_thread_is_present(&s->workers[i]->thread) != present)
		i++;
	return s->workers[i];
}

int sn_retire_restart_this_locked(struct worker *w)
{
	sennit_scheduler *s = w->scheduler;
	uint32_t retired = a_load_rlx(&s->counts.retired); /* not raced: the
							     * lock is held */
	int      err;

	sn_parking_started(&s->parking);
	a_store_rlx(&s->counts.retired, retired - 1); /* not raced: the lock is
						        * held */
	err = sn_retire_fill_locked(w, true);
	if (err) {
		a_store_rlx(&s->counts.retired, retired); /* not raced: the
							    * lock is held */
		sn_parking_unstarted(&s->parking);
	}
	return err;
}

int sn_retire_restart_locked(sennit_scheduler *s)
{
	return sn_retire_restart_this_locked(first_locked(s, false));
}

void sn_retire_relieve_locked(sennit_scheduler *s)
{
	struct worker *to = first_locked(s, true);
	uint32_t       open = sn_worker_counts_open(&s->counts);

	for (uint32_t i = 0; i < open; i++) {
		struct worker *w = s->workers[i];
		struct node   *newest, *oldest;

		if (sn_thread_is_present(&w->thread))
			continue;
		newest = sn_mailbox_take_tasks(&w->mail, &oldest);
		if (!newest)
			continue;
		sn_mailbox_put_tasks(&to->mail, newest, oldest);
		sn_parking_wake(&to->sleeper);
	}
}

int sn_retire_keep_floor_locked(sennit_scheduler *s, uint32_t open)
{
	uint32_t threads = open - sn_retire_count_locked(s, open);
	uint32_t least = s->config.min_workers;
	int      err = 0;

	while (threads < open && threads < least && !err) {
		err = sn_retire_restart_locked(s);
		threads++;
	}
	return err;
}
