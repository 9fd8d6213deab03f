/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_group_end.c - the opener of a group waits for it once, before it ends
 * itself. An end of the opener without that wait, and a call on a group after
 * it, are reported as misuse in all builds.
 */
#include "members.h"
#include "testing/misuse.h"
#include "sennit/dag.h"
#include "sennit/domain.h"
#include "sennit/metrics.h"

#include <errno.h>

static int do_nothing(void *argument)
{
	return 0;
}

/* --- openers that do not wait -------------------------------------------- */

#define TASK_ENDED \
	"sennit_group_init: the task ended without waiting for the group"

/* The group's memory outlives the task, so that the library has nothing to find
 * but the count. */
static sennit_group group;

static void leave_open(void *unused)
{
	sennit_group_init(&group, SENNIT_NEVER, 0);
}

static void leave_open_with_a_member(void *unused)
{
	leave_open(unused);
	must_spawn(&group, do_nothing, NULL);
	EXPECT(!sennit_group_wait_until(&group, SENNIT_NEVER));
}

static void leave_the_outer_open(void *unused)
{
	sennit_group g;

	leave_open(unused);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	must_spawn(&g, do_nothing, NULL);
	EXPECT(!sennit_group_wait(&g));
}

/* in_a_task() returns before the task has ended. */
static void end_as_a_task(sennit_task_fn *run)
{
	in_a_task(run, NULL);
	sennit_sleep(GIVE_UP);
}

MISUSE_BY(a_task_that_ends_with_an_open_group, TASK_ENDED,
	  end_as_a_task(leave_open));
MISUSE_BY(a_task_that_has_waited, TASK_ENDED,
	  end_as_a_task(leave_open_with_a_member));
MISUSE_BY(a_task_that_has_ended_another_group, TASK_ENDED,
	  end_as_a_task(leave_the_outer_open));
MISUSE_BY(a_timed_task, TASK_ENDED, sennit_metrics_record(o->s, 1),
	  end_as_a_task(leave_open));
MISUSE_BY(a_copied_task, TASK_ENDED,
	  EXPECT(!sennit_schedule_copy(leave_open, (char[100]){ 0 }, 100)),
	  sennit_sleep(GIVE_UP));

MISUSE_TEST(a_task_of_a_domain, TASK_ENDED)
{
	sennit_domain *d;

	EXPECT(!sennit_domain_create(&d, o->s, NULL, NULL));
	EXPECT(!sennit_domain_schedule(d, leave_open, o->s));
	EXPECT(!sennit_domain_shutdown(d, SENNIT_NEVER));
}

MISUSE_TEST(a_tied_task, TASK_ENDED)
{
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;

	EXPECT(!sennit_wait_group_spawn(&g, leave_open, o->s));
	sennit_wait_group_wait(&g);
}

static int leave_open_and_return(void *unused)
{
	leave_open(unused);
	return 0;
}

static void open_and_wait(uint32_t flags)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, flags);
	must_spawn(&g, leave_open_and_return, NULL);
	sennit_group_wait(&g);
}

/* In a task the member runs on the opener's stack. */
static void open_inside(void *unused)
{
	open_and_wait(0);
}

static void open_two_inside(void *unused)
{
	sennit_group outer;

	sennit_group_init(&outer, SENNIT_NEVER, 0);
	open_inside(unused);
	sennit_group_wait(&outer);
}

MISUSE_BY(a_member, TASK_ENDED, end_as_a_task(open_inside));
MISUSE_BY(a_member_of_the_second_group, TASK_ENDED,
	  end_as_a_task(open_two_inside));
MISUSE_BY(a_member_on_a_stack_of_its_own, TASK_ENDED,
	  open_and_wait(SENNIT_GROUP_OWN_STACKS));
MISUSE_BY(a_main, TASK_ENDED, sennit_thread_unbind(),
	  (void)!sennit_run(leave_open_and_return, NULL,
			    SENNIT_CONFIG(.workers = 1), NULL));

static int be_a_node(void *data, void *argument)
{
	return leave_open_and_return(argument);
}

MISUSE_TEST(a_node, TASK_ENDED)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	sennit_dag        *d = NULL;
	uint32_t           node;

	EXPECT(!sennit_dag_builder_add(&b, be_a_node, NULL, NULL, &node));
	EXPECT(!sennit_dag_build(&d, &b, NULL, 0));
	(void)!sennit_dag_run(d, NULL, NULL, SENNIT_NEVER);
}

static void *leave_open_in_call(void *s)
{
	sennit_group_init_on(&group, s, SENNIT_NEVER, 0);
	return NULL;
}

MISUSE_BY(a_blocking_call_that_ends_with_an_open_group, "sennit_blocking_call",
	  sennit_blocking_call(leave_open_in_call, o->s));
MISUSE_BY(unbinding_with_an_open_group, "sennit_thread_unbind",
	  leave_open(NULL), sennit_thread_unbind());
MISUSE_BY(binding_with_an_open_group, "sennit_thread_bind",
	  sennit_thread_unbind(), leave_open_in_call(o->s),
	  (void)!sennit_thread_bind(o->s));

/* --- calls after the end ------------------------------------------------- */

/* The opener ends the group without a wait, or after a sleep, or unbound. */
static void end_awake(void)
{
	leave_open(NULL);
	sennit_group_wait(&group);
}

static int wait_a_while(void *unused)
{
	sennit_sleep(SENNIT_MILLISECOND);
	return 0;
}

static void end_after_a_sleep(void)
{
	leave_open(NULL);
	must_spawn(&group, wait_a_while, NULL);
	sennit_group_drain(&group, SENNIT_NEVER);
}

static void end_unbound(sennit_scheduler *s)
{
	sennit_thread_unbind();
	leave_open_in_call(s);
	sennit_group_wait(&group);
}

#define LATE_(claim, call, end, ...) \
	MISUSE_BY(claim, call ": the group has ended", end, __VA_ARGS__)
#define LATE(claim, call, ...)                                                \
	LATE_(claim##_awake, call, end_awake(), __VA_ARGS__);                 \
	LATE_(claim##_after_a_sleep, call, end_after_a_sleep(), __VA_ARGS__); \
	LATE_(claim##_unbound, call, end_unbound(o->s), __VA_ARGS__)

LATE(a_late_wait, "sennit_group_wait", sennit_group_wait(&group));
LATE(a_late_wait_until, "sennit_group_wait_until",
     (void)!sennit_group_wait_until(&group, 0));
LATE(a_late_drain, "sennit_group_drain", sennit_group_drain(&group, 0));
LATE(a_late_count, "sennit_group_members", sennit_group_members(&group));
LATE(a_late_member, "sennit_group_spawn",
     (void)!sennit_group_spawn(&group, do_nothing, NULL));
LATE(a_late_copy, "sennit_group_spawn",
     (void)!sennit_group_spawn_copy(&group, do_nothing, NULL, 0));
LATE(a_late_member_here, "sennit_group_spawn",
     (void)!sennit_group_spawn_task(
	     &group, SENNIT_MEMBER(.run = do_nothing,
				   .flags = SENNIT_MEMBER_SAME_THREAD)));
LATE(a_late_question, "sennit_group_is_cancelled",
     (void)sennit_group_is_cancelled(&group));
LATE(a_late_cancel, "sennit_group_cancel", sennit_group_cancel(&group));
LATE(a_late_deadline, "sennit_group_set_deadline",
     sennit_group_set_deadline(&group, SENNIT_NEVER));

/* --- waits of others ------------------------------------------------------ */

static void open_and_sleep(void *unused)
{
	leave_open(unused);
	sennit_sleep(GIVE_UP);
}

static void wait_for_anothers(void *unused)
{
	sennit_group_wait(&group);
}

/* Both tasks run on the caller's thread. */
MISUSE_BY(waiting_for_a_group_that_another_task_opened, "sennit_group_wait",
	  must_schedule_here(open_and_sleep, NULL), sennit_yield(),
	  must_schedule_here(wait_for_anothers, NULL), sennit_sleep(GIVE_UP));

static int wait_for_own(void *g)
{
	return sennit_group_wait(g);
}

/* It would wait for itself. */
MISUSE_BY(waiting_as_a_member, "sennit_group_wait", leave_open(NULL),
	  EXPECT(!sennit_group_spawn_task(
		  &group, SENNIT_MEMBER(.run = wait_for_own, .argument = &group,
					.flags = SENNIT_MEMBER_SAME_THREAD))),
	  sennit_group_wait(&group));

/* --- what is no misuse --------------------------------------------------- */

static int nest(void *depth)
{
	const uintptr_t left = (uintptr_t)depth;
	sennit_group    g[3];

	for (int i = 0; i < 3; i++)
		sennit_group_init(&g[i], SENNIT_NEVER, 0);
	for (int i = 0; i < 3 && left; i++) /* in another order */
		must_spawn(&g[i], nest, (void *)(left - 1));
	EXPECT(!sennit_group_wait(&g[1]));
	sennit_yield();
	EXPECT(!sennit_group_wait(&g[0]));
	EXPECT(!sennit_group_wait_until(&g[2], SENNIT_NEVER));
	EXPECT(!sennit_group_wait(&g[2]));
	return 0;
}

static void nest_in_a_task(void *depth)
{
	(void)nest(depth);
}

static void *nest_in_a_call(void *s)
{
	sennit_group g;

	sennit_group_init_on(&g, s, SENNIT_NEVER, 0);
	if (sennit_scheduler_workers(s))
		must_spawn(&g, nest, (void *)(uintptr_t)2);
	EXPECT(!sennit_group_wait(&g));
	return NULL;
}

TEST_WITH_WORKERS(groups_that_are_waited_for_in_any_order)
{
	in_a_task(nest_in_a_task, (void *)(uintptr_t)3);
	(void)nest((void *)(uintptr_t)3);
	sennit_blocking_call(nest_in_a_call, w->s);
}

/* The groups that an unbound thread has open are not those of its child. */
TEST_WITH_WORKERS(a_child_of_a_fork_has_opened_no_group)
{
	sennit_group g;
	pid_t        child;

	sennit_thread_unbind();
	sennit_group_init_on(&g, w->s, SENNIT_NEVER, 0);
	child = fork();
	if (!child) {
		sennit_scheduler *s = NULL;

		/* Without threads, which ThreadSanitizer does not allow. */
		_exit(sennit_scheduler_create(
			      &s,
			      SENNIT_CONFIG(.workers = SENNIT_WORKERS_NONE)) ||
		      sennit_thread_bind(s));
	}
	assert_int_equal(await_child(child), 0);
	assert_int_equal(sennit_group_wait(&g), 0);
	assert_int_equal(sennit_thread_bind(w->s), 0);
}

/* A group's memory may be used for another group. */
TEST_WITH_WORKERS(memory_of_a_group_that_has_ended)
{
	sennit_group g;

	for (int i = 0; i < 3; i++) {
		sennit_group_init(&g, SENNIT_NEVER, 0);
		must_spawn(&g, do_nothing, NULL);
		EXPECT(sennit_group_cancel(&g));
		EXPECT(sennit_group_wait(&g) == -ECANCELED);
	}
}
