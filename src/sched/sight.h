/* SPDX-License-Identifier: Apache-2.0 */
/* sight.h - what others may see of a fiber: what it runs, what it waits for.
 *
 *	doing   { serial : 24 | TIMED : 1 | waits_for : 5 | state : 2 }
 *
 *	RUNNING --owner--> BLOCKED --who wakes it--> READY --owner--> RUNNING
 *	        \--owner yields----------------------^
 *
 * The owner writes, but for the step to READY, which belongs to whoever has
 * claimed the wait. Anyone reads: `doing`, the rest, `doing` again, and starts
 * over when it has changed. No fence is needed for that: the rest is stored
 * while RUNNING with release and read with acquire, so a reader that sees
 * anything of a later wait sees that the earlier one is over.
 */
#ifndef SN_SIGHT_H
#define SN_SIGHT_H

#include "base/atomic.h"
#include "sched/waiter.h"
#include "sennit/report.h"

#define SIGHT_STATE  UINT32_C(3) /* enum sennit_report_state */
#define SIGHT_KIND   2           /* shift: enum sennit_waits_for */
#define SIGHT_TIMED  (UINT32_C(1) << 7)
#define SIGHT_SERIAL (UINT32_C(1) << 8)

struct sight {
	a_word task;     /* owner writes: the function, 0 for none */
	a_ptr  object;   /* owner writes: of the wait */
	a_u64  since;    /* owner writes: of the wait */
	a_u32  doing;    /* owner writes; handed: see above */
	a_u64  deadline; /* owner writes: only with TIMED */
};

static inline void sn_sight_init(struct sight *s)
{
	a_init(&s->task, 0);
	a_init(&s->object, NULL);
	a_init(&s->since, 0);
	a_init(&s->doing, SENNIT_REPORT_RUNNING);
	a_init(&s->deadline, 0);
}

/* The fiber runs a task, or none. */
static inline void sn_sight_task(struct sight *s, sennit_task_fn *task)
{
	a_store_rel(&s->task, (uintptr_t)task); /* -> sight.look: RUNNING */
}

/* What the owner has shown so. */
static inline sennit_task_fn *sn_sight_shown(const struct sight *s)
{
	return (sennit_task_fn *)a_load_rlx(&s->task);
}

/* The fiber, which runs, is about to wait; nobody may wake it yet. serial: not
 * the same as in the wait before. */
static inline void sn_sight_block(struct sight *s, uint32_t kind,
				  const void *object, uint32_t serial,
				  sennit_time now, sennit_time deadline)
{
	uint32_t doing = serial * SIGHT_SERIAL | kind << SIGHT_KIND |
			 SENNIT_REPORT_BLOCKED;

	if (deadline < SN_UNCANCELLED) {
		doing |= SIGHT_TIMED;
		/* -> sight.look: RUNNING */
		a_store_rel(&s->deadline, deadline);
	}
	/* -> sight.look: RUNNING */
	a_store_rel(&s->object, (void *)(uintptr_t)object);
	a_store_rel(&s->since, now);   /* -> sight.look: RUNNING */
	a_store_rel(&s->doing, doing); /* -> sight.look: BLOCKED, the rest */
}

/* The fiber, which runs, lets others go first. */
static inline void sn_sight_yield(struct sight *s, uint32_t serial,
				  sennit_time now)
{
	a_store_rel(&s->since, now); /* -> sight.look: RUNNING */
	/* -> sight.look: READY, the rest */
	a_store_rel(&s->doing, serial * SIGHT_SERIAL | SENNIT_REPORT_READY);
}

/* The wait, which has begun, began now. */
static inline void sn_sight_since(struct sight *s, sennit_time now)
{
	a_store_rlx(&s->since, now);
}

/* The wait is over. By whoever has claimed it, before anyone may resume it. */
static inline void sn_sight_ready(struct sight *s)
{
	uint32_t doing = a_load_rlx(&s->doing) & ~SIGHT_STATE;

	/* -> sight.look: READY, the rest */
	a_store_rel(&s->doing, doing | SENNIT_REPORT_READY);
}

/* The fiber runs again. */
static inline void sn_sight_run(struct sight *s)
{
	a_store_rlx(&s->doing, SENNIT_REPORT_RUNNING);
}

/* Fill in what *s says. False: nothing is alive here. */
bool sn_sight_look(struct sight *s, sennit_report_entry *e);

#endif
