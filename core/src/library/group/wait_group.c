/* SPDX-License-Identifier: Apache-2.0 */
/* wait_group.c - the public calls of wait groups, and waits that run tasks tied
 * to their wait group.
 *
 * A task that a wait has run stays in the count until the wait looks for the
 * end, in one step with joining the queue. So the count is not zero while the
 * wait runs tasks, and the program does not free the wait group.
 */
#include "group/wait_group.h"

#include "base/compiler.h"
#include "group/domain.h"
#include "life/end.h"
#include "os/os.h"
#include "group/submit.h"
#include "sched/fiber.h"
#include "sched/place.h"
#include "sched/run_queue.h"
#include "sched/run_task.h"
#include "sched/worker.h"
#include "group/group.h"
#include "wait/wait.h"
#include "sennit/wait_group.h"

#include <errno.h>

_Static_assert(_Alignof(sennit_wait_group) > TASK_TAG, "the tag fits below it");

/* The caller holds the lock, and `word` makes the count zero: the same store
 * releases the lock and the waiters. *g may be freed on return. */
static ALWAYS_INLINE void finish_locked(sennit_wait_group *g, uint32_t word)
{
	struct link *waiters = sn_wait_take_all(&g->waiters_, word);

	sn_race_acquire(g);
	sn_wait_queue_unlock(&g->state_, word & ~WAIT_QUEUE_BITS);
	sn_wake_all(waiters);
}

void sennit_wait_group_init(sennit_wait_group *g, uint32_t count)
{
	MISUSE(count > SENNIT_WAIT_GROUP_MAX, "sennit_wait_group_init",
	       "the count is above SENNIT_WAIT_GROUP_MAX");
	a_init(&g->state_, count * WAIT_GROUP_ONE);
	a_init(&g->tied_, 0);
	a_init(&g->kept_, 0);
	g->waiters_ = NULL;
}

void sennit_wait_group_destroy(sennit_wait_group *g)
{
	MISUSE(a_load_rlx(&g->state_) & WAIT_QUEUE_WAITERS,
	       "sennit_wait_group_destroy",
	       "a fiber or thread still waits for the wait group");
}

void sennit_wait_group_add(sennit_wait_group *g, uint32_t n)
{
	sn_wait_group_add(g, n, "sennit_wait_group_add");
}

bool sennit_wait_group_done(sennit_wait_group *g)
{
	return sn_wait_group_done(g);
}

/* --- spawning ----------------------------------------------------------- */

/* A tied task of a domain, whose meta names the domain. */
struct record {
	sennit_wait_group *group;
	sennit_task_fn    *run;
	void              *argument;
};

static void run_record(void *argument)
{
	const struct record *r = argument;
	struct sennit_fiber *f = sn_self->home.current;

	ARCH_BARRIER();
	sn_fiber_state_set_task(&f->state, r->run);
	r->run(r->argument);
	sn_call_here_clean(f);
	sn_wait_group_done(r->group);
}

static int place_record(struct worker *w, struct sennit_domain *d,
			struct record r, const char *call)
{
	const sennit_task t = { .run = run_record,
				.argument = &r,
				.copy_size = sizeof(r) };

	return sn_submit(w->scheduler, d, &t, call);
}

/* A function of its own, so that the fast path needs no stack frame. In a
 * domain the meta names the domain. */
static NOINLINE int spawn_tied_slow(sennit_wait_group *g, sennit_task_fn *run,
				    void *argument)
{
	const char           *call = "sennit_wait_group_spawn";
	struct worker        *w = sn_self;
	struct sennit_domain *d;
	int                   err;

	MISUSE(!w, call, "no scheduler is bound to this thread");
	if (!run)
		return -EINVAL;
	d = sn_domain_current(w);
	sn_wait_group_add(g, 1, call);
	a_store_rlx(&g->tied_, 1);
	if (d)
		err = place_record(w, d, (struct record){ g, run, argument },
				   call);
	else
		err = sn_place(w->scheduler,
			       TASK(run, argument, sn_task_tied(g)), 0, call);
	if (err)
		sn_wait_group_done(g);
	return err;
}

/* Add 1 unless that needs the lock or more than one attempt. */
static ALWAYS_INLINE bool add_one(sennit_wait_group *g)
{
	uint32_t word = a_load_rlx(&g->state_);

	/* -> wait_group.done: what the adder did before */
	return !(word & WAIT_QUEUE_LOCKED) &&
	       sn_wait_group_has_room(word, a_load_rlx(&g->kept_)) &&
	       a_cas_weak_rel(&g->state_, &word, word + WAIT_GROUP_ONE);
}

/* Whether the running fiber of w is the owner. */
static ALWAYS_INLINE bool is_in_owner(const sennit_wait_group *g,
				      const struct worker     *w)
{
	return sn_fiber_holds(w->home.current, (uintptr_t)g);
}

/* Count one more task apart, if this fiber is the owner. Others see that
 * before they see the task (deque.push), or what the task led to. */
static ALWAYS_INLINE bool count_one_by_owner(sennit_wait_group   *g,
					     const struct worker *w)
{
	uint32_t kept = a_load_rlx(&g->kept_);

	if (!is_in_owner(g, w) || kept >= UINT16_MAX - WAIT_GROUP_KEPT_ONE ||
	    !sn_wait_group_has_room(a_load_rlx(&g->state_), kept))
		return false;
	kept = (kept | WAIT_GROUP_KEPT) + WAIT_GROUP_KEPT_ONE;
	a_store_rlx(&g->kept_, (uint16_t)kept);
	return true;
}

/* w pushes without a fence only where process barriers work. */
int sennit_wait_group_spawn(sennit_wait_group *g, sennit_task_fn *run,
			    void *argument)
{
	struct worker *w = sn_self;

	SPAWN_CALL();
	if (unlikely(!w || !w->run.pushes ||
		     !sn_deque_has_room(sn_worker_deque(w)) || !run ||
		     sn_fiber_scope(w->home.current) ||
		     (!count_one_by_owner(g, w) && !add_one(g))))
		return spawn_tied_slow(g, run, argument);
	a_store_rlx(&g->tied_, 1);
	return sn_place_own(w, TASK(run, argument, sn_task_tied(g)));
}

/* --- waiting ------------------------------------------------------------ */

/* Lock. The owner counts in the word what it has kept. */
static ALWAYS_INLINE uint32_t lock_wait_group(sennit_wait_group *g)
{
	uint32_t       word = sn_wait_queue_lock(&g->state_);
	struct worker *w = sn_self;
	uint32_t       kept = a_load_rlx(&g->kept_);

	if (kept > WAIT_GROUP_KEPT && w && is_in_owner(g, w)) {
		word += sn_wait_group_kept(kept);
		a_store_rlx(&g->kept_, WAIT_GROUP_KEPT);
	}
	return word;
}

/* Wait, after the caller has run `ran` tasks that are still counted. */
static ALWAYS_INLINE int wait_for_wait_group(sennit_wait_group *g, uint32_t ran,
					     sennit_time deadline)
{
	struct waiter *n;
	uint32_t       word, left;

	n = sn_waiter_own(deadline);
	word = lock_wait_group(g);
	left = sn_wait_group_look(g, word - ran * WAIT_GROUP_ONE, deadline);
	MISUSE(left > UINT32_MAX - ran * WAIT_GROUP_ONE,
	       "sennit_wait_group_done",
	       "done() called too many times: the count would fall below zero");
	word -= ran * WAIT_GROUP_ONE;
	if (unlikely(!left)) {
		finish_locked(g, word);
		return 0;
	}
	if (unlikely(!deadline)) {
		sn_wait_queue_unlock(&g->state_, word);
		return -ETIMEDOUT;
	}
	sn_wait_show(n, SENNIT_WAITS_FOR_WAIT_GROUP, g, deadline);
	word |= sn_wait_queue_join(&g->waiters_, n, false);
	sn_wait_queue_unlock(&g->state_, word);
	return sn_wait_in(&g->state_, &g->waiters_, n, deadline);
}

int sennit_wait_group_wait_until(sennit_wait_group *g, sennit_time deadline)
{
	/* <- wait_group.done <- wait_queue.unlock */
	if (!a_load_acq(&g->state_) && !a_load_rlx(&g->kept_)) {
		sn_race_acquire(g);
		return 0;
	}
	return wait_for_wait_group(g, 0, deadline);
}

/* Take the newest task of w if it is tied to *g. */
static ALWAYS_INLINE bool take_tied(const sennit_wait_group *g,
				    struct worker *w, struct task *t)
{
	return sn_deque_pop_if(sn_worker_deque(w), ~(uintptr_t)0,
			       sn_task_tied(g), t);
}

/* The same for the owner, if all that it has kept is what it has run. The
 * store of kept_ is its last access. */
static ALWAYS_INLINE bool end_owner_count(sennit_wait_group *g, uint32_t kept,
					  uint32_t ran)
{
	if (sn_wait_group_kept(kept) != ran * WAIT_GROUP_ONE)
		return false;
	a_store_rlx(&g->kept_, (uint16_t)(kept | WAIT_GROUP_ENDING));
	a_compiler_fence(); /* <-> wait_group.keep: ending, then look */
	TORTURE_POINT();
	/* <- wait_group.done <- wait_queue.unlock */
	if (unlikely(a_load_acq(&g->state_))) {
		a_store_rlx(&g->kept_, (uint16_t)kept);
		return false;
	}
	TORTURE_POINT();
	/* -> wait_group.kept: what the tasks did */
	a_store_rel(&g->kept_, WAIT_GROUP_KEPT);
	return true;
}

/* Subtract what the caller has run, if that is the whole count and there is no
 * other waiter. */
static ALWAYS_INLINE bool subtract_ran_tasks(sennit_wait_group *g,
					     struct worker *w, uint32_t ran)
{
	uint32_t kept = a_load_rlx(&g->kept_);
	uint32_t word = ran * WAIT_GROUP_ONE;

	if (likely(kept))
		return is_in_owner(g, w) && end_owner_count(g, kept, ran);
	/* -> wait_group.done: what the tasks did <- wait_group.done */
	return ran && a_cas_weak_acqrel(&g->state_, &word, 0);
}

static NOINLINE void wait_for_rest(sennit_wait_group *g, uint32_t ran)
{
	(void)!wait_for_wait_group(g, ran, SN_UNCANCELLED);
}

/* Call the task on the running stack. Others may wait for its wait group, too,
 * and run such tasks. So as an owner of locks it is this frame, not the wait
 * group. */
static ALWAYS_INLINE void call_tied(struct worker *w, const struct task *t)
{
	struct call_here c;

	sn_call_here_begin(&c, w, t, NULL, __builtin_frame_address(0));
	if (likely(!sn_task_cleanup_is_needed(c.fiber)))
		sn_call_here_tied(c.fiber, t);
	else
		sn_call_here_aside(c.fiber, t);
	sn_call_here_end(&c, w);
}

/* Run tasks tied to *g on the running stack while the newest task of w is one,
 * or until they are as many as the owner has kept. Returns their number. A new
 * task must not see a handled exception. */
static ALWAYS_INLINE uint32_t run_tied_tasks(sennit_wait_group *g,
					     struct worker     *w)
{
	uint32_t    ran = 0;
	struct task t;

	while (sn_call_here_may(w) && !sn_worker_has_exceptions(w) &&
	       take_tied(g, w, &t)) {
		call_tied(w, &t);
		sn_counters_count_task(&w->counters);
		sn_task_count_end(w, sn_task_tied(g));
		ran++;
		if (sn_wait_group_kept(a_load_rlx(&g->kept_)) ==
		    ran * WAIT_GROUP_ONE)
			break;
	}
	return ran;
}

static NOINLINE void wait_and_run(sennit_wait_group *g)
{
	struct worker *w = sn_self;
	uint32_t       ran = 0;

	ARCH_BARRIER();
	if (likely(w)) {
		ran = run_tied_tasks(g, w);
		if (likely(subtract_ran_tasks(g, w, ran))) {
			sn_race_acquire(g);
			return;
		}
	}
	wait_for_rest(g, ran);
}

void sennit_wait_group_wait(sennit_wait_group *g)
{
	/* <- wait_group.done <- wait_queue.unlock */
	if (!a_load_acq(&g->state_) && !a_load_rlx(&g->kept_)) {
		sn_race_acquire(g);
		return;
	}
	/* A late view is harmless: the task then runs elsewhere. */
	if (a_load_rlx(&g->tied_))
		wait_and_run(g);
	else
		(void)!wait_for_wait_group(g, 0, SN_UNCANCELLED);
	FRAME_IS_KEPT();
}

/* --- wait group count ----------------------------------------------------- */

_Static_assert(SENNIT_WAIT_GROUP_MAX == UINT32_MAX / WAIT_GROUP_ONE,
	       "the count fills the word's own bits");

_Static_assert(WAIT_GROUP_KEPT_MAX <= SENNIT_WAIT_GROUP_MAX / 8,
	       "a word that is far from both ends has room for what is kept");

/* Wait until the word is not locked, and return it, for a compare-and-set. */
static uint32_t await_unlocked_word(sennit_wait_group *g)
{
	uint32_t spins = 0;
	uint32_t word;

	/* <- wait_group.done: what was kept before a task ended elsewhere */
	while ((word = a_load_acq(&g->state_)) & WAIT_QUEUE_LOCKED)
		spins = sn_wait_queue_spin(spins);
	return word;
}

/* While the lock is held the word stays, and what is kept, read once, makes it
 * a count that *g has at that moment. Without the lock the owner could move
 * what it has kept to the word between the two reads. */
static void add_locked(sennit_wait_group *g, uint32_t n, const char *call)
{
	uint32_t word = sn_wait_queue_lock(&g->state_);
	uint32_t sum = sn_wait_group_sum(word, a_load_rlx(&g->kept_));
	bool     fits = n <= SENNIT_WAIT_GROUP_MAX - sum / WAIT_GROUP_ONE;

	/* -> wait_group.done: what the adder did before */
	sn_wait_queue_unlock(&g->state_,
			     fits ? word + n * WAIT_GROUP_ONE : word);
	MISUSE(!fits, call, "the count would exceed SENNIT_WAIT_GROUP_MAX");
}

void sn_wait_group_add(sennit_wait_group *g, uint32_t n, const char *call)
{
	uint32_t word;

	do {
		word = await_unlocked_word(g);
		TORTURE_POINT();
		if (unlikely(n > SENNIT_WAIT_GROUP_MAX / 4 ||
			     !sn_wait_group_has_room(word,
						     a_load_rlx(&g->kept_)))) {
			add_locked(g, n, call);
			return;
		}
		/* -> wait_group.done: what the adder did before */
	} while (!a_cas_weak_rel(&g->state_, &word, word + n * WAIT_GROUP_ONE));
}

/* A word above zero has tasks of its own, and the end of the last one looks
 * again. */
uint32_t sn_wait_group_look_at_kept(sennit_wait_group *g, uint32_t word,
				    bool waits)
{
	/* <- wait_group.kept */
	uint32_t kept = a_load_acq(&g->kept_);
	uint32_t sum = sn_wait_group_sum(word, kept);
	uint32_t spins = 0;

	if (!waits || !sum || (int32_t)word >= (int32_t)WAIT_GROUP_ONE)
		return sum;
	os_process_barrier(); /* <-> wait_group.keep: locked, then look */
	/* <- wait_group.kept */
	while ((kept = a_load_acq(&g->kept_)) & WAIT_GROUP_ENDING)
		spins = sn_wait_queue_spin(spins);
	return sn_wait_group_sum(word, kept);
}

/* This may be the last one, or the owner counts apart, or the call is a
 * misuse. */
static bool done_locked(sennit_wait_group *g)
{
	uint32_t word = sn_wait_queue_lock(&g->state_) - WAIT_GROUP_ONE;
	bool     waits = word & WAIT_QUEUE_WAITERS;
	uint32_t left = sn_wait_group_look(g, word, waits);

	MISUSE(left == 0 - WAIT_GROUP_ONE, "sennit_wait_group_done",
	       "done() called too many times: the count would fall below zero");
	if (!left && waits)
		finish_locked(g, word);
	else
		sn_wait_queue_unlock(&g->state_, word);
	return !left;
}

/* The slow path. With a word below two this may be the last one, or a misuse:
 * that is judged under the lock. Without it, what is kept could be older than
 * the word on some processors. */
bool sn_wait_group_done_slow(sennit_wait_group *g)
{
	uint32_t word = a_load_rlx(&g->state_); /* a guess; the CAS or the lock
						 * checks it */

	for (;;) {
		if (unlikely(word & WAIT_QUEUE_LOCKED)) {
			word = await_unlocked_word(g);
			continue;
		}
		if ((int32_t)word < (int32_t)(2 * WAIT_GROUP_ONE))
			return done_locked(g);
		/* -> wait_group.done: the work
		 * <- wait_group.done: the others', <- wait_queue.unlock */
		if (a_cas_weak_acqrel(&g->state_, &word, word - WAIT_GROUP_ONE))
			return false;
	}
}
