/* SPDX-License-Identifier: Apache-2.0 */
/* local.c - values of a task: no other task sees them, they outlive waits, and
 * their destructors run when the task ends. */
#include "local_values.h"
#include "testing/counting_allocator.h"

#include <errno.h>

/* --- ownership of values ------------------------------------------------ */

static void hold_one_value(void *argument)
{
	struct local_case *w = argument;
	int                mine;

	EXPECT(!sennit_local_get(w->key));
	must_set(w->key, &mine);
	sennit_wait_group_done(&w->ready);
	EXPECT(!sennit_event_wait(&w->go));
	EXPECT(sennit_local_get(w->key) == &mine);
	sennit_yield();
	EXPECT(sennit_local_get(w->key) == &mine);
	sennit_wait_group_done(&w->done);
}

TEST_WITH_WORKERS(each_task_keeps_its_own_across_waits)
{
	enum { TASKS = 50 };
	struct local_case values = { .key = must_create(NULL) };
	int               threads_own;

	must_set(values.key, &threads_own);
	sennit_wait_group_init(&values.ready, TASKS);
	sennit_wait_group_init(&values.done, TASKS);
	for (int i = 0; i < TASKS; i++)
		must_schedule(hold_one_value, &values);
	sennit_wait_group_wait(&values.ready);
	assert_ptr_equal(sennit_local_get(values.key), &threads_own);
	sennit_event_set(&values.go);
	sennit_wait_group_wait(&values.done);
	assert_ptr_equal(sennit_local_get(values.key), &threads_own);
	sennit_local_key_destroy(values.key);
}

static void run_some_here(void *argument)
{
	struct local_case *w = argument;

	for (int i = 0; i < 20; i++)
		run_here(find_nothing_and_set, w);
}

TEST_WITH_WORKERS(the_next_task_on_the_same_stack_begins_with_nothing)
{
	struct local_case values = { .key = must_create(NULL) };

	in_a_task(run_some_here, &values);
	sennit_local_key_destroy(values.key);
}

static void set_two(void *argument)
{
	struct local_case *w = argument;

	must_set(w->key, w);
	EXPECT(!sennit_local_get(w->other));
	must_set(w->other, argument);
	must_set(w->key, NULL);
	EXPECT(!sennit_local_get(w->key));
	EXPECT(sennit_local_get(w->other) == argument);
	must_set(w->other, NULL);
}

TEST_WITH_WORKERS(two_keys_do_not_meet)
{
	struct local_case values = { .key = must_create(NULL),
				     .other = must_create(NULL) };

	in_each_place(set_two, &values);
	sennit_local_key_destroy(values.key);
	sennit_local_key_destroy(values.other);
}

/* --- destructors -------------------------------------------------------- */

static void leave_a_value(void *argument)
{
	struct local_case *w = argument;

	must_set(w->key, w);
	sennit_yield();
	EXPECT(atomic_load(&w->ended) == 0);
}

TEST_WITH_WORKERS(destructors_run_when_the_task_has_returned)
{
	struct local_case values = { .key = must_create(count_up) };

	must_schedule(leave_a_value, &values);
	assert_soon(atomic_load(&values.ended) == 1);
	sennit_local_key_destroy(values.key);
}

static void wait_and_count(void *value)
{
	struct local_case *w = value;

	if (sennit_local_get(w->key))
		atomic_fetch_add(&w->wrong, 1);
	EXPECT(!sennit_event_wait(&w->go));
	atomic_fetch_add(&w->ended, 1);
}

TEST_WITH_WORKERS(a_destructor_may_wait_and_finds_null)
{
	const uint64_t    before = fibers_of(w->s);
	struct local_case values = { .key = must_create(wait_and_count) };

	must_schedule(leave_a_value, &values);
	assert_soon(fibers_of(w->s) == before + 1);
	assert_int_equal(atomic_load(&values.ended), 0);
	sennit_event_set(&values.go);
	assert_soon(atomic_load(&values.ended) == 1);
	assert_int_equal(atomic_load(&values.wrong), 0);
	sennit_local_key_destroy(values.key);
}

static void set_again(void *value)
{
	struct local_case *w = value;

	atomic_fetch_add(&w->ended, 1);
	must_set(w->key, w);
}

static void see_all_rounds(void *argument)
{
	struct local_case *w = argument;

	run_here(find_nothing_and_set, w);
	/* That task has ended when another one has run on its worker. */
	run_here(find_nothing_and_set, w);
	EXPECT(atomic_load(&w->ended) >= SENNIT_LOCAL_ROUNDS);
	EXPECT(atomic_load(&w->ended) <= 2 * SENNIT_LOCAL_ROUNDS);
}

TEST_WITH_WORKERS(a_destructor_that_sets_again_has_so_many_rounds)
{
	struct local_case values = { .key = must_create(set_again) };

	in_a_task(see_all_rounds, &values);
	assert_soon(atomic_load(&values.ended) == 2 * SENNIT_LOCAL_ROUNDS);
	in_a_task(run_some_here, &values);
	assert_soon(atomic_load(&values.ended) == 22 * SENNIT_LOCAL_ROUNDS);
	sennit_local_key_destroy(values.key);
}

static void set_the_other(void *value)
{
	struct local_case *w = value;

	must_set(w->other, w);
}

TEST_WITH_WORKERS(what_a_destructor_sets_is_ended_too)
{
	struct local_case values = { .key = must_create(set_the_other),
				     .other = must_create(count_up) };

	must_schedule(leave_a_value, &values);
	assert_soon(atomic_load(&values.ended) == 1);
	sennit_local_key_destroy(values.key);
	sennit_local_key_destroy(values.other);
}

static void set_and_take_back(void *argument)
{
	struct local_case *w = argument;

	must_set(w->key, w);
	must_set(w->key, NULL);
	sennit_wait_group_done(&w->done);
}

static void take_back_and_look(void *argument)
{
	struct local_case *w = argument;

	run_here(set_and_take_back, w);
	run_here(set_and_take_back, w);
	EXPECT(atomic_load(&w->ended) == 0);
}

TEST_WITH_WORKERS(null_needs_no_destructor)
{
	struct local_case values = { .key = must_create(count_up) };

	in_a_task(take_back_and_look, &values);
	sennit_local_key_destroy(values.key);
}

/* --- keys --------------------------------------------------------------- */

static sennit_local_key all[SENNIT_LOCAL_KEYS];

static void set_all(void *argument)
{
	for (int i = SENNIT_LOCAL_KEYS - 1; i >= 0; i -= 3)
		must_set(all[i], argument);
	for (int i = 0; i < SENNIT_LOCAL_KEYS; i++) {
		void *value = sennit_local_get(all[i]);

		EXPECT(value == (i % 3 == 2 ? argument : NULL));
		must_set(all[i], argument);
	}
	for (int i = 0; i < SENNIT_LOCAL_KEYS; i++)
		EXPECT(sennit_local_get(all[i]) == argument);
}

static void grow_slowly(void *argument)
{
	for (int i = 0; i < SENNIT_LOCAL_KEYS; i++) {
		must_set(all[i], argument);
		EXPECT(sennit_local_get(all[i / 2]) == argument);
	}
}

TEST_WITH_WORKERS(all_keys_there_are_serve_one_task)
{
	struct local_case values = { .ended = 0 };
	sennit_local_key  last = { 7, 7 };

	for (int i = 0; i < SENNIT_LOCAL_KEYS; i++)
		all[i] = must_create(count_up);
	assert_int_equal(sennit_local_key_create(&last, NULL), -EAGAIN);
	assert_int_equal(last.index_, 7);
	must_schedule(set_all, &values);
	must_schedule(grow_slowly, &values);
	assert_soon(atomic_load(&values.ended) == 2 * SENNIT_LOCAL_KEYS);
	for (int i = 0; i < SENNIT_LOCAL_KEYS; i++)
		sennit_local_key_destroy(all[i]);
}

static void replace_the_key(void *argument)
{
	struct local_case     *w = argument;
	const sennit_local_key old = must_create(count_up);

	must_set(old, w);
	sennit_local_key_destroy(old);
	w->key = must_create(count_up);
	EXPECT(w->key.index_ == old.index_);
	EXPECT(!sennit_local_get(w->key));
	sennit_local_key_destroy(w->key);
}

TEST_WITH_WORKERS(a_key_made_anew_shows_and_ends_no_old_value)
{
	struct local_case values = { .ended = 0 };

	in_each_place(replace_the_key, &values);
	/* That task has ended when another one has run on its worker. */
	values.key = must_create(NULL);
	in_a_task(take_back_and_look, &values);
	sennit_local_key_destroy(values.key);
	assert_int_equal(atomic_load(&values.ended), 0);
}

/* --- memory ------------------------------------------------------------- */

static struct counting_allocator tally;

static void set_without_memory(void *argument)
{
	struct local_case *w = argument;

	must_set(all[0], w);
	atomic_store(&tally.dry, true);
	EXPECT(sennit_local_set(all[200], w) == -ENOMEM);
	EXPECT(!sennit_local_get(all[200]));
	EXPECT(sennit_local_set(all[200], NULL) == 0);
	EXPECT(sennit_local_get(all[0]) == w);
	must_set(all[0], NULL);
	atomic_store(&tally.dry, false);
	must_set(all[200], w);
}

TEST_WITH_COUNTS(without_memory_nothing_changes)
{
	const sennit_allocator a = COUNTING_ALLOCATOR(&tally);
	struct local_case      values = { .ended = 0 };
	sennit_scheduler      *s = start_with(
		     SENNIT_CONFIG(.workers = w->workers, .allocator = &a));

	assert_int_equal(sennit_thread_bind(s), 0);
	for (int i = 0; i < SENNIT_LOCAL_KEYS; i++)
		all[i] = must_create(count_up);
	in_a_task(set_without_memory, &values);
	sennit_thread_unbind();
	end_scheduler(s);
	assert_int_equal(atomic_load(&values.ended), 1);
	for (int i = 0; i < SENNIT_LOCAL_KEYS; i++)
		sennit_local_key_destroy(all[i]);
}
