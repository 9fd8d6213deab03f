/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/vacancy.h"

#include "base/torture.h"
#include "os/os.h"
#include "sched/trim.h"
#include "sennit/trace.h"

/* --- filled ------------------------------------------------------------- */

/* The caller is active or holds a reference: w's places inside and in the gate
 * are not the last. */
int sn_vacancy_fill_locked(struct worker *w, bool hired)
{
	sennit_scheduler *s = w->scheduler;
	int               err;

	CHECK(sn_gate_enter(&s->gate), "a worker added to an ended scheduler");
	a_add_rlx(&s->inside, 1); /* the caller is inside, or has a reference */
	w->hired = hired;
	w->birth = NULL;
	w->founding = false;
	a_store_rlx(&w->present, true); /* seen through the gate */
	err = os_thread_start(&w->thread, s->thread_main, w,
			      s->config.stack_size);
	if (!err)
		return 0;
	w->hired = false;
	a_store_rlx(&w->present, false); /* as above */
	/* -> finish.inside <- finish.inside */
	a_sub_acqrel(&s->inside, 1);
	CHECK(!sn_gate_leave(&s->gate), "a worker added without a reference");
	return err;
}

/* --- retired ------------------------------------------------------------ */

void sn_vacancy_prepare(struct worker *w)
{
	ASSERT(!sn_worker_has_task(w) && !sn_worker_blocked(w));
	sn_worker_trace(w, SENNIT_TRACE_PARK);
	sn_trim_leave(w, 1);
}

bool sn_vacancy_retire(struct worker *w)
{
	sennit_scheduler *s = w->scheduler;
	bool              retires;

	sn_vacancy_prepare(w);
	w->retiring = false;
	os_lock(&s->staff);
	/* Closed meanwhile it has been woken. */
	retires = sn_vacancy_threads(s) > s->config.min_workers &&
		  sn_parking_retire(&w->sleeper);
	if (retires) {
		/* Under the lock. */
		a_store_rlx(&s->retired, a_load_rlx(&s->retired) + 1);
		a_store_rlx(&w->present, false); /* seen through the lock */
	}
	pthread_mutex_unlock(&s->staff);
	return retires;
}

uint32_t sn_vacancy_count_locked(const sennit_scheduler *s, uint32_t open)
{
	uint32_t retired = 0;

	for (uint32_t i = 0; i < open; i++) /* changed under the lock */
		retired += !a_load_rlx(&s->workers[i]->present);
	return retired;
}

/* --- filled again ------------------------------------------------------- */

/* The first open worker that has a thread, or that has none. */
static struct worker *first_locked(sennit_scheduler *s, bool present)
{
	uint32_t i = 0;

	while ((bool)a_load_rlx(&s->workers[i]->present) != present)
		i++;
	return s->workers[i];
}

int sn_vacancy_rehire_locked(sennit_scheduler *s)
{
	uint32_t retired = a_load_rlx(&s->retired); /* under the lock */
	int      err;

	sn_parking_hired(&s->parking);
	a_store_rlx(&s->retired, retired - 1); /* the same */
	err = sn_vacancy_fill_locked(first_locked(s, false), true);
	if (err) {
		a_store_rlx(&s->retired, retired); /* the same */
		sn_parking_unhired(&s->parking);
	}
	return err;
}

void sn_vacancy_relieve_locked(sennit_scheduler *s)
{
	struct worker *to = first_locked(s, true);
	uint32_t       open = a_load_rlx(&s->open); /* under the lock */

	for (uint32_t i = 0; i < open; i++) {
		struct worker *w = s->workers[i];
		struct node   *newest, *oldest;

		if (a_load_rlx(&w->present)) /* under the lock */
			continue;
		newest = sn_inbox_take_raw(&w->tasks_in);
		if (!newest)
			continue;
		for (oldest = newest; oldest->next; oldest = oldest->next)
			;
		sn_inbox_push(&to->tasks_in, newest, oldest);
		sn_parking_wake(&to->sleeper);
	}
}

int sn_vacancy_keep_floor_locked(sennit_scheduler *s, uint32_t open)
{
	uint32_t threads = open - sn_vacancy_count_locked(s, open);
	uint32_t least = s->config.min_workers;
	int      err = 0;

	while (threads < open && threads < least && !err) {
		err = sn_vacancy_rehire_locked(s);
		threads++;
	}
	return err;
}
