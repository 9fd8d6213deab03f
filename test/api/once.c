/* SPDX-License-Identifier: Apache-2.0 */
/* once.c - one caller runs it, all see its effects, and a failure passes the
 * turn on. */
#include "crowd.h"

#include <errno.h>

/* --- one caller, in each place ------------------------------------------ */

static void count(void *argument)
{
	++*(unsigned *)argument;
}

static int fail_then_count(void *argument)
{
	unsigned *n = argument;

	return ++*n < 3 ? -EAGAIN : 0;
}

static void try_calls(void *argument)
{
	sennit_once o = SENNIT_ONCE_INIT;
	unsigned    n = 0;

	(void)argument;
	EXPECT(!sennit_once_is_done(&o));
	sennit_once_call(&o, count, &n);
	EXPECT(sennit_once_is_done(&o));
	sennit_once_call(&o, count, &n);
	EXPECT(sennit_once_attempt_until(&o, fail_then_count, &n, 0) == 0);
	EXPECT(n == 1);
	sennit_once_destroy(&o);
	sennit_once_init(&o);
	EXPECT(!sennit_once_is_done(&o));
	sennit_once_call(&o, count, &n);
	EXPECT(n == 2);
}

static void try_attempts(void *argument)
{
	sennit_once o;
	unsigned    n = 0;

	(void)argument;
	memset(&o, 0, sizeof(o));
	EXPECT(sennit_once_attempt_until(&o, fail_then_count, &n,
					 SENNIT_NEVER) == -EAGAIN);
	EXPECT(!sennit_once_is_done(&o));
	EXPECT(sennit_once_attempt_until(&o, fail_then_count, &n, 1) ==
	       -EAGAIN);
	sennit_once_destroy(&o);
	EXPECT(sennit_once_attempt_until(&o, fail_then_count, &n, 0) == 0);
	EXPECT(sennit_once_is_done(&o));
	EXPECT(sennit_once_attempt_until(&o, fail_then_count, &n, 0) == 0);
	EXPECT(n == 3);
}

TEST_WITH_WORKERS(the_first_caller_does_it_no_other)
{
	in_each_place(try_calls, NULL);
}

TEST_WITH_WORKERS(what_fails_is_not_done)
{
	in_each_place(try_attempts, NULL);
}

/* --- many callers ------------------------------------------------------- */

struct setting_up {
	sennit_once  once;
	sennit_event go_on;
	atomic_bool  begun;
	unsigned     runs;  /* runs so far */
	unsigned     fails; /* fixed: number of runs that fail */
	atomic_uint  failed, done;
};

static void set_up_slowly(void *argument)
{
	struct setting_up *u = argument;

	atomic_store(&u->begun, true);
	EXPECT(!sennit_event_wait(&u->go_on));
	u->runs++;
}

static void use(void *argument)
{
	struct setting_up *u = argument;

	sennit_once_call(&u->once, set_up_slowly, u);
	EXPECT(u->runs == 1);
}

TEST_WITH_WORKERS(all_wait_for_the_one_who_does_it)
{
	struct setting_up u = { .runs = 0 };
	struct crowd      c = { .s = w->s,
				.run = use,
				.argument = &u,
				.tasks = 20,
				.bound = 2,
				.unbound = 3 };

	gather(&c);
	assert_soon(atomic_load(&u.begun));
	assert_soon(waiting_for(w->s, &u.once) >= 21);
	assert_int_equal(said_to_be(w->s, &u.once), SENNIT_WAITS_FOR_ONCE);
	assert_false(sennit_once_is_done(&u.once));
	assert_int_equal(u.runs, 0);
	sennit_event_set(&u.go_on);
	disperse(&c);
	assert_int_equal(u.runs, 1);
	sennit_once_destroy(&u.once);
}

static int set_up_at_last(void *argument)
{
	struct setting_up *u = argument;
	const unsigned     run = ++u->runs;

	EXPECT(!sennit_event_wait(&u->go_on));
	sennit_yield();
	EXPECT(u->runs == run); /* no other caller runs it meanwhile */
	return run <= u->fails ? -EAGAIN : 0;
}

static void attempt(void *argument)
{
	struct setting_up *u = argument;
	const sennit_time  t = sennit_after(100 * SENNIT_SECOND);
	const int rc = sennit_once_attempt_until(&u->once, set_up_at_last, u,
						 t);

	EXPECT(rc == 0 || rc == -EAGAIN);
	atomic_fetch_add(rc ? &u->failed : &u->done, 1);
}

TEST_WITH_WORKERS(who_waits_tries_when_another_fails)
{
	struct setting_up u = { .fails = 10 };
	struct crowd      c = { .s = w->s,
				.run = attempt,
				.argument = &u,
				.tasks = 15,
				.bound = 2,
				.unbound = 3 };

	gather(&c);
	assert_soon(waiting_for(w->s, &u.once) >= 16);
	sennit_event_set(&u.go_on);
	disperse(&c);
	assert_int_equal(u.runs, 11);
	assert_int_equal(atomic_load(&u.failed), 10);
	assert_int_equal(atomic_load(&u.done), 10);
	assert_true(sennit_once_is_done(&u.once));
}

TEST_WITH_WORKERS(all_may_fail)
{
	struct setting_up u = { .fails = 100 };
	struct crowd      c = { .s = w->s,
				.run = attempt,
				.argument = &u,
				.tasks = 15,
				.bound = 1,
				.unbound = 1 };

	sennit_event_set(&u.go_on);
	gather(&c);
	disperse(&c);
	assert_int_equal(u.runs, 17);
	assert_int_equal(atomic_load(&u.failed), 17);
	assert_false(sennit_once_is_done(&u.once));
	sennit_once_destroy(&u.once); /* fails while it runs */
}

/* --- deadlines ---------------------------------------------------------- */

static int must_not_run(void *argument)
{
	(void)argument;
	EXPECT(false);
	return 0;
}

static void give_up(void *argument)
{
	sennit_once      *o = argument;
	const sennit_time soon = sennit_after(2 * SENNIT_MILLISECOND);

	EXPECT(sennit_once_attempt_until(o, must_not_run, NULL, 0) ==
	       -ETIMEDOUT);
	EXPECT(sennit_once_attempt_until(o, must_not_run, NULL, soon) ==
	       -ETIMEDOUT);
	EXPECT(sennit_now() >= soon);
	EXPECT(sennit_once_attempt_until(o, must_not_run, NULL, soon) ==
	       -ETIMEDOUT);
}

TEST_WITH_WORKERS(a_deadline_bounds_the_wait_for_another)
{
	struct setting_up u = { .runs = 0 };
	struct crowd c = { .s = w->s, .run = use, .argument = &u, .tasks = 3 };

	gather(&c);
	assert_soon(waiting_for(w->s, &u.once) == 2);
	in_each_place(give_up, &u.once);
	sennit_event_set(&u.go_on);
	disperse(&c);
	assert_int_equal(u.runs, 1);
}
