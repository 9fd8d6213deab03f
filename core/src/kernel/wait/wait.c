/* SPDX-License-Identifier: Apache-2.0 */
#include "wait/wait.h"

#include "local/names.h"
#include "os/os.h"
#include "sched/fiber.h"
#include "sched/hooks.h"
#include "sched/loop.h"
#include "sched/run_queue.h"
#include "sched/worker.h"
#include "group/cancel.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

_Thread_local struct parker sn_parker;
_Thread_local struct waiter sn_thread_waiter;

/* --- durations for deadlines -------------------------------------------- */

/* A deadline of "one second" is a time at which the machine had just started:
 * it has passed, and the wait ends at once, silently. A deadline that was right
 * at some time comes from a clock that this process has read. A program may
 * compute a time that has passed, such as one second ago, which is before the
 * process started if it has just started; but not one in the first half of the
 * clock's time until then. Programs may write 1 for a time that has passed.
 * Where the clock begins with the process, as in a new virtual machine, nothing
 * is noticed. */

#ifdef SENNIT_DETERMINISTIC /* its clock begins at 0 */
static inline void check_deadline(sennit_time deadline)
{
	(void)deadline;
}

void sn_check_deadline(sennit_time deadline)
{
	(void)deadline;
}
#else
static sennit_time long_ago; /* fixed before main() */

__attribute__((constructor)) static void note_start(void)
{
	long_ago = os_now() / 2;
}

/* Not COLD: what calls that is moved away from the function whose name is
 * looked for. */
static NOINLINE void say_duration(sennit_time deadline)
{
	static a_u32 said; /* any: 1: once is enough */
	uint32_t     no = 0;
	char         who[256], call[96];

	if (!a_cas_rlx(&said, &no, 1))
		return;
	if (!sn_call_name(0, call, sizeof(call)))
		snprintf(call, sizeof(call), "a call with a deadline");
#ifndef NDEBUG
	(void)who;
	sn_panic(sn_file_, __LINE__,
		 "misuse of %s: the deadline %" PRIu64 " lies before the start "
		 "of the process: it is a time, and no duration; did you mean "
		 "sennit_after(%" PRIu64 ")?",
		 call, deadline, deadline);
#else
	sn_check_who(who, sizeof(who));
	os_print(STDERR_FILENO,
		 "sennit: misuse of %s: the deadline %" PRIu64 " lies before "
		 "the start of the process: it is a time, and no duration; did "
		 "you mean sennit_after(%" PRIu64 ")? [%s]\n",
		 call, deadline, deadline, who);
#endif
}

/* For a wait that is about to sleep, or does not because of its deadline. */
static inline void check_deadline(sennit_time deadline)
{
	if (unlikely(deadline < long_ago) && deadline >= SENNIT_MICROSECOND)
		say_duration(deadline);
}

void sn_check_deadline(sennit_time deadline)
{
	check_deadline(deadline);
}
#endif

/* --- sleeping ----------------------------------------------------------- */

static void sleep_fiber(struct waiter *n, sennit_time deadline)
{
	struct worker *w = sn_self;
	struct alarm  *a;

	if (deadline >= SN_UNCANCELLED) {
		sn_loop_suspend(w);
		return;
	}
	check_deadline(deadline);
	a = sn_worker_alarm(w, n->fiber);
	a->waiter = n;
	sn_timers_arm(&w->timers, &a->timer, deadline);
	sn_loop_suspend(w);
	if (sn_timer_is_armed(&a->timer))
		sn_timers_cancel(&w->timers, &a->timer);
}

/* Sleep in the poller of a select. Who has claimed the wait wakes the poller
 * first, and then by the word, after which it touches the poller no more. So
 * the word is waited for. Returns false at the deadline. */
static COLD bool wait_in_poller(struct waiter *n, sennit_poller *p,
				sennit_time deadline)
{
	enum sennit_poller_end end = p->ops->sleep(p, deadline);

	if (end == SENNIT_POLLER_READY && sn_waiter_claim(n))
		a_store_rlx(&n->parker->word, 1); /* nobody else wakes it */
	else if (a_load_rlx(&n->claim) != WAITER_WAITING) /* the wake follows */
		(void)os_word_wait(&n->parker->word, 0, SENNIT_NEVER);
	return end != SENNIT_POLLER_TIMEOUT;
}

/* Returns false at the deadline. */
static bool sleep_once(struct waiter *n, sennit_time deadline)
{
	sennit_poller *p = n->parker->poller;

	return unlikely(p) ? wait_in_poller(n, p, deadline)
			   : os_word_wait(&n->parker->word, 0, deadline);
}

static void await_wake(struct waiter *n, sennit_time deadline)
{
	uint32_t waiting = WAITER_WAITING;

	while (!a_load_acq(&n->parker->word)) { /* <- wait.thread */
		if (sleep_once(n, deadline))
			continue;
		/* -> wait.claim <- wait.claim */
		if (a_cas_acqrel(&n->claim, &waiting, WAITER_TIMEDOUT))
			return;
		/* A signaller has claimed it, so its wake must end this
		 * wait. */
		deadline = SENNIT_NEVER;
	}
}

static void sleep_thread(struct waiter *n, sennit_time deadline)
{
	struct stalled_thread t;

	if (deadline == SN_UNCANCELLED)
		deadline = SENNIT_NEVER;
	check_deadline(deadline);
	/* What a poller reports would wake it, too. */
	sn_hook_thread_sleeps(&t, &n->parker->word, NULL,
			      n->parker->poller ? 0 : deadline);
	await_wake(n, deadline);
	sn_hook_thread_wakes(&t);
	sn_race_acquire_last(n->parker);
}

/* Reports may look at the groups around the fiber meanwhile: they stay open as
 * long as it waits. A lock with an owner has seen to that itself. */
static void sleep_shielded(struct waiter *n, sennit_time deadline)
{
	static sennit_pointer nobody;
	struct waited_lock   *look = &n->fiber->look;
	const bool            opens = !sn_waited_lock_is_set(look);

	if (opens)
		sn_waited_lock_set(look, &nobody, true);
	sleep_fiber(n, deadline);
	if (opens)
		sn_waited_lock_clear(look);
}

static void sleep_anyhow(struct waiter *n, sennit_time deadline)
{
	if (n->is.shielded)
		sleep_shielded(n, deadline);
	else if (n->fiber)
		sleep_fiber(n, deadline);
	else
		sleep_thread(n, deadline);
}

/* The wait ends at once; reports count it as a wait. */
void sn_wait_skip(const struct waiter *n)
{
	struct worker *w = sn_self;

	if (!n->fiber)
		return;
	sn_counters_count_block(&w->counters);
	sn_fiber_state_run(&n->fiber->state);
	sn_counters_count_resume(&w->counters);
}

static void sleep_in_scope(struct waiter *n, sennit_time deadline)
{
	struct alarm *a;

	if (!sn_cancel_scope_enlist(n, &deadline)) {
		sn_wait_skip(n);
		return;
	}
	sleep_fiber(n, deadline);
	sn_cancel_scope_withdraw(n);
	a = n->fiber->alarm; /* an earlier deadline may have been set */
	if (a && unlikely(sn_timer_is_armed(&a->timer)))
		sn_timers_cancel(&sn_self->timers, &a->timer);
}

static COLD int cancelled(const struct waiter *n)
{
	if (n->fiber)
		sn_hook_cancelled(n->home);
	return -ECANCELED;
}

int sn_wait(struct waiter *n, sennit_time deadline)
{
	if (!n->is.raced) {
		sleep_anyhow(n, deadline);
		return 0;
	}
	if (n->scope)
		sleep_in_scope(n, deadline);
	else
		sleep_anyhow(n, deadline);
	switch (a_load_acq(&n->claim)) { /* <- wait.claim */
	case WAITER_TIMEDOUT:
		return -ETIMEDOUT;
	case WAITER_CANCELLED:
		return cancelled(n);
	default:
		return 0;
	}
}

/* A signaller that found the claim taken may still use n until it unlocks. */
void sn_wait_leave(sennit_word *word, void **list, struct waiter *n)
{
	uint32_t value = sn_wait_queue_lock(word);

	if (n->is.linked)
		sn_wait_queue_leave(list, n);
	sn_wait_queue_unlock(word, sn_wait_queue_bits(*list, value));
}

int sn_wait_in_slow(sennit_word *word, void **list, struct waiter *n,
		    sennit_time deadline)
{
	int err = sn_wait(n, deadline);

	if (err)
		sn_wait_leave(word, list, n);
	return err;
}

/* --- wait queue ----------------------------------------------------------- */

uint32_t sn_wait_queue_spin(uint32_t spins)
{
	a_pause();
	if (++spins % WAIT_QUEUE_SPINS == 0)
		os_thread_give_way(spins / WAIT_QUEUE_SPINS - 1);
	return spins;
}

/* --- wait take ------------------------------------------------------------ */

struct waiter *sn_wait_take_next(void **list)
{
	while (*list) {
		struct waiter *n = sn_wait_queue_first(*list);

		if (sn_wait_take(list, n))
			return n;
	}
	return NULL;
}

struct link *sn_wait_take_all_raced(void **list)
{
	struct link *all = *list;
	struct link *claimed = NULL;

	/* A waiter that lost its claim unlinks itself under the lock. This must
	 * tell it that it is no longer linked. */
	while (all) {
		struct waiter *n = sn_wait_queue_first(all);

		sn_link_leave(&all, &n->link);
		n->is.linked = false;
		if (!n->is.raced || sn_waiter_claim(n))
			sn_link_join(&claimed, &n->link);
	}
	*list = NULL;
	return claimed;
}
