/* SPDX-License-Identifier: Apache-2.0 */
/* gate_count.c - which thread ends a scheduler that counts its tasks, and which
 * may still take a reference. Only in builds with SENNIT_END=count. */
#include "park/gate.h"

#include "testing/child.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct gate gate_with(uint32_t references, uint32_t tasks)
{
	struct gate g;

	sn_gate_init(&g, references, 0);
	if (tasks)
		sn_gate_add_tasks(&g, tasks);
	return g;
}

TEST(the_last_reference_ends_it)
{
	struct gate g = gate_with(2, 0);

	assert_int_equal(sn_gate_references(&g), 2);
	assert_false(sn_gate_release(&g));
	assert_false(sn_gate_is_done(&g));
	assert_true(sn_gate_release(&g));
	assert_true(sn_gate_is_done(&g));
}

TEST(the_last_task_ends_it)
{
	struct gate g = gate_with(1, 2);

	assert_false(sn_gate_end_task(&g));
	assert_false(sn_gate_release(&g)); /* a task is left */
	assert_false(sn_gate_is_done(&g));
	assert_true(sn_gate_end_task(&g));
	assert_true(sn_gate_is_done(&g));
}

TEST(a_task_may_bring_it_back)
{
	struct gate g = gate_with(1, 1);

	assert_false(sn_gate_release(&g));
	assert_true(sn_gate_retain(&g)); /* although there was none */
	assert_false(sn_gate_end_task(&g));
	assert_true(sn_gate_release(&g));
}

TEST(nobody_comes_in_once_it_is_done)
{
	struct gate g = gate_with(1, 0);

	assert_true(sn_gate_release(&g));
	assert_false(sn_gate_retain(&g));
	assert_false(sn_gate_enter(&g));
	assert_int_equal(sn_gate_references(&g), 0);
}

TEST(idle_workers_play_no_part)
{
	struct gate g = gate_with(1, 0);

	assert_true(sn_gate_enter(&g));
	assert_false(sn_gate_leave(&g));
	assert_false(sn_gate_leave(&g));
	assert_false(sn_gate_is_done(&g));
	assert_true(sn_gate_enter(&g));
	assert_true(sn_gate_release(&g));
	assert_true(sn_gate_ends_beside_workers(&g));
}

TEST(tasks_that_could_not_be_queued_leave_nothing)
{
	struct gate g = gate_with(1, 3);

	sn_gate_drop_tasks(&g, 3);
	assert_false(sn_gate_is_done(&g));
	assert_true(sn_gate_release(&g));
}

TEST(a_scheduler_that_never_began_is_done)
{
	struct gate g = gate_with(1, 0);

	sn_gate_abandon(&g);
	assert_true(sn_gate_is_done(&g));
}

/* --- misuse ------------------------------------------------------------- */

/* act, in a child, aborts and says so. */
static void expect_abort(void (*act)(void), const char *said)
{
	char        text[1024];
	int         words;
	const pid_t child = begin_heard_child(&words);
	int         status;

	if (!child) {
		act();
		_exit(0);
	}
	status = await_words(child, words, text, sizeof(text));
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_non_null(strstr(text, said));
}

static void release_without_reference(void)
{
	struct gate g = gate_with(0, 1);

	(void)sn_gate_release(&g);
}

static void one_task_too_many(void)
{
	struct gate g = gate_with(1, UINT32_MAX);

	sn_gate_add_tasks(&g, 1);
}

TEST(a_release_too_many_is_reported)
{
	expect_abort(release_without_reference, "no reference to release");
}

TEST(more_tasks_than_the_count_holds_are_reported)
{
	expect_abort(one_task_too_many, "too many tasks of a scheduler");
}
