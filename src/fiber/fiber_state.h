/* SPDX-License-Identifier: Apache-2.0 */
/* fiber_state.h - the part of a fiber that reports read: its task, its state,
 * and what it waits for. (A state word with a sequence number.)
 *
 *	doing   { serial : 24 | TIMED : 1 | waits_for : 5 | state : 2 }
 *
 *	RUNNING --owner--> BLOCKED --its waker--> READY --owner--> RUNNING
 *	        \--owner yields---------------------^
 *
 * The owner writes, except for the step from BLOCKED to READY, which the thread
 * that claimed the wait makes. Any thread may read: it reads `doing`, the other
 * fields, and `doing` again, and retries if `doing` has changed. This needs no
 * fence: the other fields are stored with release while RUNNING, and read with
 * acquire. So a reader that sees a field of a later wait also sees that the
 * earlier wait is over.
 */
#ifndef SN_FIBER_STATE_H
#define SN_FIBER_STATE_H

#include "base/atomic.h"
#include "fiber/waiter.h"
#include "sennit/report.h"

#define FIBER_STATE_STATE  UINT32_C(3) /* enum sennit_report_state */
#define FIBER_STATE_KIND   2           /* shift: enum sennit_waits_for */
#define FIBER_STATE_KINDS  UINT32_C(32)
#define FIBER_STATE_TIMED  (UINT32_C(1) << 7)
#define FIBER_STATE_SERIAL (UINT32_C(1) << 8)

struct fiber_state {
	a_word task;     /* owner writes: the task function, 0 for none */
	a_ptr  object;   /* owner writes: of the wait */
	a_u64  since;    /* owner writes: of the wait */
	a_u32  doing;    /* owner writes; handed to the waker as described
			  * above */
	a_u64  deadline; /* owner writes: valid only with TIMED */
};

static inline void sn_fiber_state_init(struct fiber_state *s)
{
	a_init(&s->task, 0);
	a_init(&s->object, NULL);
	a_init(&s->since, 0);
	a_init(&s->doing, SENNIT_REPORT_RUNNING);
	a_init(&s->deadline, 0);
}

/* The fiber begins to run `task`; NULL: it runs none. */
static inline void sn_fiber_state_set_task(struct fiber_state *s,
					   sennit_task_fn     *task)
{
	/* -> fiber_state.read: RUNNING */
	a_store_rel(&s->task, (uintptr_t)task);
}

/* The task that the owner has stored. */
static inline sennit_task_fn *sn_fiber_state_get_task(
	const struct fiber_state *s)
{
	return (sennit_task_fn *)a_load_rlx(&s->task);
}

/* The running fiber is about to wait. No thread may wake it before this call.
 * `serial` must differ from that of the previous wait. */
static inline void sn_fiber_state_block(struct fiber_state *s, uint32_t kind,
					const void *object, uint32_t serial,
					sennit_time now, sennit_time deadline)
{
	uint32_t doing = serial * FIBER_STATE_SERIAL |
			 kind << FIBER_STATE_KIND | SENNIT_REPORT_BLOCKED;

	if (deadline < SN_UNCANCELLED) {
		doing |= FIBER_STATE_TIMED;
		/* -> fiber_state.read: RUNNING */
		a_store_rel(&s->deadline, deadline);
	}
	/* -> fiber_state.read: RUNNING */
	a_store_rel(&s->object, (void *)(uintptr_t)object);
	a_store_rel(&s->since, now); /* -> fiber_state.read: RUNNING */
	/* -> fiber_state.read: BLOCKED, the rest */
	a_store_rel(&s->doing, doing);
}

/* The running fiber yields to others. */
static inline void sn_fiber_state_yield(struct fiber_state *s, uint32_t serial,
					sennit_time now)
{
	a_store_rel(&s->since, now); /* -> fiber_state.read: RUNNING */
	/* -> fiber_state.read: READY, the rest */
	a_store_rel(&s->doing,
		    serial * FIBER_STATE_SERIAL | SENNIT_REPORT_READY);
}

/* What the owner waits for: enum sennit_waits_for. */
static inline uint32_t sn_fiber_state_kind(const struct fiber_state *s)
{
	return a_load_rlx(&s->doing) / (1u << FIBER_STATE_KIND) %
	       FIBER_STATE_KINDS;
}

/* Set the start time of the current wait. */
static inline void sn_fiber_state_set_since(struct fiber_state *s,
					    sennit_time         now)
{
	a_store_rlx(&s->since, now);
}

/* The wait is over. The thread that has claimed it calls this before the fiber
 * can be resumed. */
static inline void sn_fiber_state_ready(struct fiber_state *s)
{
	uint32_t doing = a_load_rlx(&s->doing) & ~FIBER_STATE_STATE;

	/* -> fiber_state.read: READY, the rest */
	a_store_rel(&s->doing, doing | SENNIT_REPORT_READY);
}

/* The fiber runs again. */
static inline void sn_fiber_state_run(struct fiber_state *s)
{
	a_store_rlx(&s->doing, SENNIT_REPORT_RUNNING);
}

/* Copy *s into the report entry. Returns false if no task is alive here. */
bool sn_fiber_state_read(struct fiber_state *s, sennit_report_entry *e);

#endif
