/* SPDX-License-Identifier: Apache-2.0 */
/* config_effect.c - the effect of the fields of a configuration: thread_init,
 * the names of threads, the size and number of stacks, spinning. */
#include "testing/with_workers.h"

/* --- thread_init, names ------------------------------------------------- */

struct roll {
	atomic_uint calls[8];
	atomic_uint wrong;
	atomic_uint tasks;
	char        names[8][16];
};

static _Thread_local bool is_ready;

static void call_roll(void *context, uint32_t index)
{
	struct roll *r = context;

	if (index >= 8 || is_ready) {
		atomic_fetch_add(&r->wrong, 1);
		return;
	}
	is_ready = true;
	atomic_fetch_add(&r->calls[index], 1);
	pthread_getname_np(pthread_self(), r->names[index], 16);
}

static void expect_ready(void *argument)
{
	struct roll *r = argument;

	if (!is_ready)
		atomic_fetch_add(&r->wrong, 1);
	atomic_fetch_add(&r->tasks, 1);
}

static void hold_roll_call(struct roll *r, uint32_t workers, const char *name)
{
	const sennit_task t = { .run = expect_ready, .argument = r };
	sennit_scheduler *s;

	memset(r, 0, sizeof(*r));
	s = start_with(SENNIT_CONFIG(.workers = workers, .name = name,
				     .thread_init = call_roll,
				     .thread_init_context = r));
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(sennit_schedule_task_on(s, &t), 0);
	end_scheduler(s);
	assert_int_equal(atomic_load(&r->tasks), 100);
	assert_int_equal(atomic_load(&r->wrong), 0);
}

TEST_ALONE(thread_init_runs_once_in_each_worker_before_tasks)
{
	struct roll r;

	hold_roll_call(&r, 8, NULL);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(atomic_load(&r.calls[i]), 1);
}

static void await_the_creator(void *context, uint32_t index)
{
	assert_soon(atomic_load((atomic_bool *)context));
	is_ready = true;
}

static void create_before_thread_init_ends(uint32_t affinity)
{
	struct roll       r;
	const sennit_task t = { .run = expect_ready, .argument = &r };
	atomic_bool       created = false;
	sennit_scheduler *s;

	memset(&r, 0, sizeof(r));
	s = start_with(SENNIT_CONFIG(.workers = 4, .affinity = affinity,
				     .thread_init = await_the_creator,
				     .thread_init_context = &created));
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(sennit_schedule_task_on(s, &t), 0);
	atomic_store(&created, true);
	end_scheduler(s);
	assert_int_equal(atomic_load(&r.tasks), 100);
	assert_int_equal(atomic_load(&r.wrong), 0);
}

TEST_ALONE(thread_init_may_wait_for_its_creator)
{
	create_before_thread_init_ends(SENNIT_AFFINITY_INHERIT);
}

TEST_ALONE(thread_init_may_wait_for_its_creator_with_an_affinity)
{
	create_before_thread_init_ends(SENNIT_AFFINITY_ANY_OF);
}

TEST_ALONE(thread_init_runs_although_the_scheduler_ends_at_once)
{
	struct roll r;

	memset(&r, 0, sizeof(r));
	end_scheduler(
		start_with(SENNIT_CONFIG(.workers = 8, .thread_init = call_roll,
					 .thread_init_context = &r)));
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(atomic_load(&r.calls[i]), 1);
}

/* --- owner -------------------------------------------------------------- */

TEST_ALONE(the_owner_is_returned_by_the_name_of_its_type)
{
	char              type[] = "owner's type"; /* compared by content */
	int               owner = 0;
	sennit_scheduler *s =
		start_with(SENNIT_CONFIG(.workers = 1, .owner = &owner,
					 .owner_type = "owner's type"));

	assert_ptr_equal(sennit_scheduler_owner(s, type), &owner);
	assert_null(sennit_scheduler_owner(s, "owner's"));
	assert_null(sennit_scheduler_owner(s, "owner's type 2"));
	assert_null(sennit_scheduler_owner(NULL, type));
	end_scheduler(s);
}

TEST_ALONE(an_owner_without_a_type_is_not_returned)
{
	int               owner = 0;
	sennit_scheduler *s =
		start_with(SENNIT_CONFIG(.workers = 1, .owner = &owner));

	assert_null(sennit_scheduler_owner(s, ""));
	end_scheduler(s);
}

TEST_ALONE(threads_are_called_name_and_index)
{
	char        name[16] = "io";
	struct roll r;

	hold_roll_call(&r, 2, NULL);
	assert_string_equal(r.names[0], "sennit/0");
	assert_string_equal(r.names[1], "sennit/1");
	hold_roll_call(&r, 2, name);
	assert_string_equal(r.names[1], "io/1");
}

/* Symptom: a name that was too long was ignored. */
TEST_ALONE(a_long_name_is_cut)
{
	struct roll r;

	hold_roll_call(&r, 1, "a-name-that-is-far-too-long");
	assert_memory_equal(r.names[0], "a-name-that", 11);
}

/* --- stacks ------------------------------------------------------------- */

struct stack_depth {
	sennit_wait_group done;
	size_t            bytes;
	atomic_uint       sum;
};

/* Touch every page of a large frame, after a wait, so on a fiber's stack. */
static NOINLINE void touch_stack(struct stack_depth *d)
{
	volatile char *frame = __builtin_alloca(d->bytes);

	for (size_t i = 0; i < d->bytes; i += 512)
		frame[i] = 1;
	for (size_t i = 0; i < d->bytes; i += 512)
		atomic_fetch_add(&d->sum, (unsigned)frame[i]);
}

static void yield_and_touch_stack(void *argument)
{
	struct stack_depth *d = argument;

	sennit_sleep(1);
	touch_stack(d);
	sennit_wait_group_done(&d->done);
}

TEST_WITH_COUNTS(stack_size_is_what_tasks_can_use)
{
	struct stack_depth d = { .bytes = 900 * 1024 };
	sennit_scheduler  *s;

	s = start_with(
		SENNIT_CONFIG(.workers = w->workers, .stack_size = 1 << 20));
	assert_int_equal(sennit_thread_bind(s), 0);
	sennit_wait_group_init(&d.done, 10);
	for (unsigned i = 0; i < 10; i++)
		must_schedule(yield_and_touch_stack, &d);
	sennit_wait_group_wait(&d.done);
	assert_int_equal(atomic_load(&d.sum), 10 * 900 * 2);
	sennit_thread_unbind();
	end_scheduler(s);
}

static void sleep_and_be_done(void *argument)
{
	sennit_sleep(100 * SENNIT_MICROSECOND);
	sennit_wait_group_done(argument);
}

TEST_WITH_COUNTS(at_the_limit_of_fibers_nothing_fails)
{
	sennit_wait_group done;
	sennit_stats      stats = { .size = sizeof(stats) };
	sennit_scheduler *s;

	s = start_with(SENNIT_CONFIG(.workers = w->workers,
				     .max_fibers = w->threads + 4));
	assert_int_equal(sennit_thread_bind(s), 0);
	sennit_wait_group_init(&done, 100);
	for (unsigned i = 0; i < 100; i++)
		must_schedule(sleep_and_be_done, &done);
	sennit_wait_group_wait(&done);
	sennit_scheduler_get_stats(s, &stats);
	assert_true(stats.stacks <= w->threads + 4);
	sennit_thread_unbind();
	end_scheduler(s);
}

/* --- spinning ----------------------------------------------------------- */

static void be_done(void *done)
{
	(void)sennit_wait_group_done(done);
}

/* How often the worker slept while this thread sent tasks, each a while after
 * the one before had ended. */
static uint64_t sleeps_between_tasks(uint32_t spin_ns)
{
	sennit_scheduler *s =
		start_with(SENNIT_CONFIG(.workers = 1, .spin_ns = spin_ns));
	sennit_wait_group done;
	const sennit_task t = { .run = be_done, .argument = &done };
	uint64_t          before = 0;
	uint64_t          sleeps;

	for (unsigned i = 0; i < 10; i++) {
		sennit_wait_group_init(&done, 1);
		assert_int_equal(sennit_schedule_task_on(s, &t), 0);
		sennit_wait_group_wait(&done);
		if (i == 0)
			before = stats_of(s).parks;
		assert_int_equal(sennit_sleep(2 * SENNIT_MILLISECOND), 0);
	}
	sleeps = stats_of(s).parks - before;
	end_scheduler(s);
	return sleeps;
}

TEST_ALONE(a_worker_looks_for_spin_ns_before_it_sleeps)
{
	assert_int_equal(sleeps_between_tasks(UINT32_MAX - 1), 0);
	assert_true(sleeps_between_tasks(SENNIT_SPIN_NONE) > 0);
}
