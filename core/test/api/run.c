/* SPDX-License-Identifier: Apache-2.0 */
/* run.c - sennit_scheduler_run: the function is a task, and has ended when the
 * call returns, whatever kind of thread has called it. */
#include "testing/with_workers.h"

#include <errno.h>
#include <pthread.h>

struct program {
	sennit_scheduler *s;
	atomic_uint       runs;
	atomic_uint       parts;
	bool          bound_to; /* what sennit_scheduler_current() is inside */
	pthread_t     ran_on;
	sennit_fiber *ran_as;
	sennit_wait_group joined;
};

static void do_part(void *program)
{
	struct program *p = program;

	sennit_yield();
	atomic_fetch_add(&p->parts, 1);
	sennit_wait_group_done(&p->joined);
}

/* Fork and join as a task does. */
static void play(void *program)
{
	struct program *p = program;

	p->bound_to = sennit_scheduler_current() == p->s;
	p->ran_on = pthread_self();
	p->ran_as = sennit_fiber_current();
	sennit_wait_group_init(&p->joined, 20);
	for (int i = 0; i < 20; i++)
		must_schedule(do_part, p);
	sennit_wait_group_wait(&p->joined);
	sennit_sleep(SENNIT_MILLISECOND);
	atomic_fetch_add(&p->runs, 1);
}

static void assert_played(const struct program *p, unsigned times)
{
	assert_int_equal(atomic_load(&p->runs), times);
	assert_int_equal(atomic_load(&p->parts), 20 * times);
	assert_true(p->bound_to);
}

TEST_WITH_COUNTS(an_unbound_thread_sleeps_until_it_has_ended)
{
	struct program p = { .s = start_scheduler(w->workers) };

	assert_int_equal(sennit_scheduler_run(p.s, play, &p), 0);
	assert_played(&p, 1);
	assert_null(sennit_scheduler_current());
	/* On a worker, if there is one. */
	assert_int_equal(!!pthread_equal(p.ran_on, pthread_self()),
			 w->threads == 0);
	assert_int_equal(sennit_scheduler_run(p.s, play, &p), 0);
	assert_played(&p, 2);
	end_scheduler(p.s);
}

TEST_WITH_WORKERS(a_bound_thread_waits_as_a_fiber)
{
	struct program p = { .s = w->s };

	assert_int_equal(sennit_scheduler_run(p.s, play, &p), 0);
	assert_played(&p, 1);
	assert_ptr_equal(sennit_scheduler_current(), w->s);
	assert_ptr_not_equal(p.ran_as, sennit_fiber_current());
}

/* --- from a task -------------------------------------------------------- */

struct call {
	struct program    p;
	sennit_wait_group ended;
};

static void call_from_task(void *call)
{
	struct call        *c = call;
	const sennit_fiber *self = sennit_fiber_current();
	const pthread_t     here = pthread_self();

	EXPECT(!sennit_scheduler_run(c->p.s, play, &c->p));
	EXPECT(sennit_fiber_current() == self);
	EXPECT(atomic_load(&c->p.runs) == 1);
	EXPECT(sennit_scheduler_current() != c->p.s ||
	       pthread_equal(c->p.ran_on, here));
	EXPECT((sennit_scheduler_current() == c->p.s) == (c->p.ran_as == self));
	sennit_wait_group_done(&c->ended);
}

static void call_in_task(struct call *c)
{
	sennit_wait_group_init(&c->ended, 1);
	must_schedule(call_from_task, c);
	sennit_wait_group_wait(&c->ended);
	assert_played(&c->p, 1);
}

TEST_WITH_WORKERS(a_task_calls_it)
{
	struct call c = { .p.s = w->s };

	call_in_task(&c);
}

TEST_WITH_WORKERS(a_task_of_another_scheduler_waits)
{
	struct call c = { .p.s = start_scheduler(2) };

	call_in_task(&c);
	end_scheduler(c.p.s);
}

/* --- errors ------------------------------------------------------------- */

TEST_WITH_WORKERS(without_a_function_nothing_runs)
{
	assert_int_equal(sennit_scheduler_run(w->s, NULL, NULL), -EINVAL);
}
