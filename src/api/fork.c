/* SPDX-License-Identifier: Apache-2.0 */
/* fork.c - what the macros of fork.h do not do themselves, and the proof that
 * they know a worker's deque. */
#include "sennit/fork.h"

#include "sched/place.h"
#include "sched/wait.h"

_Static_assert(sizeof(struct slot) == sizeof(struct sennit_fork_slot_), "slot");
#define SAME_SLOT(field)                 \
	(offsetof(struct slot, field) == \
	 offsetof(struct sennit_fork_slot_, field))
_Static_assert(SAME_SLOT(run) && SAME_SLOT(argument) && SAME_SLOT(meta),
	       "slot");

#define SAME_DEQUE(field)                 \
	(offsetof(struct deque, field) == \
	 offsetof(struct sennit_fork_deque_, field))
_Static_assert(SAME_DEQUE(bottom) && SAME_DEQUE(limit) && SAME_DEQUE(mask) &&
		       SAME_DEQUE(asymmetric) && SAME_DEQUE(slot),
	       "deque");

_Static_assert(offsetof(struct deque, asked) - offsetof(struct deque, guard) ==
		       offsetof(struct sennit_fork_guard_, asked),
	       "guard");

_Static_assert(QUEUE_OWN == 8, "SENNIT_FORK_ONE_ counts one");

/* Sleepers are the low half of the counts. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "sleepers");

/* A deque without room, whose newest task is nobody's. */
static struct slot  no_slot[1];
static struct deque nowhere = { .slot = no_slot };

/* Where newest first is not the order, or a pop needs a fence, all goes the
 * usual way; or where helgrind is told of atomic operations, which the macros
 * do not. */
static bool is_quick(const struct worker *w)
{
	return !ATOMICS_ARE_TOLD && w->threaded && !w->oldest_first &&
	       w->deque.asymmetric &&
	       w->scheduler->config.placement != SENNIT_PLACEMENT_SPREAD;
}

void sennit_fork_begin_(struct sennit_here_ *me, uint32_t version)
{
	struct worker       *w = sn_self;
	struct sennit_scope *scope;
	struct deque        *d = &nowhere;

	MISUSE(!w, "SENNIT_RUN", "no scheduler is bound to this thread");
	MISUSE(version != SENNIT_FORK_VERSION_, "SENNIT_RUN",
	       "the program was compiled for another version of the library");
	if (is_quick(w))
		d = &w->deque;
	scope = w->home.current->scope;
	me->deque = (struct sennit_fork_deque_ *)(void *)d;
	me->guard = (struct sennit_fork_guard_ *)(void *)&d->guard;
	me->sleepers = (uint32_t *)(void *)&w->parking->counts;
	me->dispatches = &w->dispatches;
	me->shallow = w->home.current->shallow;
	me->meta = scope ? sn_task_inside(scope) : TASK_BORROWED;
}

/* Without memory, at once: in the task that spawns it. */
void sennit_fork_push_(const struct sennit_here_ *me, sennit_task_fn *run,
		       void *record)
{
	if (sn_place(sn_self->scheduler, (struct task){ run, record, me->meta },
		     0, "SENNIT_SPAWN"))
		run(record);
}

void sennit_fork_help_(void)
{
	sn_place_help(sn_self);
}

/* bottom is one lower already, as after the first step of a pop. */
bool sennit_fork_pop_(const void *record)
{
	struct task t;

	if (!sn_deque_pop_rest(&sn_self->deque, &t))
		return false;
	CHECK(t.argument == record, "the newest task has changed");
	return true;
}
