/* SPDX-License-Identifier: Apache-2.0 */
#include "wait/blocking.h"

#include "base/compiler.h"
#include "life/end.h"
#include "life/life.h"
#include "life/slots.h"
#include "observe/observe.h"
#include "observe/profiler.h"
#include "observe/trace.h"
#include "os/os.h"
#include "os/quota.h"
#include "sched/fiber.h"
#include "wait/wait.h"
#include "sennit/blocking.h"

#include <errno.h>
#include <stdio.h>

/* --- blocking threads ----------------------------------------------------- */

/* Without a configured limit the library chooses it: LIMIT_DEFAULT, or
 * 1/LIMIT_SHARE of the threads that the process may have, if that is less, but
 * at least LIMIT_LEAST. The first LIMIT_LEAST threads start before that number
 * is queried. */
#define LIMIT_DEFAULT 256u
#define LIMIT_SHARE   4u
#define LIMIT_LEAST   8u

void sn_blocking_threads_init(struct blocking_threads *p, uint32_t limit)
{
	a_init(&p->word, 0);
	p->calls = NULL;
	p->idle = NULL;
	p->choose = !limit;
	p->limit = limit ? limit : LIMIT_DEFAULT;
	p->ceiling = p->limit;
	p->count = 0;
	a_init(&p->names, 0);
}

bool sn_blocking_threads_must_choose(const struct blocking_threads *p)
{
	return p->choose && p->count >= LIMIT_LEAST;
}

void sn_blocking_threads_choose(struct blocking_threads *p)
{
	uint32_t share = os_thread_limit() / LIMIT_SHARE;
	uint32_t word;

	if (share < LIMIT_LEAST)
		share = LIMIT_LEAST;
	word = sn_wait_queue_lock(&p->word);
	p->choose = false;
	if (p->limit > share)
		p->limit = share;
	if (p->ceiling > share)
		p->ceiling = share;
	sn_wait_queue_unlock(&p->word, word);
}

uint32_t sn_blocking_threads_count(struct blocking_threads *p)
{
	uint32_t word = sn_wait_queue_lock(&p->word);
	uint32_t count = p->count;

	sn_wait_queue_unlock(&p->word, word);
	return count;
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

void sn_blocking_threads_close(struct blocking_threads *p)
{
	struct blocking_thread *next;

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
	p->ceiling = left ? left : p->limit;
	sn_wait_queue_unlock(&p->word, word);
	return !left;
}

/* The deadline has passed. Returns false if another thread was faster and gave
 * self a call. */
static bool leave(struct blocking_threads *p, struct blocking_thread *self)
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
	p->ceiling = p->limit;
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
		if (leave(p, self))
			return NULL;
		deadline = SENNIT_NEVER; /* taken: a call will be given very
					  * soon */
	}
	return self->given;
}

/* --- blocking call -------------------------------------------------------- */

#define CALL "sennit_blocking_call"

static struct blocking_call *call_of(struct waiter *n)
{
	return container_of(n, struct blocking_call, waiter);
}

/* The object that the report shows. */
static const void *where(const struct blocking_call *c)
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
	void                      *context;

	if (fp != c->fp_control)
		arch_fp_set_control(c->fp_control);
	if (sn_trace_is_wanted(c->scheduler))
		sn_trace_call(c->scheduler, SENNIT_TRACED_CALL_BEGIN, where(c),
			      &c->waiter);
	sn_called_by = c->waiter.fiber;
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
		sn_trace_call(c->scheduler, SENNIT_TRACED_CALL_END, where(c),
			      &c->waiter);
	if (arch_fp_control() != fp)
		arch_fp_set_control(fp);
	MISUSE_INHERITED(c->scheduler, CALL);
	MISUSE(sn_self != self, CALL,
	       "the function returned with its thread bound");
}

/* --- the blocking thread ------------------------------------------------ */

/* Allow the thread to run on the CPUs of all workers. */
static void spread_out(const sennit_scheduler *s)
{
	sennit_cpu_mask all = sn_cpu_masks_all(&s->masks);

	if (all.count) /* refused: it keeps the CPUs of its caller's worker */
		(void)os_thread_affinity(all.cpus, all.count);
}

static void begin(sennit_scheduler *s)
{
	enum { ROOM = 6 }; /* Linux allows 15 bytes: 6, "-call/", 3 digits */
	char name[sizeof("-call") + ROOM];

	sn_race_enter_thread();
	os_thread_block_signals();
	spread_out(s);
	snprintf(name, sizeof(name), "%.*s-call", ROOM, s->name);
	os_thread_name(name, a_add_rlx(&s->blocking.names, 1));
	sn_profiler_thread(true);
}

/* Take a waiting call, or become idle and return NULL. */
static struct blocking_call *next_call(struct blocking_threads *p,
				       struct blocking_thread  *self)
{
	uint32_t       word = sn_wait_queue_lock(&p->word);
	struct waiter *n = sn_wait_take_one(&p->calls);

	if (!n)
		sn_blocking_thread_rest(p, self);
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

static void work(sennit_scheduler *s, struct blocking_call *c)
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

static void thread_ends(void *unused)
{
	(void)unused;
	MISUSE(true, CALL,
	       "the function ended its thread (pthread_exit or cancellation)");
}

static void *thread_main(void *argument)
{
	struct blocking_call *first = argument;
	sennit_scheduler     *s = first->scheduler;

	begin(s);
	pthread_cleanup_push(thread_ends, NULL);
	work(s, first);
	pthread_cleanup_pop(0);
	sn_profiler_thread(false);
	sn_end_thread_gone(s);
	return NULL;
}

/* --- the caller --------------------------------------------------------- */

/* Prepare the caller to be woken. Only the blocking thread that runs the call
 * will wake it. */
static void hand_over(struct blocking_call *c)
{
	sn_waiter_init(&c->waiter, SN_UNCANCELLED);
	sn_wait_show(&c->waiter, SENNIT_WAITS_FOR_CALL, where(c),
		     SN_UNCANCELLED);
}

static void wait_for_proxy(struct blocking_call *c)
{
	struct blocking_threads *p = &c->scheduler->blocking;

	(void)!sn_wait_in(&p->word, &p->calls, &c->waiter, SN_UNCANCELLED);
}

/* Start a blocking thread, which is already counted, with *c. Returns false if
 * the system refuses. */
static bool start(struct blocking_call *c)
{
	sennit_scheduler *s = c->scheduler;
	pthread_t         thread;

	hand_over(c);
	sn_inside_enter(&s->end);
	if (!os_thread_start(&thread, thread_main, c, 0))
		return true;
	(void)sn_inside_leave(&s->end);
	sn_fiber_state_run(&c->waiter.fiber->state);
	return false;
}

/* No blocking thread is left, and the waiting calls relied on the thread that
 * the caller tried to start. So the caller runs its own call and all of
 * them. */
static void stand_in(struct blocking_call *c)
{
	struct blocking_threads *p = &c->scheduler->blocking;
	struct waiter           *n;

	sn_slots_give(sn_self); /* the slot is free, as if a blocking thread ran
				 * the calls */
	sn_blocking_call_make(c);
	do {
		uint32_t word = sn_wait_queue_lock(&p->word);

		n = sn_wait_take_one(&p->calls);
		sn_wait_queue_unlock(&p->word,
				     sn_wait_queue_bits(p->calls, word));
		if (n) {
			sn_blocking_call_make(call_of(n));
			sn_wake(n);
		}
	} while (n);
	sn_slots_take_inside(sn_self);
}

/* Wait in the queue of calls. Lock held on entry. */
static int wait_in_turn(struct blocking_call *c, uint32_t word,
			sennit_time deadline)
{
	struct blocking_threads *p = &c->scheduler->blocking;

	if (!deadline) {
		sn_wait_queue_unlock(&p->word, word);
		return -ETIMEDOUT;
	}
	sn_waiter_init(&c->waiter, deadline);
	sn_wait_show(&c->waiter, SENNIT_WAITS_FOR_CALL, where(c), deadline);
	word |= sn_wait_queue_join(&p->calls, &c->waiter, false);
	sn_wait_queue_unlock(&p->word, word);
	return sn_wait_in(&p->word, &p->calls, &c->waiter, deadline);
}

/* Start one more blocking thread. If the system refuses, the existing threads
 * must do the call: returns false. */
static bool grow(struct blocking_call *c)
{
	if (start(c)) {
		wait_for_proxy(c);
		return true;
	}
	if (!sn_blocking_threads_refused(&c->scheduler->blocking))
		return false;
	stand_in(c);
	return true;
}

/* Give the call to an idle blocking thread. */
static void give(struct blocking_thread *to, struct blocking_call *c)
{
	hand_over(c);
	sn_blocking_thread_give(to, &c->waiter);
	wait_for_proxy(c);
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
			return wait_in_turn(c, word, deadline);
		p->count += !to && !choose;
		sn_wait_queue_unlock(&p->word, word);
		if (choose) {
			sn_blocking_threads_choose(p);
		} else if (to) {
			give(to, c);
			return 0;
		} else if (grow(c)) {
			return 0;
		}
	}
}

/* --- blocking ------------------------------------------------------------- */

/* On an unbound thread there are no fibers to run meanwhile, so the call runs
 * in place. */
static int call(struct blocking_call *c, sennit_time deadline)
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

void *sennit_blocking_call(sennit_blocking_fn *run, void *argument)
{
	struct blocking_call c;

	MISUSE(!run, "sennit_blocking_call", "there is no function");
	c.run = run;
	c.argument = argument;
	(void)!call(&c, SN_UNCANCELLED);
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
	err = call(&c, deadline);
	if (!err && result)
		*result = c.result;
	return err;
}
