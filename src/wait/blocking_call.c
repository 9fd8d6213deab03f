/* SPDX-License-Identifier: Apache-2.0 */
#include "wait/blocking_call.h"

#include "os/os.h"
#include "worker/finalise.h"
#include "worker/slots.h"
#include "worker/trace.h"
#include "worker/fork_exit.h"

#include <errno.h>
#include <stdio.h>

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

/* Runs with the caller's floating-point control, and restores the thread's own
 * afterwards. */
static void run(struct blocking_call *c)
{
	const struct worker *self = sn_self;
	uint64_t             fp = arch_fp_control();

	if (fp != c->fp_control)
		arch_fp_set_control(c->fp_control);
	if (sn_trace_is_wanted(c->scheduler))
		sn_trace_call(c->scheduler, SENNIT_TRACED_CALL_BEGIN, where(c),
			      &c->waiter);
	errno = c->error;
	c->result = c->run(c->argument);
	c->error = errno;
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

	os_thread_block_signals();
	spread_out(s);
	snprintf(name, sizeof(name), "%.*s-call", ROOM, s->name);
	os_thread_name(name, a_add_rlx(&s->blocking.names, 1));
}

/* Take a waiting call, or become idle and return NULL. */
static struct blocking_call *next(struct blocking_threads *p,
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

		run(done);
		c = next(&s->blocking, &self);
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
	sn_finalise_worker_exits(s);
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
	run(c);
	do {
		uint32_t word = sn_wait_queue_lock(&p->word);

		n = sn_wait_take_one(&p->calls);
		sn_wait_queue_unlock(&p->word,
				     sn_wait_queue_bits(p->calls, word));
		if (n) {
			run(call_of(n));
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
