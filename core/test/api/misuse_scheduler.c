/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_scheduler.c - misuse of binding, scheduling, fibers, ending.
 */
#include "testing/misuse.h"
#include "sennit/end.h"
#include "sennit/trace.h"

static void do_nothing(void *argument)
{
}

static const sennit_task nothing = { .run = do_nothing };

/* --- main --------------------------------------------------------------- */

static int end_at_once(void *argument)
{
	return argument ? 1 : 0;
}

MISUSE_BY(main_without_workers_on_a_bound_thread, "sennit_run",
	  (void)!sennit_run(end_at_once, NULL,
			    SENNIT_CONFIG(.workers = SENNIT_WORKERS_NONE),
			    NULL));

/* --- binding ------------------------------------------------------------ */

static void task_binds(void *argument)
{
	(void)!sennit_thread_bind(argument);
}

static void task_unbinds(void *argument)
{
	sennit_thread_unbind();
}

MISUSE_BY(binding_twice, "sennit_thread_bind", (void)!sennit_thread_bind(o->s));
MISUSE_BY(binding_in_a_task, "sennit_thread_bind", in_a_task(task_binds, o->s));
MISUSE_BY(unbinding_an_unbound_thread, "sennit_thread_unbind",
	  sennit_thread_unbind(), sennit_thread_unbind());
MISUSE_BY(unbinding_in_a_task, "sennit_thread_unbind",
	  in_a_task(task_unbinds, NULL));
MISUSE_BY(unbinding_in_a_task_of_the_bound_thread, "sennit_thread_unbind",
	  must_schedule_here(task_unbinds, NULL), EXPECT_SOON(false));

/* --- scheduling while unbound ------------------------------------------- */

static const sennit_task nothing_here = { .run = do_nothing,
					  .flags = SENNIT_TASK_SAME_THREAD };

MISUSE_BY(scheduling_without_a_scheduler, "sennit_schedule",
	  sennit_thread_unbind(), must_schedule(do_nothing, NULL));
MISUSE_BY(taking_an_argument_unbound, "sennit_argument_alloc",
	  sennit_thread_unbind(), (void)!sennit_argument_alloc(NULL, 1));
MISUSE_BY(scheduling_a_copy_without_a_scheduler, "sennit_schedule_copy",
	  sennit_thread_unbind(),
	  (void)!sennit_schedule_copy(do_nothing, "", 1));
MISUSE_BY(scheduling_a_task_without_a_scheduler, "sennit_schedule_task",
	  sennit_thread_unbind(), (void)!sennit_schedule_task(&nothing));
MISUSE_BY(scheduling_many_unbound, "sennit_schedule_many",
	  sennit_thread_unbind(), (void)!sennit_schedule_many(NULL, 0));
MISUSE_BY(enqueueing_for_the_same_thread_unbound, "sennit_schedule_task_on",
	  sennit_thread_unbind(),
	  (void)!sennit_schedule_task_on(o->s, &nothing_here));
MISUSE_IN_BY(TEST_WITHOUT_COUNT, enqueueing_where_nobody_would_run_it,
	     "sennit_schedule_task_on", sennit_thread_unbind(),
	     (void)!sennit_schedule_task_on(o->s, &nothing));
MISUSE_IN_BY(TEST_WITHOUT_COUNT, enqueueing_many_where_nobody_would_run_them,
	     "sennit_schedule_many_on", sennit_thread_unbind(),
	     (void)!sennit_schedule_many_on(o->s, &nothing, 1));

/* --- fibers, schedulers ------------------------------------------------- */

static bool never(void *argument)
{
	return false;
}

static void task_shuts_down(void *argument)
{
	(void)!sennit_scheduler_shutdown(argument, SENNIT_NEVER);
}

static void *take_askew(void *context, size_t size, size_t alignment)
{
	static _Alignas(64) char memory[1 << 16];

	assert_true(size + alignment < sizeof(memory));
	return memory + alignment / 2;
}

static void give_nothing(void *context, void *memory, size_t size)
{
}

static const sennit_allocator askew = { take_askew, give_nothing, NULL };
static sennit_scheduler      *other;
static sennit_mutex           mutex;
static sennit_stats           stats = { .size = sizeof(stats) };

MISUSE_BY(waiting_as_a_fiber_without_one, "sennit_fiber_wait",
	  sennit_thread_unbind(), sennit_mutex_lock(&mutex),
	  (void)!sennit_fiber_wait(&mutex, never, NULL, SENNIT_NEVER));
MISUSE_BY(shutting_down_what_one_is_bound_to, "sennit_scheduler_shutdown",
	  task_shuts_down(o->s));
MISUSE_BY(shutting_down_from_an_own_task, "sennit_scheduler_shutdown",
	  in_a_task(task_shuts_down, o->s));
MISUSE_BY(stats_of_too_small_a_size, "sennit_scheduler_get_stats", stats.size--,
	  sennit_scheduler_get_stats(o->s, &stats));
MISUSE_BY(memory_that_is_not_aligned, "sennit_config.allocator",
	  (void)!sennit_scheduler_create(&other,
					 SENNIT_CONFIG(.allocator = &askew)));

/* --- references, NULL --------------------------------------------------- */

MISUSE_TEST(releasing_once_too_often, "sennit_scheduler_release")
{
	sennit_scheduler_release(o->s);
	sennit_scheduler_release(o->s); /* the binding's reference */
	sennit_sleep(100 * SENNIT_SECOND);
}

/* The weak handle keeps the memory. */
MISUSE_TEST(shutting_down_once_too_often, "sennit_scheduler_shutdown")
{
	if (sennit_scheduler_create(&other,
				    SENNIT_CONFIG(.workers = o->workers)))
		abort();
	(void)!sennit_scheduler_weak(other);
	(void)!sennit_scheduler_shutdown(other, SENNIT_NEVER);
	(void)!sennit_scheduler_shutdown(other, SENNIT_NEVER);
}

MISUSE_BY(stats_of_null, "sennit_scheduler_get_stats",
	  sennit_scheduler_get_stats(NULL, &stats));
MISUSE_BY(stats_into_null, "sennit_scheduler_get_stats",
	  sennit_scheduler_get_stats(o->s, NULL));
MISUSE_BY(a_trace_of_null, "sennit_trace_visit",
	  sennit_trace_visit(NULL, NULL, NULL));
MISUSE_BY(creating_into_null, "sennit_scheduler_create",
	  (void)!sennit_scheduler_create(NULL, NULL));
