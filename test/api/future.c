/* SPDX-License-Identifier: Apache-2.0 */
/* future.c - one future: set, wait, get, set by a task. */
#include "with_workers.h"

#include "wait/cancel.h"
#include "wait/wait.h"

#include <errno.h>

static int numbers[4];

/* --- one caller, in each place ------------------------------------------ */

static void try_value(void *argument)
{
	sennit_future f = SENNIT_FUTURE_INIT;
	void         *value = &numbers[1];

	(void)argument;
	EXPECT(!sennit_future_is_set(&f));
	EXPECT(sennit_future_wait_until(&f, 0) == -ETIMEDOUT);
	EXPECT(sennit_future_get_until(&f, &value, 0) == -ETIMEDOUT);
	EXPECT(value == &numbers[1]);
	sennit_future_set(&f, &numbers[2]);
	EXPECT(sennit_future_is_set(&f));
	EXPECT(sennit_future_wait_until(&f, 0) == 0);
	EXPECT(!sennit_future_wait(&f));
	EXPECT(sennit_future_get_until(&f, &value, 0) == 0);
	EXPECT(value == &numbers[2]);
	value = NULL;
	EXPECT(sennit_future_get(&f, &value) == 0);
	EXPECT(value == &numbers[2]);
	EXPECT(sennit_future_get(&f, NULL) == 0);
	sennit_future_destroy(&f);
}

static void try_error(void *argument)
{
	sennit_future f;
	void         *value = &numbers[1];

	(void)argument;
	memset(&f, 0xa5, sizeof(f));
	sennit_future_init(&f);
	sennit_future_set_error(&f, -EPIPE);
	EXPECT(sennit_future_is_set(&f));
	EXPECT(sennit_future_wait_until(&f, 0) == 0);
	EXPECT(sennit_future_get_until(&f, &value, 0) == -EPIPE);
	EXPECT(sennit_future_get(&f, &value) == -EPIPE);
	EXPECT(sennit_future_get(&f, NULL) == -EPIPE);
	EXPECT(value == &numbers[1]);
	sennit_future_init(&f);
	EXPECT(!sennit_future_is_set(&f));
	sennit_future_set(&f, NULL);
	EXPECT(sennit_future_get(&f, &value) == 0);
	EXPECT(!value);
}

static void try_second_set(void *argument)
{
	sennit_future f = SENNIT_FUTURE_INIT;
	void         *value;

	(void)argument;
	EXPECT(sennit_future_try_set(&f, &numbers[0]) == 0);
	EXPECT(sennit_future_try_set(&f, &numbers[1]) == -EALREADY);
	EXPECT(sennit_future_try_set_error(&f, -EIO) == -EALREADY);
	EXPECT(sennit_future_get(&f, &value) == 0);
	EXPECT(value == &numbers[0]);
	sennit_future_init(&f);
	EXPECT(sennit_future_try_set_error(&f, -EIO) == 0);
	EXPECT(sennit_future_try_set(&f, &numbers[1]) == -EALREADY);
	EXPECT(sennit_future_get(&f, &value) == -EIO);
}

static void try_deadline(void *argument)
{
	sennit_future     f = SENNIT_FUTURE_INIT;
	void             *value = &numbers[1];
	const sennit_time soon = sennit_after(3 * SENNIT_MILLISECOND);

	(void)argument;
	EXPECT(sennit_future_wait_until(&f, soon) == -ETIMEDOUT);
	EXPECT(sennit_now() >= soon);
	EXPECT(sennit_future_get_until(&f, &value, soon) == -ETIMEDOUT);
	EXPECT(sennit_future_wait_until(&f, 1) == -ETIMEDOUT);
	EXPECT(value == &numbers[1]);
	sennit_future_destroy(&f); /* fails if a waiter is left */
	sennit_future_set(&f, NULL);
	EXPECT(sennit_future_wait_until(&f, 1) == 0); /* set: the deadline does
						       * not matter */
}

TEST_WITH_WORKERS(a_value_stays_once_set)
{
	in_each_place(try_value, NULL);
}

TEST_WITH_WORKERS(an_error_is_an_outcome)
{
	in_each_place(try_error, NULL);
}

TEST_WITH_WORKERS(the_second_set_changes_nothing)
{
	in_each_place(try_second_set, NULL);
}

TEST_WITH_WORKERS(a_wait_times_out_never_before_its_deadline)
{
	in_each_place(try_deadline, NULL);
}

/* --- many waiters ------------------------------------------------------- */

struct scene {
	sennit_future     future;
	sennit_wait_group gathered;
	sennit_wait_group done;
	atomic_uint       next, got, late;
	sennit_time       deadline; /* for every second waiter */
};

static void set_scene(struct scene *c, unsigned waiters)
{
	memset(c, 0, sizeof(*c));
	sennit_wait_group_init(&c->gathered, waiters);
	sennit_wait_group_init(&c->done, waiters);
	c->deadline = sennit_after(100 * SENNIT_SECOND);
}

static void get_in_scene(void *argument)
{
	struct scene *c = argument;
	void         *value = NULL;
	int           err;

	sennit_wait_group_done(&c->gathered);
	if (atomic_fetch_add(&c->next, 1) % 2)
		err = sennit_future_get(&c->future, &value);
	else
		err = sennit_future_get_until(&c->future, &value, c->deadline);
	if (err == -ETIMEDOUT)
		atomic_fetch_add(&c->late, 1);
	else
		atomic_fetch_add(&c->got, err == 0 && value == &numbers[3]);
	sennit_wait_group_done(&c->done);
}

static void *get_in_scene_as_thread(void *argument)
{
	get_in_scene(argument);
	return NULL;
}

TEST_WITH_WORKERS(every_waiter_gets_the_value)
{
	struct scene c;
	pthread_t    threads[10];
	unsigned     i;

	set_scene(&c, 110);
	for (i = 0; i < 100; i++)
		must_schedule(get_in_scene, &c);
	for (i = 0; i < 10; i++)
		threads[i] = must_start_thread(get_in_scene_as_thread, &c);
	sennit_wait_group_wait(&c.gathered);
	sennit_future_set(&c.future, &numbers[3]);
	sennit_wait_group_wait(&c.done);
	assert_int_equal(atomic_load(&c.got), 110);
	for (i = 0; i < 10; i++)
		pthread_join(threads[i], NULL);
}

TEST_WITH_WORKERS(those_whose_deadline_passes_leave_the_others)
{
	struct scene c;
	unsigned     i;

	set_scene(&c, 100);
	c.deadline = sennit_after(5 * SENNIT_MILLISECOND);
	for (i = 0; i < 100; i++)
		must_schedule(get_in_scene, &c);
	assert_soon(atomic_load(&c.late) == 50 && fibers_of(w->s) == 50);
	sennit_future_set(&c.future, &numbers[3]);
	sennit_wait_group_wait(&c.done);
	assert_int_equal(atomic_load(&c.got), 50);
}

/* --- outcomes ----------------------------------------------------------- */

struct reply {
	sennit_future future;
	char          text[100];
};

static void write_reply(void *argument)
{
	struct reply *r = argument;

	memset(r->text, 'x', sizeof(r->text));
	sennit_future_set(&r->future, r->text);
}

static void read_reply(void *argument)
{
	struct reply *r = calloc(1, sizeof(*r));
	void         *text = NULL;
	size_t        i;

	(void)argument;
	must_schedule(write_reply, r);
	EXPECT(sennit_future_get(&r->future, &text) == 0);
	EXPECT(text == r->text);
	for (i = 0; i < sizeof(r->text); i++)
		EXPECT(r->text[i] == 'x');
	memset(r, 0xa5, sizeof(*r)); /* the setter no longer uses it */
	free(r);
}

TEST_WITH_WORKERS(a_buffer_is_filled_and_may_be_freed_at_once)
{
	unsigned i;

	for (i = 0; i < 100; i++) {
		read_reply(NULL);
		in_a_task(read_reply, NULL);
	}
}

/* --- set by a task ------------------------------------------------------ */

static int fib(void *argument, void **value)
{
	const uintptr_t n = (uintptr_t)argument;
	sennit_future   left = SENNIT_FUTURE_INIT;
	void           *a, *b;

	EXPECT(!*value);
	*value = argument;
	if (n < 2)
		return 0;
	EXPECT(sennit_future_spawn(&left, fib, (void *)(n - 1)) == 0);
	b = NULL;
	EXPECT(fib((void *)(n - 2), &b) == 0);
	EXPECT(sennit_future_get(&left, &a) == 0);
	*value = (void *)((uintptr_t)a + (uintptr_t)b);
	return 0;
}

TEST_WITH_WORKERS(what_a_task_stores_is_the_value)
{
	sennit_future f = SENNIT_FUTURE_INIT;
	void         *value = NULL;

	assert_int_equal(sennit_future_spawn(&f, fib, (void *)12), 0);
	assert_int_equal(sennit_future_get(&f, &value), 0);
	assert_int_equal((uintptr_t)value, 144);
}

static int give_up(void *argument, void **value)
{
	*value = argument;
	return -EPIPE;
}

TEST_WITH_WORKERS(what_a_task_returns_is_the_error)
{
	sennit_future f = SENNIT_FUTURE_INIT;
	void         *value = &numbers[1];

	assert_int_equal(sennit_future_spawn(&f, give_up, numbers), 0);
	assert_int_equal(sennit_future_get(&f, &value), -EPIPE);
	assert_ptr_equal(value, &numbers[1]);
}

TEST_WITH_WORKERS(a_task_without_a_function_is_refused)
{
	sennit_future f = SENNIT_FUTURE_INIT;

	assert_int_equal(sennit_future_spawn(&f, NULL, NULL), -EINVAL);
	assert_false(sennit_future_is_set(&f));
}

/* --- cancelling --------------------------------------------------------- */

struct cancelling {
	struct sennit_cancel_scope scope;
	sennit_future              future, other;
	sennit_wait_group          done;
	atomic_bool last; /* the wait that cannot fail comes next */
};

static void wait_in_scope(void *argument)
{
	struct cancelling   *c = argument;
	sennit_future *const both[] = { &c->other, &c->future };
	size_t               which = 7;

	sn_fiber_set_scope(sn_self->home.current, &c->scope);
	EXPECT(sennit_future_wait_until(&c->future, SENNIT_NEVER) ==
	       -ECANCELED);
	EXPECT(sennit_future_get_until(&c->future, NULL, SENNIT_NEVER) ==
	       -ECANCELED);
	EXPECT(sennit_future_wait_any_until(both, 2, &which, SENNIT_NEVER) ==
	       -ECANCELED);
	EXPECT(sennit_future_wait_all_until(both, 2, SENNIT_NEVER) ==
	       -ECANCELED);
	EXPECT(which == 7);
	EXPECT(sennit_future_wait_until(&c->future, 0) == -ETIMEDOUT);
	atomic_store(&c->last, true);
	EXPECT(!sennit_future_wait_until(&c->future, SENNIT_UNCANCELLED));
	EXPECT(sennit_future_get_until(&c->future, NULL, SENNIT_NEVER) == 0);
	sn_fiber_set_scope(sn_self->home.current, NULL);
	sennit_wait_group_done(&c->done);
}

TEST_WITH_WORKERS(all_waits_are_cancelled_but_uncancelled_ones)
{
	struct cancelling c = { .future = SENNIT_FUTURE_INIT };

	sennit_future_init(&c.other);
	sn_cancel_scope_open(&c.scope, NULL, SENNIT_NEVER);
	sennit_wait_group_init(&c.done, 1);
	must_schedule(wait_in_scope, &c);
	assert_soon(fibers_of(w->s) == 1);
	sn_wake_cancelled(&c.scope);
	assert_soon(atomic_load(&c.last) && fibers_of(w->s) == 1);
	sennit_future_destroy(&c.other); /* fails if a waiter is left */
	sennit_future_set(&c.future, NULL);
	sennit_wait_group_wait(&c.done);
}
