/* SPDX-License-Identifier: Apache-2.0 */
#include "blocking/blocking.h"

#include "base/compiler.h"
#include "life/end.h"
#include "life/fork.h"
#include "cpus/slots.h"
#include "sched/cpu_masks.h"
#include "observe/observe.h"
#include "observe/overflow.h"
#include "observe/profiler.h"
#include "observe/trace.h"
#include "os/os.h"
#include "os/quota.h"
#include "sched/fiber.h"
#include "group/group.h"
#include "wait/wait.h"
#include "sennit/blocking.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* --- blocking threads ----------------------------------------------------- */

/* Without a configured limit the library chooses two: QUICK_DEFAULT threads
 * start at once, or 1/QUICK_SHARE of those that the process may have, if that
 * is less; there are LIMIT_DEFAULT at most, or 1/LIMIT_SHARE. Both are at least
 * LIMIT_LEAST. The first LIMIT_LEAST threads start before that number is
 * queried. */
#define QUICK_DEFAULT 256u
#define QUICK_SHARE   4u
#define LIMIT_DEFAULT 8192u
#define LIMIT_SHARE   2u
#define LIMIT_LEAST   8u

/* How long no waiting call must have begun before a thread is added:
 * WATCH_PAUSE, and half of it after each thread, down to WATCH_LEAST, until a
 * call ends. If no other call waits then, the next ones may be made by those
 * that have begun: more threads may start at once, one, and each time twice as
 * many, up to `quick`, until a call ends. */
#define WATCH_PAUSE (10 * SENNIT_MILLISECOND)
#define WATCH_LEAST SENNIT_MILLISECOND

/* The same after the system has refused a thread: twice as long each time. */
#define WATCH_MOST SENNIT_SECOND

void sn_blocking_threads_init(struct blocking_threads *p, uint32_t limit)
{
	a_init(&p->word, 0);
	p->calls = NULL;
	p->idle = NULL;
	p->choose = !limit;
	p->limit = limit ? limit : LIMIT_DEFAULT;
	p->quick = limit ? limit : QUICK_DEFAULT;
	p->ceiling = p->quick;
	p->more = 1;
	p->count = 0;
	p->waiting = 0;
	p->moved = 0;
	p->pause = WATCH_PAUSE;
	p->ask_at = 0;
	p->watched = false;
	a_init(&p->closed, 0);
	a_init(&p->names, 0);
}

bool sn_blocking_threads_must_choose(const struct blocking_threads *p)
{
	return p->choose && p->count >= LIMIT_LEAST;
}

/* Lower *limit to the share, but not below LIMIT_LEAST. */
static void lower_thread_limit(uint32_t *limit, uint32_t share)
{
	if (share < LIMIT_LEAST)
		share = LIMIT_LEAST;
	if (*limit > share)
		*limit = share;
}

void sn_blocking_threads_choose(struct blocking_threads *p)
{
	const uint32_t all = os_thread_limit();
	uint32_t       word = sn_wait_queue_lock(&p->word);

	p->choose = false;
	lower_thread_limit(&p->limit, all / LIMIT_SHARE);
	lower_thread_limit(&p->quick, all / QUICK_SHARE);
	lower_thread_limit(&p->ceiling, all / QUICK_SHARE);
	sn_wait_queue_unlock(&p->word, word);
}

struct blocking_count sn_blocking_threads_count(struct blocking_threads *p)
{
	const sennit_time     now = os_now();
	uint32_t              word = sn_wait_queue_lock(&p->word);
	struct blocking_count c = { .threads = p->count,
				    .most = p->limit,
				    .waiting = p->waiting };

	if (c.waiting && now > p->moved)
		c.stuck = now - p->moved;
	sn_wait_queue_unlock(&p->word, word);
	return c;
}

struct blocking_thread *sn_blocking_threads_take_idle(
	struct blocking_threads *p)
{
	struct blocking_thread *first;

	if (!p->idle)
		return NULL;
	first = container_of(p->idle, struct blocking_thread, link);
	sn_link_leave(&p->idle, &first->link);
	first->idle = false;
	return first;
}

void sn_blocking_thread_give(struct blocking_thread *to, struct waiter *call)
{
	uint32_t state;

	to->given = call;
	TORTURE_POINT(); /* taken, but may be asleep */
	/* -> blocking_thread.give: the call */
	state = a_swap_rel(&to->state, BLOCKING_THREAD_GIVEN);
	TORTURE_POINT(); /* it may already work, or have ended */
	if (state == BLOCKING_THREAD_SLEEPS)
		os_word_wake_one(&to->state);
}

/* The thread that holds back, if there is one, has no call: it may leave, or be
 * about to start its successor. */
static void dismiss_watch(struct blocking_threads *p)
{
	uint32_t word = sn_wait_queue_lock(&p->word);

	a_store_rlx(&p->closed, 1);
	sn_wait_queue_unlock(&p->word, word);
	TORTURE_POINT(); /* it may have seen that, or fall asleep now */
	os_word_wake_all(&p->closed);
}

void sn_blocking_threads_close(struct blocking_threads *p)
{
	struct blocking_thread *next;

	dismiss_watch(p);
	do {
		uint32_t word = sn_wait_queue_lock(&p->word);

		next = sn_blocking_threads_take_idle(p);
		if (next)
			p->count--;
		ASSERT(next || !p->count);
		sn_wait_queue_unlock(&p->word, word);
		if (next)
			sn_blocking_thread_give(next, NULL);
	} while (next);
}

bool sn_blocking_threads_refused(struct blocking_threads *p)
{
	uint32_t word = sn_wait_queue_lock(&p->word);
	uint32_t left = --p->count;

	/* Stop trying to start threads until one rests: the existing threads
	 * must do all calls. */
	p->ceiling = left ? left : p->quick;
	sn_wait_queue_unlock(&p->word, word);
	return !left;
}

/* The deadline has passed. Returns false if another thread was faster and gave
 * self a call. */
static bool unlink_idle_thread(struct blocking_threads *p,
			       struct blocking_thread  *self)
{
	uint32_t word;
	bool     idle;

	TORTURE_POINT(); /* past the deadline, but still takeable */
	word = sn_wait_queue_lock(&p->word);
	idle = self->idle;
	if (idle) {
		sn_link_leave(&p->idle, &self->link);
		p->count--;
	}
	sn_wait_queue_unlock(&p->word, word);
	return idle;
}

void sn_blocking_thread_rest(struct blocking_threads *p,
			     struct blocking_thread  *self)
{
	a_store_rlx(&self->state,
		    BLOCKING_THREAD_RESTS); /* before others can find it */
	p->ceiling = p->quick;
	sn_link_join(&p->idle, &self->link);
	p->idle = &self->link;
	self->idle = true;
}

struct waiter *sn_blocking_thread_await(struct blocking_threads *p,
					struct blocking_thread  *self,
					sennit_time              deadline)
{
	TORTURE_POINT(); /* may be taken, not asleep yet */
	/* <- blocking_thread.give */
	while (a_load_acq(&self->state) != BLOCKING_THREAD_GIVEN) {
		uint32_t state = BLOCKING_THREAD_RESTS;

		a_cas_rlx(&self->state, &state, BLOCKING_THREAD_SLEEPS);
		if (os_word_wait(&self->state, BLOCKING_THREAD_SLEEPS,
				 deadline))
			continue;
		if (unlink_idle_thread(p, self))
			return NULL;
		deadline = SENNIT_NEVER; /* taken: a call will be given very
					  * soon */
	}
	return self->given;
}

struct waiter *sn_blocking_threads_take_call(struct blocking_threads *p)
{
	struct waiter *n = sn_wait_take_one(&p->calls);

	if (n) {
		p->waiting--;
		p->moved = os_now();
	}
	return n;
}

struct waiter *sn_blocking_thread_next(struct blocking_threads *p,
				       struct blocking_thread  *self)
{
	struct waiter *n = sn_blocking_threads_take_call(p);

	p->pause = WATCH_PAUSE;
	p->more = 1;
	if (p->ceiling > p->quick)
		p->ceiling = p->quick;
	if (!n)
		sn_blocking_thread_rest(p, self);
	return n;
}

sennit_time sn_blocking_threads_grow_at(const struct blocking_threads *p)
{
	return p->count < p->limit ? p->moved + p->pause : SENNIT_NEVER;
}

/* No call waits, and the system has refused no thread. */
static void raise_ceiling(struct blocking_threads *p)
{
	const uint32_t room = p->limit - p->count;

	p->ceiling = p->count + (p->more < room ? p->more : room);
	p->more = 2 * p->more < p->quick ? 2 * p->more : p->quick;
}

struct waiter *sn_blocking_threads_grow(struct blocking_threads *p)
{
	struct waiter *n = p->count < p->limit
				   ? sn_blocking_threads_take_call(p)
				   : NULL;

	if (n) {
		p->count++;
		p->pause = p->pause / 2 > WATCH_LEAST ? p->pause / 2
						      : WATCH_LEAST;
		if (!p->calls && p->ceiling >= p->quick)
			raise_ceiling(p);
	}
	return n;
}

sennit_time sn_blocking_threads_fail_at(const struct blocking_threads *p,
					sennit_time since, uint32_t ms)
{
	return (p->moved > since ? p->moved : since) + ms * SENNIT_MILLISECOND;
}

/* --- blocking call -------------------------------------------------------- */

#define BLOCKING_CALL "sennit_blocking_call"

static struct blocking_call *call_of(struct waiter *n)
{
	return container_of(n, struct blocking_call, waiter);
}

/* The object that the report shows. */
static const void *function_of_call(const struct blocking_call *c)
{
	return (const void *)(uintptr_t)c->run;
}

/* --- the call ----------------------------------------------------------- */

/* The fiber waits meanwhile, so its record is there. Only diagnosis reads it,
 * and checks that the wait is the same, so relaxed is enough. */
static void show_helper(const struct blocking_call *c, uint32_t thread)
{
	a_store_rlx(&c->waiter.fiber->helper, thread);
}

/* Runs with the caller's floating-point control, and restores the thread's own
 * afterwards. */
NOINLINE void sn_blocking_call_make(struct blocking_call *c)
{
	const struct worker       *self = sn_self;
	const struct sennit_fiber *outer = sn_called_by;
	uint64_t                   fp = arch_fp_control();
	uint32_t                   groups;
	void                      *context;

	if (fp != c->fp_control)
		arch_fp_set_control(c->fp_control);
	if (sn_trace_is_wanted(c->scheduler))
		sn_trace_call(c->scheduler, SENNIT_TRACED_CALL_BEGIN,
			      function_of_call(c), &c->waiter);
	sn_called_by = c->waiter.fiber;
	groups = sn_group_open_count();
	show_helper(c, os_thread_id());
	context = sn_race_begin(NULL, self ? self->home.current->low : NULL);
	sn_race_acquire(c);
	errno = c->error;
	c->result = c->run(c->argument);
	c->error = errno;
	sn_race_release(c);
	sn_race_end(context, self ? self->home.current->low : NULL);
	show_helper(c, 0);
	sn_called_by = outer;
	if (sn_trace_is_wanted(c->scheduler))
		sn_trace_call(c->scheduler, SENNIT_TRACED_CALL_END,
			      function_of_call(c), &c->waiter);
	if (arch_fp_control() != fp)
		arch_fp_set_control(fp);
	MISUSE_INHERITED(c->scheduler, BLOCKING_CALL);
	MISUSE(sn_self != self, BLOCKING_CALL,
	       "the function returned with its thread bound");
	MISUSE(sn_group_open_count() != groups, BLOCKING_CALL,
	       SN_GROUP_LEFT_OPEN);
}

/* --- the blocking thread ------------------------------------------------ */

/* Allow the thread to run on the CPUs of all workers. */
static void allow_cpus_of_workers(const sennit_scheduler *s)
{
	sennit_cpu_mask all = sn_cpu_masks_all(&s->masks);

	if (all.count) /* refused: it keeps the CPUs of its caller's worker */
		(void)os_thread_affinity(all.cpus, all.count);
}

static void init_blocking_thread(sennit_scheduler *s)
{
	enum { ROOM = 6 }; /* Linux allows 15 bytes: 6, "-call/", 3 digits */
	char name[sizeof("-call") + ROOM];

	sn_race_enter_thread();
	os_thread_block_signals();
	allow_cpus_of_workers(s);
	snprintf(name, sizeof(name), "%.*s-call", ROOM, s->name);
	os_thread_name(name, a_add_rlx(&s->blocking.names, 1));
	sn_stack_overflow_enter_call(s);
	sn_hook_thread(true);
}

/* Take a waiting call, or become idle and return NULL. */
static struct blocking_call *next_call(struct blocking_threads *p,
				       struct blocking_thread  *self)
{
	uint32_t       word = sn_wait_queue_lock(&p->word);
	struct waiter *n = sn_blocking_thread_next(p, self);

	sn_wait_queue_unlock(&p->word, sn_wait_queue_bits(p->calls, word));
	return n ? call_of(n) : NULL;
}

/* NULL: the blocking thread must end. */
static struct blocking_call *wait_for_call(sennit_scheduler       *s,
					   struct blocking_thread *self)
{
	uint64_t patience = s->config.blocking_idle_ms * SENNIT_MILLISECOND;
	struct waiter *n = sn_blocking_thread_await(&s->blocking, self,
						    os_after(patience));

	return n ? call_of(n) : NULL;
}

static void run_calls(sennit_scheduler *s, struct blocking_call *c)
{
	struct blocking_thread self;

	while (c) {
		struct blocking_call *done = c;

		sn_blocking_call_make(done);
		c = next_call(&s->blocking, &self);
		TORTURE_POINT();        /* another caller may give it work
					 * now */
		sn_wake(&done->waiter); /* *done is gone */
		if (!c)
			c = wait_for_call(s, &self);
	}
}

static void abort_as_thread_exits(void *unused)
{
	(void)unused;
	MISUSE(true, BLOCKING_CALL,
	       "the function ended its thread (pthread_exit or cancellation)");
}

static void run_blocking_thread(sennit_scheduler     *s,
				struct blocking_call *first)
{
	pthread_cleanup_push(abort_as_thread_exits, NULL);
	run_calls(s, first);
	pthread_cleanup_pop(0);
	sn_hook_thread(false);
	sn_end_thread_gone(s);
}

static void *blocking_thread_main(void *argument)
{
	struct blocking_call *first = argument;

	init_blocking_thread(first->scheduler);
	run_blocking_thread(first->scheduler, first);
	return NULL;
}

/* --- the thread that holds back ----------------------------------------- */

/* What it knows. */
struct watch {
	sennit_time next;    /* not before that it adds a thread */
	sennit_time pause;   /* until the next attempt, if it is refused */
	bool        refused; /* the system refused the last attempt */
};

/* Whether there is something to watch for, if calls wait. Lock held. */
static bool is_worth_watching(const sennit_scheduler *s)
{
	return s->blocking.count < s->blocking.limit ||
	       s->config.blocking_fail_ms;
}

/* The call that has waited longest fails. Unlocks. */
static void fail_call(struct blocking_threads *p, uint32_t word)
{
	struct waiter *n = sn_wait_take_one(&p->calls);

	p->waiting -= n != NULL;
	sn_wait_queue_unlock(&p->word, sn_wait_queue_bits(p->calls, word));
	if (n) {
		call_of(n)->failed = true;
		sn_wake(n);
	}
}

static bool start_watch(sennit_scheduler *s);

/* Begin to work: take a call, unless calls have moved since the decision. If
 * another one takes over the watch, it sleeps first. Unlocks. */
static struct blocking_call *take_call_unlock(struct blocking_threads *p,
					      uint32_t                 word)
{
	struct waiter *n = sn_blocking_threads_grow(p);

	sn_wait_queue_unlock(&p->word, sn_wait_queue_bits(p->calls, word));
	return n ? call_of(n) : NULL;
}

/* Several calls wait, so another thread must watch them before this one has a
 * call. Returns whether there is one. */
static bool pass_watch(sennit_scheduler *s, struct watch *w)
{
	w->refused = !start_watch(s);
	if (w->refused) {
		w->next = os_after(w->pause);
		w->pause = 2 * w->pause < WATCH_MOST ? 2 * w->pause
						     : WATCH_MOST;
	}
	return !w->refused;
}

enum watch_verdict {
	WATCH_END,
	WATCH_CHOOSE_LIMITS,
	WATCH_TAKE_CALL,
	WATCH_PASS_ON,
	WATCH_FAIL_CALL,
	WATCH_SLEEP
};

/* What is to be done now; WATCH_SLEEP: when to look again. Lock held. */
static enum watch_verdict judge_watch(sennit_scheduler   *s,
				      const struct watch *w, sennit_time *until)
{
	struct blocking_threads *p = &s->blocking;
	sennit_time              grow, fail = SENNIT_NEVER, now = os_now();

	if (a_load_rlx(&p->closed) || !p->calls || !is_worth_watching(s)) {
		p->watched = false;
		return WATCH_END;
	}
	if (sn_blocking_threads_must_choose(p))
		return WATCH_CHOOSE_LIMITS;
	grow = sn_blocking_threads_grow_at(p);
	if (grow < w->next)
		grow = w->next;
	if (s->config.blocking_fail_ms && (grow == SENNIT_NEVER || w->refused))
		fail = sn_blocking_threads_fail_at(
			p, call_of(sn_wait_queue_first(p->calls))->since,
			s->config.blocking_fail_ms);
	*until = grow < fail ? grow : fail;
	if (grow <= now && p->waiting > 1)
		return WATCH_PASS_ON;
	if (grow <= now)
		p->watched = false; /* when this one has begun */
	return grow <= now   ? WATCH_TAKE_CALL
	       : fail <= now ? WATCH_FAIL_CALL
			     : WATCH_SLEEP;
}

/* Returns the call to begin with, or NULL: this thread must end. */
static struct blocking_call *watch_calls(sennit_scheduler *s)
{
	struct blocking_threads *p = &s->blocking;
	struct watch             w = { .next = os_after(WATCH_LEAST),
				       .pause = WATCH_PAUSE };
	sennit_time              until = w.next;

	for (;;) {
		uint32_t           word;
		enum watch_verdict v;

		os_word_wait(&p->closed, 0, until);
		TORTURE_POINT(); /* the calls may move, or the scheduler end */
		word = sn_wait_queue_lock(&p->word);
		v = judge_watch(s, &w, &until);
		if (v == WATCH_TAKE_CALL)
			return take_call_unlock(p, word);
		if (v == WATCH_FAIL_CALL) {
			fail_call(p, word);
			continue;
		}
		sn_wait_queue_unlock(&p->word, word);
		TORTURE_POINT(); /* the calls may end, and the scheduler with
				  * them */
		if (v == WATCH_END)
			return NULL;
		if (v == WATCH_CHOOSE_LIMITS)
			sn_blocking_threads_choose(p);
		else if (v == WATCH_PASS_ON && pass_watch(s, &w))
			return take_call_unlock(p,
						sn_wait_queue_lock(&p->word));
	}
}

static void *watch_main(void *scheduler)
{
	init_blocking_thread(scheduler);
	run_blocking_thread(scheduler, watch_calls(scheduler));
	return NULL;
}

/* The caller is inside, and `watched` is set. Returns false if the system
 * refuses. */
static bool start_watch(sennit_scheduler *s)
{
	pthread_t thread;

	sn_inside_enter(&s->end);
	if (!os_thread_start(&thread, watch_main, s, 0))
		return true;
	(void)sn_inside_leave(&s->end);
	return false;
}

/* --- the caller --------------------------------------------------------- */

/* Prepare the caller to be woken. Only the blocking thread that runs the call
 * will wake it. */
static void prepare_caller_wait(struct blocking_call *c)
{
	sn_waiter_init(&c->waiter, SN_UNCANCELLED);
	sn_wait_show(&c->waiter, SENNIT_WAITS_FOR_CALL, function_of_call(c),
		     SN_UNCANCELLED);
}

static void wait_for_call_end(struct blocking_call *c)
{
	struct blocking_threads *p = &c->scheduler->blocking;

	(void)!sn_wait_in(&p->word, &p->calls, &c->waiter, SN_UNCANCELLED);
}

/* Start a blocking thread, which is already counted, with *c. Returns false if
 * the system refuses. */
static bool start_blocking_thread(struct blocking_call *c)
{
	sennit_scheduler *s = c->scheduler;
	pthread_t         thread;

	prepare_caller_wait(c);
	sn_inside_enter(&s->end);
	if (!os_thread_start(&thread, blocking_thread_main, c, 0))
		return true;
	(void)sn_inside_leave(&s->end);
	sn_fiber_state_run(&c->waiter.fiber->state);
	return false;
}

/* No blocking thread is left, and the waiting calls relied on the thread that
 * the caller tried to start. So the caller runs its own call and all of
 * them. */
static void run_queued_calls_here(struct blocking_call *c)
{
	struct blocking_threads *p = &c->scheduler->blocking;
	struct waiter           *n;

	sn_slots_give(sn_self); /* the slot is free, as if a blocking thread ran
				 * the calls */
	sn_blocking_call_make(c);
	do {
		uint32_t word = sn_wait_queue_lock(&p->word);

		n = sn_blocking_threads_take_call(p);
		sn_wait_queue_unlock(&p->word,
				     sn_wait_queue_bits(p->calls, word));
		if (n) {
			sn_blocking_call_make(call_of(n));
			sn_wake(n);
		}
	} while (n);
	sn_slots_take_inside(sn_self);
}

/* Join the queue of calls. Returns whether the caller must start the thread
 * that watches it. Lock held on entry. */
static bool enqueue_call(struct blocking_call *c, uint32_t word,
			 sennit_time deadline)
{
	struct blocking_threads *p = &c->scheduler->blocking;
	bool                     must_watch;

	c->failed = false;
	c->since = os_now();
	must_watch = !p->watched && c->since >= p->ask_at &&
		     is_worth_watching(c->scheduler);
	if (!p->calls)
		p->moved = c->since;
	p->waiting++;
	p->watched |= must_watch;
	sn_waiter_init(&c->waiter, deadline);
	sn_wait_show(&c->waiter, SENNIT_WAITS_FOR_CALL, function_of_call(c),
		     deadline);
	word |= sn_wait_queue_join(&p->calls, &c->waiter, false);
	sn_wait_queue_unlock(&p->word, word);
	return must_watch;
}

/* If the system refuses, calls wait for those that have begun. A later call
 * asks again. */
static void try_start_watch(sennit_scheduler *s)
{
	struct blocking_threads *p = &s->blocking;
	uint32_t                 word;

	if (start_watch(s))
		return;
	word = sn_wait_queue_lock(&p->word);
	p->watched = false;
	p->ask_at = os_after(WATCH_PAUSE);
	sn_wait_queue_unlock(&p->word, word);
}

/* The call waits no longer, and has not begun. */
static void uncount_waiting(struct blocking_threads *p)
{
	uint32_t word = sn_wait_queue_lock(&p->word);

	p->waiting--;
	sn_wait_queue_unlock(&p->word, word);
}

/* Wait in the queue of calls. Lock held on entry. */
static int wait_in_call_queue(struct blocking_call *c, uint32_t word,
			      sennit_time deadline)
{
	struct blocking_threads *p = &c->scheduler->blocking;
	int                      err;

	if (!deadline) {
		sn_wait_queue_unlock(&p->word, word);
		return -ETIMEDOUT;
	}
	if (enqueue_call(c, word, deadline))
		try_start_watch(c->scheduler);
	err = sn_wait_in(&p->word, &p->calls, &c->waiter, deadline);
	if (err)
		uncount_waiting(p);
	return err ? err : c->failed ? -EAGAIN : 0;
}

/* Start one more blocking thread. If the system refuses, the existing threads
 * must do the call: returns false. */
static bool add_blocking_thread(struct blocking_call *c)
{
	if (start_blocking_thread(c)) {
		wait_for_call_end(c);
		return true;
	}
	if (!sn_blocking_threads_refused(&c->scheduler->blocking))
		return false;
	run_queued_calls_here(c);
	return true;
}

/* Give the call to an idle blocking thread. */
static void give_call_to_idle(struct blocking_thread *to,
			      struct blocking_call   *c)
{
	prepare_caller_wait(c);
	sn_blocking_thread_give(to, &c->waiter);
	wait_for_call_end(c);
}

int sn_blocking_call(struct blocking_call *c, sennit_time deadline)
{
	struct blocking_threads *p;

	sn_observe_count_call(&sn_self->observe);
	c->scheduler = sn_self->scheduler;
	c->fp_control = arch_fp_control();
	p = &c->scheduler->blocking;
	for (;;) {
		uint32_t                word = sn_wait_queue_lock(&p->word);
		struct blocking_thread *to = sn_blocking_threads_take_idle(p);
		bool choose = !to && sn_blocking_threads_must_choose(p);

		if (!to && !choose && p->count >= p->ceiling)
			return wait_in_call_queue(c, word, deadline);
		p->count += !to && !choose;
		sn_wait_queue_unlock(&p->word, word);
		if (choose) {
			sn_blocking_threads_choose(p);
		} else if (to) {
			give_call_to_idle(to, c);
			return 0;
		} else if (add_blocking_thread(c)) {
			return 0;
		}
	}
}

/* --- blocking ------------------------------------------------------------- */

/* On an unbound thread there are no fibers to run meanwhile, so the call runs
 * in place. */
static int call_or_run_in_place(struct blocking_call *c, sennit_time deadline)
{
	int err;

	if (!sn_self) {
		c->result = c->run(c->argument);
		return 0;
	}
	c->error = errno;
	sn_race_release(c);
	err = sn_blocking_call(c, deadline);
	if (!err)
		sn_race_acquire_last(c);
	errno = c->error; /* starting a thread may have changed it */
	return err;
}

/* sennit_blocking_call() has no way to return an error. */
COLD static void fail_without_thread(sennit_scheduler *s)
{
	const struct blocking_count c = sn_blocking_threads_count(&s->blocking);
	char                        why[256];

	snprintf(why, sizeof(why),
		 "it cannot begin: each of the %" PRIu32 " threads is in a "
		 "call, and none has ended for %" PRIu32 " ms "
		 "(max_blocking_threads and blocking_fail_ms of "
		 "sennit_config; sennit_blocking_call_until returns -EAGAIN)",
		 c.threads, s->config.blocking_fail_ms);
	MISUSE(true, BLOCKING_CALL, why);
}

void *sennit_blocking_call(sennit_blocking_fn *run, void *argument)
{
	struct blocking_call c;

	MISUSE(!run, "sennit_blocking_call", "there is no function");
	c.run = run;
	c.argument = argument;
	if (unlikely(call_or_run_in_place(&c, SN_UNCANCELLED)))
		fail_without_thread(c.scheduler);
	return c.result;
}

int sennit_blocking_call_until(sennit_blocking_fn *run, void *argument,
			       void **result, sennit_time deadline)
{
	struct blocking_call c;
	int                  err;

	MISUSE(!run, "sennit_blocking_call_until", "there is no function");
	c.run = run;
	c.argument = argument;
	err = call_or_run_in_place(&c, deadline);
	if (!err && result)
		*result = c.result;
	return err;
}
