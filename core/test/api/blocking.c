/* SPDX-License-Identifier: Apache-2.0 */
/* blocking.c - functions that block their thread, called from fibers: their
 * results, where they run, and what runs meanwhile. blocking_queue.c tests
 * the number of threads. */
#include "held_call.h"

#include <errno.h>
#include <fenv.h>

/* --- the called functions ----------------------------------------------- */

static void *leave_errno(void *argument)
{
	errno = *(int *)argument;
	return NULL;
}

static void *keep_errno(void *argument)
{
	*(int *)argument = errno;
	return NULL;
}

/* --- results ------------------------------------------------------------ */

static void result_in_each_place(void *argument)
{
	void *result = NULL;
	int   here;

	EXPECT(sennit_blocking_call(return_argument, &here) == &here);
	EXPECT(!sennit_blocking_call_until(return_argument, &here, &result,
					   SENNIT_NEVER));
	EXPECT(result == &here);
	EXPECT(!sennit_blocking_call_until(return_argument, &here, NULL, 0));
}

TEST_WITH_WORKERS(what_the_function_returns_comes_back)
{
	in_each_place(result_in_each_place, NULL);
}

TEST_IN_EACH_PLACE(errno_goes_there_and_comes_back)
{
	int value = ENOTDIR;

	errno = 0;
	sennit_blocking_call(leave_errno, &value);
	EXPECT(errno == ENOTDIR);
	errno = EXDEV;
	EXPECT(!sennit_blocking_call_until(keep_errno, &value, NULL, 0));
	EXPECT(errno == EXDEV);
	EXPECT(value == EXDEV);
}

static void *round_how(void *argument)
{
	*(int *)argument = fegetround();
	fesetround(FE_TOWARDZERO);
	return NULL;
}

static void rounding_of_the_caller(void *argument)
{
	int there = -1;

	fesetround(FE_UPWARD);
	sennit_blocking_call(round_how, &there);
	EXPECT(there == FE_UPWARD);
	EXPECT(fegetround() == FE_UPWARD);
	fesetround(FE_TONEAREST);
	sennit_blocking_call(round_how, &there);
	EXPECT(there == FE_TONEAREST);
	EXPECT(fegetround() == FE_TONEAREST);
}

TEST_WITH_WORKERS(rounding_goes_there_and_stays_here)
{
	rounding_of_the_caller(NULL);
	in_a_task(rounding_of_the_caller, NULL);
}

/* --- where it runs ------------------------------------------------------ */

static void place_of_a_fibers_call(void *argument)
{
	struct place p = { .name = "" };

	sennit_blocking_call(note_place, &p);
	EXPECT(!pthread_equal(p.thread, pthread_self()));
	EXPECT(!p.bound_to);
	EXPECT(!strncmp(p.name, "sennit-call/", strlen("sennit-call/")));
	EXPECT(sigismember(&p.blocked, SIGTERM) == 1);
	EXPECT(sigismember(&p.blocked, SIGSEGV) == 0);
}

TEST_WITH_WORKERS(a_fibers_call_runs_on_a_thread_of_its_own)
{
	place_of_a_fibers_call(NULL);
	in_a_task(place_of_a_fibers_call, NULL);
}

TEST_ALONE(an_unbound_threads_call_runs_in_place)
{
	struct place p;

	sennit_blocking_call(note_place, &p);
	assert_true(pthread_equal(p.thread, pthread_self()));
	assert_int_equal(sennit_blocking_call_until(note_place, &p, NULL, 0),
			 0);
	assert_true(pthread_equal(p.thread, pthread_self()));
}

static void release_hold(void *argument)
{
	let_go(argument, 1);
}

/* The only worker, or the bound thread itself, must run a task meanwhile. */
TEST_WITH_WORKERS(others_run_while_a_call_blocks)
{
	struct hold h;

	init_hold(&h);
	must_schedule_here(release_hold, &h);
	call_hold(&h);
	assert_int_equal(atomic_load(&h.ended), 1);
}

static void *live_in_another_scheduler(void *argument)
{
	sennit_scheduler *s = NULL;
	struct hold       h;

	init_hold(&h);
	EXPECT(sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 1)) == 0);
	EXPECT(sennit_thread_bind(s) == 0);
	in_a_task(release_hold, &h);
	call_hold(&h);
	sennit_thread_unbind();
	EXPECT(sennit_scheduler_shutdown(s, sennit_after(GIVE_UP)) == 0);
	return argument;
}

TEST_WITH_WORKERS(the_function_may_use_a_scheduler_of_its_own)
{
	assert_ptr_equal(sennit_blocking_call(live_in_another_scheduler, w), w);
}

struct meeting {
	sennit_event from_fiber, from_call;
};

static void *meet(void *argument)
{
	struct meeting *m = argument;

	sennit_event_set(&m->from_call);
	EXPECT(!sennit_event_wait(&m->from_fiber));
	return sennit_blocking_call(return_argument, m);
}

static void answer_meeting(void *argument)
{
	struct meeting *m = argument;

	EXPECT(!sennit_event_wait(&m->from_call));
	sennit_event_set(&m->from_fiber);
}

TEST_WITH_WORKERS(the_function_may_wait_for_fibers)
{
	static struct meeting m;

	memset(&m, 0, sizeof(m));
	must_schedule(answer_meeting, &m);
	assert_ptr_equal(sennit_blocking_call(meet, &m), &m);
}
