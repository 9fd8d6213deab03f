/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_scheduler.c - misuse of binding, scheduling, fibers, ending.
 */
#include "misuse.h"
#include "sennit/end.h"
#include "sennit/trace.h"

static void do_nothing(void *argument)
{
	(void)argument;
}

/* --- main --------------------------------------------------------------- */

static int end_at_once(void *argument)
{
	return argument ? 1 : 0;
}

static void commit_main_without_workers(const struct offence *o)
{
	const sennit_config c = { .size = sizeof(c),
				  .workers = SENNIT_WORKERS_NONE };

	(void)o;
	(void)!sennit_main(end_at_once, NULL, &c);
}

TEST_WITH_COUNTS(main_without_workers_on_a_bound_thread)
{
	assert_misuse(w, "sennit_main", commit_main_without_workers);
}

/* --- binding ------------------------------------------------------------ */

static void commit_bind_twice(const struct offence *o)
{
	(void)!sennit_bind(o->s);
}

TEST_WITH_COUNTS(binding_twice)
{
	assert_misuse(w, "sennit_bind", commit_bind_twice);
}

static void task_binds(void *argument)
{
	(void)!sennit_bind(argument);
}

static void commit_bind_in_a_task(const struct offence *o)
{
	in_a_task(task_binds, o->s);
}

TEST_WITH_COUNTS(binding_in_a_task)
{
	assert_misuse(w, "sennit_bind", commit_bind_in_a_task);
}

static void commit_unbind_twice(const struct offence *o)
{
	(void)o;
	sennit_unbind();
	sennit_unbind();
}

TEST_WITH_COUNTS(unbinding_an_unbound_thread)
{
	assert_misuse(w, "sennit_unbind", commit_unbind_twice);
}

static void task_unbinds(void *argument)
{
	(void)argument;
	sennit_unbind();
}

static void commit_unbind_in_a_task(const struct offence *o)
{
	(void)o;
	in_a_task(task_unbinds, NULL);
}

TEST_WITH_COUNTS(unbinding_in_a_task)
{
	assert_misuse(w, "sennit_unbind", commit_unbind_in_a_task);
}

static void commit_unbind_in_a_task_at_home(const struct offence *o)
{
	(void)o;
	must_schedule_here(task_unbinds, NULL);
	EXPECT_SOON(false);
}

TEST_WITH_COUNTS(unbinding_in_a_task_of_the_bound_thread)
{
	assert_misuse(w, "sennit_unbind", commit_unbind_in_a_task_at_home);
}

/* --- scheduling --------------------------------------------------------- */

static void commit_schedule_unbound(const struct offence *o)
{
	(void)o;
	sennit_unbind();
	must_schedule(do_nothing, NULL);
}

TEST_WITH_COUNTS(scheduling_without_a_scheduler)
{
	assert_misuse(w, "sennit_schedule", commit_schedule_unbound);
}

static void commit_argument_take_unbound(const struct offence *o)
{
	(void)o;
	sennit_unbind();
	(void)!sennit_argument_alloc(NULL, 1);
}

TEST_WITH_COUNTS(taking_an_argument_unbound)
{
	assert_misuse(w, "sennit_argument_alloc", commit_argument_take_unbound);
}

static void commit_schedule_copy_unbound(const struct offence *o)
{
	(void)o;
	sennit_unbind();
	(void)!sennit_schedule_copy(do_nothing, "", 1);
}

TEST_WITH_COUNTS(scheduling_a_copy_without_a_scheduler)
{
	assert_misuse(w, "sennit_schedule_copy", commit_schedule_copy_unbound);
}

static void commit_schedule_task_unbound(const struct offence *o)
{
	const sennit_task t = { .run = do_nothing };

	(void)o;
	sennit_unbind();
	(void)!sennit_schedule_task(&t);
}

TEST_WITH_COUNTS(scheduling_a_task_without_a_scheduler)
{
	assert_misuse(w, "sennit_schedule_task", commit_schedule_task_unbound);
}

static void commit_enqueue_unbound(const struct offence *o)
{
	const sennit_task t = { .run = do_nothing };

	sennit_unbind();
	(void)!sennit_schedule_on(o->s, &t);
}

TEST_IN_WORLDS(enqueueing_where_nobody_would_run_it,
	       WITHOUT(enqueueing_where_nobody_would_run_it, open_count,
		       close_count))
{
	assert_misuse(w, "sennit_schedule_on", commit_enqueue_unbound);
}

static void commit_enqueue_many_unbound(const struct offence *o)
{
	const sennit_task t = { .run = do_nothing };

	sennit_unbind();
	(void)!sennit_schedule_many_on(o->s, &t, 1);
}

TEST_IN_WORLDS(enqueueing_many_where_nobody_would_run_them,
	       WITHOUT(enqueueing_many_where_nobody_would_run_them, open_count,
		       close_count))
{
	assert_misuse(w, "sennit_schedule_many_on",
		      commit_enqueue_many_unbound);
}

static void commit_schedule_many_unbound(const struct offence *o)
{
	(void)o;
	sennit_unbind();
	(void)!sennit_schedule_many(NULL, 0);
}

TEST_WITH_COUNTS(scheduling_many_unbound)
{
	assert_misuse(w, "sennit_schedule_many", commit_schedule_many_unbound);
}

static void commit_enqueue_same_thread(const struct offence *o)
{
	const sennit_task t = { .run = do_nothing,
				.flags = SENNIT_TASK_SAME_THREAD };

	sennit_unbind();
	(void)!sennit_schedule_on(o->s, &t);
}

TEST_WITH_COUNTS(enqueueing_for_the_same_thread_unbound)
{
	assert_misuse(w, "sennit_schedule_on", commit_enqueue_same_thread);
}

/* --- fibers, schedulers ------------------------------------------------- */

static bool never(void *argument)
{
	(void)argument;
	return false;
}

static void commit_fiber_wait_unbound(const struct offence *o)
{
	sennit_mutex m = SENNIT_MUTEX_INIT;

	(void)o;
	sennit_unbind();
	sennit_mutex_lock(&m);
	(void)!sennit_fiber_wait(&m, never, NULL, SENNIT_NEVER);
}

TEST_WITH_COUNTS(waiting_as_a_fiber_without_one)
{
	assert_misuse(w, "sennit_fiber_wait", commit_fiber_wait_unbound);
}

static void commit_shutdown_bound(const struct offence *o)
{
	(void)!sennit_scheduler_shutdown(o->s, SENNIT_NEVER);
}

TEST_WITH_COUNTS(shutting_down_what_one_is_bound_to)
{
	assert_misuse(w, "sennit_scheduler_shutdown", commit_shutdown_bound);
}

static void task_shuts_down(void *argument)
{
	(void)!sennit_scheduler_shutdown(argument, SENNIT_NEVER);
}

static void commit_shutdown_in_a_task(const struct offence *o)
{
	in_a_task(task_shuts_down, o->s);
}

TEST_WITH_COUNTS(shutting_down_from_an_own_task)
{
	assert_misuse(w, "sennit_scheduler_shutdown",
		      commit_shutdown_in_a_task);
}

static void commit_small_stats(const struct offence *o)
{
	sennit_stats stats = { .size = sizeof(stats) - 1 };

	sennit_scheduler_stats(o->s, &stats);
}

TEST_WITH_COUNTS(stats_of_too_small_a_size)
{
	assert_misuse(w, "sennit_scheduler_stats", commit_small_stats);
}

static void *take_askew(void *context, size_t size, size_t alignment)
{
	static _Alignas(64) char memory[1 << 16];

	(void)context;
	assert_true(size + alignment < sizeof(memory));
	return memory + alignment / 2;
}

static void give_nothing(void *context, void *memory, size_t size)
{
	(void)context;
	(void)memory;
	(void)size;
}

static void commit_memory_askew(const struct offence *o)
{
	const sennit_allocator a = { take_askew, give_nothing, NULL };
	sennit_scheduler      *s;

	(void)o;
	(void)!sennit_scheduler_create(&s, SENNIT_CONFIG(.allocator = &a));
}

TEST_WITH_COUNTS(memory_that_is_not_aligned)
{
	assert_misuse(w, "sennit_config.allocator", commit_memory_askew);
}

/* Only without workers, for tests of that case. */
#define WITHOUT_COUNT(f) CASE_(f, "_w0", open_count, close_count, 0)

/* --- references, NULL --------------------------------------------------- */

static void commit_release_twice(const struct offence *o)
{
	sennit_scheduler_release(o->s);
	sennit_scheduler_release(o->s); /* the binding's reference */
	sennit_sleep(100 * SENNIT_SECOND);
}

TEST_WITH_COUNTS(releasing_once_too_often)
{
	assert_misuse(w, "sennit_scheduler_release", commit_release_twice);
}

/* The weak handle keeps the memory. */
static void commit_shutdown_twice(const struct offence *o)
{
	sennit_scheduler *s = NULL;

	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = o->workers)))
		abort();
	(void)!sennit_scheduler_weak(s);
	(void)!sennit_scheduler_shutdown(s, SENNIT_NEVER);
	(void)!sennit_scheduler_shutdown(s, SENNIT_NEVER);
}

TEST_WITH_COUNTS(shutting_down_once_too_often)
{
	assert_misuse(w, "sennit_scheduler_shutdown", commit_shutdown_twice);
}

static void commit_stats_of_null(const struct offence *o)
{
	sennit_stats stats = { .size = sizeof(stats) };

	(void)o;
	sennit_scheduler_stats(NULL, &stats);
}

static void commit_stats_into_null(const struct offence *o)
{
	sennit_scheduler_stats(o->s, NULL);
}

TEST_WITH_COUNTS(stats_of_null)
{
	assert_misuse(w, "sennit_scheduler_stats", commit_stats_of_null);
	assert_misuse(w, "sennit_scheduler_stats", commit_stats_into_null);
}

static void commit_trace_of_null(const struct offence *o)
{
	(void)o;
	sennit_trace_visit(NULL, NULL, NULL);
}

TEST_WITH_COUNTS(a_trace_of_null)
{
	assert_misuse(w, "sennit_trace_visit", commit_trace_of_null);
}

static void commit_create_into_null(const struct offence *o)
{
	(void)o;
	(void)!sennit_scheduler_create(NULL, NULL);
}

TEST_WITH_COUNTS(creating_into_null)
{
	assert_misuse(w, "sennit_scheduler_create", commit_create_into_null);
}
