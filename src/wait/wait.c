/* SPDX-License-Identifier: Apache-2.0 */
#include "wait/wait.h"

#include "core/names.h"
#include "observe/observe.h"
#include "observe/stall.h"
#include "os/os.h"
#include "sched/fiber.h"
#include "sched/loop.h"
#include "sched/run_queue.h"
#include "sched/worker.h"
#include "wait/cancel.h"
#include "sennit/fiber.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
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
static COLD bool sleep_in_poller(struct waiter *n, sennit_poller *p,
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

	return unlikely(p) ? sleep_in_poller(n, p, deadline)
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
	sn_stall_sleep(&t, &n->parker->word, NULL,
		       n->parker->poller ? 0 : deadline);
	await_wake(n, deadline);
	sn_stall_wake(&t);
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
		sn_observe_count_cancel(&n->home->observe);
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

/* --- wait any ------------------------------------------------------------- */

/* Number of parts that fit on every caller's stack: less than 1 KiB. */
enum { FEW = 8 };

/* Whether one of the parts before the i-th is linked to the same object. */
static bool is_linked(const struct wait_any *s, size_t i,
		      const sennit_word *word)
{
	while (i--)
		if (s->queue(s->objects, i).word == word)
			return true;
	return false;
}

/* Link part n to object n->part, unless that object is set. If it is set, *mine
 * becomes whether the caller claimed its own wait and need not sleep. If an
 * object occurs several times, only the first part is linked: the thread that
 * sets the object unlinks that one, and the object may be gone before others
 * could be unlinked. */
static bool link_part(const struct wait_any *s, struct waiter *n, bool *mine)
{
	struct wait_any_queue q = s->queue(s->objects, n->part);
	uint32_t              word = sn_wait_queue_lock(q.word);

	if (word & WAIT_QUEUE_OWN) {
		*mine = sn_waiter_claim(n);
		if (*mine)
			sn_race_acquire(q.word);
		sn_wait_queue_unlock(
			q.word,
			*mine ? s->passed(s->objects, n->part, word) : word);
		return false;
	}
	if (likely(!*q.list) || !is_linked(s, n->part, q.word))
		word |= sn_wait_queue_join(q.list, n, false);
	sn_wait_queue_unlock(q.word, word);
	return true;
}

/* Link parts until one finds its object set. Returns the number of linked
 * parts. */
static size_t link_parts(const struct wait_any *s, struct waiter *whole,
			 struct waiter *parts, bool *mine)
{
	size_t i;

	for (i = 0; i < s->count; i++) {
		sn_waiter_init_part(&parts[i], whole, (uint32_t)i);
		if (!link_part(s, &parts[i], mine))
			break;
	}
	return i;
}

/* Unlink the first `linked` parts, except those of object `which`. The thread
 * that ended the wait has unlinked that part, and the object may be gone. */
static void unlink_parts(const struct wait_any *s, struct waiter *parts,
			 size_t linked, size_t which)
{
	const sennit_word *gone = NULL;
	size_t             i;

	if (which < s->count)
		gone = s->queue(s->objects, which).word;

	for (i = 0; i < linked; i++) {
		struct wait_any_queue q = s->queue(s->objects, i);

		if (q.word != gone)
			sn_wait_leave(q.word, q.list, &parts[i]);
	}
}

static int wait_in_parts(const struct wait_any *s, struct waiter *parts,
			 size_t *which, sennit_time deadline)
{
	struct waiter whole;
	bool          mine = false;
	size_t        linked;
	size_t        part = s->count;
	int           err = 0;

	sn_waiter_init_whole(&whole, deadline);
	sn_wait_show(&whole, SENNIT_WAITS_FOR_SELECT, s->first, deadline);
	linked = link_parts(s, &whole, parts, &mine);
	if (mine)
		sn_wait_skip(&whole);
	else
		err = sn_wait(&whole, deadline);
	if (!err)
		part = sn_waiter_part(&whole);
	unlink_parts(s, parts, linked, part);
	if (!err)
		*which = part;
	return err;
}

static NOINLINE int wait_few(const struct wait_any *s, size_t *which,
			     sennit_time deadline)
{
	struct waiter parts[FEW];

	return wait_in_parts(s, parts, which, deadline);
}

static NOINLINE int wait_many(const struct wait_any *s, size_t *which,
			      sennit_time deadline)
{
	struct waiter parts[WAIT_ANY_MAX];

	return wait_in_parts(s, parts, which, deadline);
}

int sn_wait_any(const struct wait_any *s, size_t *which, sennit_time deadline)
{
	return s->count <= FEW ? wait_few(s, which, deadline)
			       : wait_many(s, which, deadline);
}

/* --- deadlines ------------------------------------------------------------ */

/* The number of due timers whose memory is prefetched before they fire. A timer
 * takes about 100 ns of work; a miss in caches and TLB takes several times as
 * long. */
#define FIRE_AHEAD 6

/* Each record lies on a page of its own, and none is in a cache. Returns the
 * timer after this one. */
static inline struct timer *fetch_ahead(struct timer *t)
{
	const struct alarm *a;

	if (!t)
		return NULL;
	a = container_of(t, struct alarm, timer);
	__builtin_prefetch(&a->waiter->claim, 1);
	__builtin_prefetch(a->fiber, 1);
	return t->next;
}

bool sn_deadlines_fire(struct worker *w, sennit_time now)
{
	struct timer *t;
	struct timer *ahead;
	bool          fired = false;

	sn_timers_expire(&w->timers, now, &t);
	ahead = t;
	for (int i = 0; i < FIRE_AHEAD; i++)
		ahead = fetch_ahead(ahead);
	while (t) {
		struct waiter *n = container_of(t, struct alarm, timer)->waiter;
		uint32_t       waiting = WAITER_WAITING;
		const struct timer *due = t;

		ahead = fetch_ahead(ahead);
		t = t->next;
		/* Only a wait that no one has claimed times out. If a signaller
		 * was first, it wakes the waiter. -> wait.claim <-
		 * wait.claim */
		if (a_cas_acqrel(&n->claim, &waiting, WAITER_TIMEDOUT)) {
			if (unlikely(w->home.observed))
				sn_observe_expire(w, n, due->expiry);
			sn_fiber_state_ready(&n->fiber->state);
			sn_run_queue_make_ready(&w->run, n->fiber);
			fired = true;
		}
	}
	return fired;
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

/* --- sleeping ----------------------------------------------------------- */

/* A sleep is a wait whose deadline is the wake-up time. Only the timer and a
 * cancel can claim it. */
static int sleep_until(sennit_time wake)
{
	struct waiter *n = sn_waiter_own(wake);
	int            err;

	sn_wait_show(n, SENNIT_WAITS_FOR_TIME, NULL, wake);
	err = sn_wait(n, wake);
	return err == -ETIMEDOUT && (!n->scope || os_now() >= wake) ? 0 : err;
}

int sennit_sleep_until(sennit_time wake)
{
	int err = 0;

	if (wake > os_now()) {
		err = sleep_until(wake);
		NO_TAIL_CALL(err);
	} else {
		check_deadline(wake);
	}
	return err;
}

int sennit_sleep(uint64_t nanoseconds)
{
	int err = 0;

	if (nanoseconds)
		err = sleep_until(sennit_after(nanoseconds));
	NO_TAIL_CALL(err);
	return err;
}

/* --- lock set ------------------------------------------------------------- */

void sn_lock_set_add(struct lock_set *l, sennit_word *word)
{
	size_t i = l->count;
	size_t last;

	while (i && (uintptr_t)l->words[i - 1] > (uintptr_t)word)
		i--;
	if (i && l->words[i - 1] == word)
		return;
	for (last = l->count++; last > i; last--)
		l->words[last] = l->words[last - 1];
	l->words[i] = word;
}

void sn_lock_set_take(const struct lock_set *l)
{
	size_t i;

	for (i = 0; i < l->count; i++)
		sn_wait_queue_lock(l->words[i]);
}

void sn_lock_set_drop(const struct lock_set *l)
{
	size_t i;

	for (i = 0; i < l->count; i++)
		sn_wait_queue_unlock(l->words[i], sn_lock_set_get(l->words[i]));
}
