/* SPDX-License-Identifier: Apache-2.0 */
/* fork_join.c - the slow paths of the macros of fork_join.h, and the checks
 * that the macros' view of a worker's deque is correct. */
#include "life/end.h"
#include "sched/fiber.h"
#include "sched/loop.h"
#include "sched/place.h"
#include "sched/run_queue.h"
#include "sched/run_task.h"
#include "sennit/fork_join.h"

_Static_assert(sizeof(struct slot) == sizeof(struct sennit_fork_slot_), "slot");
#define SAME_SLOT(field)                 \
	(offsetof(struct slot, field) == \
	 offsetof(struct sennit_fork_slot_, field))
_Static_assert(SAME_SLOT(run) && SAME_SLOT(argument) && SAME_SLOT(meta),
	       "slot");

#define SAME_DEQUE(field)                 \
	(offsetof(struct deque, field) == \
	 offsetof(struct sennit_fork_deque_, field))
_Static_assert(SAME_DEQUE(limit) && SAME_DEQUE(mask) && SAME_DEQUE(slot) &&
		       SAME_DEQUE(guard) && SAME_DEQUE(asked),
	       "deque");

/* The macros read `bottom` as the low half of its word. */
_Static_assert(offsetof(struct deque, bottom) == LOW_HALF_AT, "bottom");
_Static_assert(offsetof(struct deque, zero) == 4 - LOW_HALF_AT, "bottom");

/* The state of a record: flags in the high half of its `at`. */
#define FORK_STARTED (UINT64_C(1) << 32)
#define FORK_DONE    (UINT64_C(2) << 32)
#define FORK_WAITED  (UINT64_C(4) << 32) /* the joiner waits for `done` */
#define FORK_ODD     (UINT64_C(8) << 32) /* position in the deque unknown */

/* A deque without room, whose newest task belongs to no one. It sends the
 * macros to the slow paths. */
static struct slot  no_slot[1];
static struct deque no_deque = { .slot = no_slot };

/* The macros' fast path needs newest-first order and pops without a fence. It
 * also does not inform helgrind of its atomic operations. Otherwise every
 * operation takes the slow path. */
static bool is_quick(const struct worker *w)
{
	return !ATOMICS_ARE_TOLD && !RACES_ARE_TOLD && w->threaded &&
	       !w->run.oldest_first && sn_worker_deque(w)->asymmetric &&
	       w->scheduler->config.placement != SENNIT_PLACEMENT_SPREAD;
}

static struct deque *deque_of(const struct sennit_here_ *me)
{
	return (struct deque *)(void *)me->deque;
}

static uint64_t deque_bottom_of(const struct sennit_here_ *me)
{
	return a_load_rlx(&deque_of(me)->bottom);
}

/* Both sides use atomic operations, and the record's type may alias. */
static a_u64 *fork_state_of(struct sennit_fork_record_ *record)
{
	void *at = &record->at;

	return at;
}

uint64_t sennit_fork_begin_(struct sennit_here_ *me, uint32_t version)
{
	struct worker              *w = sn_self;
	struct sennit_cancel_scope *scope;
	struct deque               *d = &no_deque;
	const char                 *counts;

	MISUSE(!w, "SENNIT_FORK_RUN", "no scheduler is bound to this thread");
	MISUSE(version != SENNIT_FORK_VERSION_, "SENNIT_FORK_RUN",
	       "the program was compiled for another version of the library");
	if (is_quick(w))
		d = sn_worker_deque(w);
	scope = sn_fiber_scope(w->home.current);
	counts = (const char *)&w->parking->counts;
	me->deque = (struct sennit_fork_deque_ *)(void *)d;
	/* The low half of the counts. */
	me->sleepers = (const void *)(counts + LOW_HALF_AT);
	me->dispatches = &w->run.dispatches;
	me->shallow = w->home.current->shallow;
	me->meta = sn_task_count_joined(scope);
	return deque_bottom_of(me);
}

/* Relaxed: either the thread that joins is this one, or a thief has the task,
 * and guard shows that. */
uint64_t sennit_fork_start_(struct sennit_here_        *me,
			    struct sennit_fork_record_ *record,
			    uint32_t                    version)
{
	a_or_rlx(fork_state_of(record), FORK_STARTED);
	return sennit_fork_begin_(me, version);
}

/* If the joiner does not wait yet, the record may be gone after this
 * operation. */
void sennit_fork_end_(struct sennit_fork_record_ *record)
{
	sn_race_release(record);
	/* -> fork_join.end: the result <- fork_join.wait */
	if (a_or_acqrel(fork_state_of(record), FORK_DONE) & FORK_WAITED)
		(void)sennit_wait_group_done(&record->done);
}

/* Push onto the caller's deque if it has room, as the macros do. Otherwise
 * place the task like any other. Without memory for that, run it at once in the
 * spawning task. */
uint64_t sennit_fork_push_(const struct sennit_here_ *me, sennit_task_fn *run,
			   struct sennit_fork_record_ *record)
{
	struct worker *w = sn_self;
	struct deque  *d = deque_of(me);
	struct task    t = TASK(run, record, me->meta);
	bool is_plain = d == sn_worker_deque(w) && sn_deque_has_room(d) &&
			sn_run_queue_is_unfenced(&w->run);

	a_init(fork_state_of(record),
	       is_plain ? (uint32_t)(deque_bottom_of(me) + 1) : FORK_ODD);
	if (is_plain ? sn_place_own(w, t)
		     : sn_place(w->scheduler, t, 0, "SENNIT_FORK_SPAWN"))
		run(record);
	return deque_bottom_of(me);
}

uint64_t sennit_fork_help_(const struct sennit_here_ *me)
{
	sn_place_help(sn_self);
	return deque_bottom_of(me);
}

/* Count a dispatch and do the upkeep that is due. Doing it here costs less than
 * returning to the loop. The macros may have counted down to 0. Returns whether
 * nothing else must run first. */
static bool do_upkeep_before_join(struct worker *w)
{
	bool is_due = w->run.dispatches <= 1;

	if (is_due) {
		if (sn_upkeep_skip(w))
			return true;
		w->run.dispatches = 1;
	}
	if (!sn_upkeep_tick(w))
		return false;
	return !is_due || sn_worker_wants_newest(w);
}

/* Take the record's task if it is the newest on the caller's deque. Its
 * position need not be known: tasks move when others are taken back. Upkeep may
 * add newer tasks, so it runs first. */
static bool take_newest_fork(struct worker *w, struct deque *d,
			     const void *record, struct task *t)
{
	uint32_t b;

	if (!do_upkeep_before_join(w) ||
	    (char *)__builtin_frame_address(0) < w->home.current->shallow)
		return false;
	b = a_load_rlx(&d->bottom) - 1;
	if (a_load_rlx(&d->slot[b & d->mask].argument) != (uintptr_t)record ||
	    !sn_deque_pop(d, t)) /* the slot was an old one */
		return false;
	CHECK(t->argument == record, "the newest task has changed");
	return true;
}

/* The deque on which the caller's tasks are. Where only the fence of each pop
 * forbids the macros' fast path, a join may take the task back all the same. */
static struct deque *deque_to_take(struct worker             *w,
				   const struct sennit_here_ *me)
{
	struct deque *d = deque_of(me);
	bool          is_own = !ATOMICS_ARE_TOLD && w->run.pops;

	return d == &no_deque && is_own ? sn_worker_deque(w) : d;
}

/* For race.h: run what take_newest_fork() has taken from its queue, in a
 * context of its own. */
static void run_fork_in_race_context(struct worker              *w,
				     struct sennit_fork_record_ *record,
				     const struct task          *t)
{
	void *outer = sn_race_begin(t->sent, w->home.current->low);

	t->run(record);
	sn_race_end_task(w, outer);
	sn_race_acquire_last(record);
}

static void await_record(struct sennit_fork_record_ *record)
{
	sennit_wait_group_init(&record->done, 1);
	/* -> fork_join.wait: the wait group <- fork_join.end */
	if (!(a_or_acqrel(fork_state_of(record), FORK_WAITED) & FORK_DONE))
		sennit_wait_group_wait(&record->done);
	sn_race_acquire_last(record);
}

bool sennit_fork_join_(const struct sennit_here_  *me,
		       struct sennit_fork_record_ *record)
{
	struct worker *w = sn_self;
	struct task    t;

	if (take_newest_fork(w, deque_to_take(w, me), record, &t)) {
		if (!RACES_ARE_TOLD)
			return true;
		run_fork_in_race_context(w, record, &t);
		return false;
	}
	await_record(record);
	return false;
}
