/* SPDX-License-Identifier: Apache-2.0 */
/* report_search.h - searches for an entry in a report, and the objects that
 * fibers wait for. */
#ifndef SN_TEST_REPORT_SEARCH_H
#define SN_TEST_REPORT_SEARCH_H

#include "with_workers.h"

/* A search for an entry, and its result. */
struct search {
	sennit_task_fn     *task;
	uint32_t            state;
	uint32_t            waits_for;
	bool                any; /* ignore state and waits_for */
	unsigned            count;
	unsigned            entries;
	sennit_report_entry entry; /* the last match */
};

static inline void compare(void *context, const sennit_report_entry *e)
{
	struct search *look = context;

	look->entries++;
	EXPECT(e->size == sizeof(*e));
	if (e->task != look->task)
		return;
	if (!look->any &&
	    (e->state != look->state || (e->state != SENNIT_REPORT_QUEUED &&
					 e->waits_for != look->waits_for)))
		return;
	look->entry = *e;
	look->count++;
}

static inline struct search search(sennit_scheduler *s, sennit_task_fn *task,
				   uint32_t state, uint32_t waits_for)
{
	struct search look = { .task = task,
			       .state = state,
			       .waits_for = waits_for };

	sennit_scheduler_report(s, compare, &look);
	return look;
}

static inline bool is_seen(sennit_scheduler *s, sennit_task_fn *task,
			   uint32_t state, uint32_t waits_for,
			   sennit_report_entry *e)
{
	struct search look = search(s, task, state, waits_for);

	*e = look.entry;
	return look.count == 1;
}

static inline bool is_blocked(sennit_scheduler *s, sennit_task_fn *task,
			      uint32_t waits_for, sennit_report_entry *e)
{
	return is_seen(s, task, SENNIT_REPORT_BLOCKED, waits_for, e);
}

/* Whether e belongs to a place where a task of w may run. */
static inline bool is_at_home(const struct world        *w,
			      const sennit_report_entry *e)
{
	return w->threads ? e->worker < w->threads
			  : e->worker == SENNIT_REPORT_BOUND &&
				    e->thread == (uint32_t)gettid();
}

struct things {
	sennit_event      event;
	sennit_wait_group group;
	sennit_mutex      mutex;
	sennit_cond       cond;
	sennit_mutex      of_cond;
	sennit_mutex      of_fiber;
	sennit_fiber     *fiber;
	atomic_bool       over;
	sennit_time       deadline;
	sennit_wait_group all;
};

static inline void wait_for_event(void *argument)
{
	struct things *t = argument;

	sennit_event_wait(&t->event);
	sennit_wait_group_done(&t->all);
}

#endif
