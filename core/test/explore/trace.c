/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - a task that is scheduled after a recording has started is recorded,
 * whichever worker takes it, and wherever from, in every order. */
#include "explore.h"

#include "testing/trace_file.h"
#include "sennit/trace.h"

/* The worker looks into its mailbox after 61 tasks: the recording starts about
 * then. */
enum { CHILDREN = 3, BUSY = 70, START = 58 };

static sennit_wait_group done;
static unsigned          ran; /* one thread runs at a time */

static void before(void *unused)
{
	ran++;
	sennit_wait_group_done(&done);
}

/* Keep a worker busy, so that it takes tasks without having been idle. */
static void be_busy(void *unused)
{
	for (int i = 0; i < BUSY; i++)
		spawn(before, NULL);
}

static void child(void *unused)
{
	sennit_wait_group_done(&done);
}

/* Some of the children are stolen. */
static void parent(void *unused)
{
	for (int i = 0; i < CHILDREN; i++)
		spawn(child, NULL);
	sennit_wait_group_done(&done);
}

static struct trace_file trace_of(sennit_scheduler *s)
{
	struct trace_file f;
	FILE             *file = tmpfile();

	REQUIRE(file);
	REQUIRE(!sennit_trace_write(s, fileno(file)));
	trace_file_read(&f, fileno(file));
	fclose(file);
	REQUIRE(!f.wrong);
	return f;
}

static size_t begun(const struct trace_file *f, sennit_task_fn *run)
{
	return trace_file_count(f, SENNIT_TRACED_TASK_BEGIN, (uintptr_t)run);
}

static void record_tasks(uint32_t workers, uint32_t busy)
{
	const sennit_trace_options few = { .size = sizeof(few),
					   .events = 1024 };
	sennit_scheduler          *s;
	struct trace_file          f;

	s = begin_with(SENNIT_CONFIG(.workers = workers));
	sennit_wait_group_init(&done, busy + CHILDREN + 1);
	ran = 0;
	if (busy)
		spawn(be_busy, NULL);
	while (busy && ran < START)
		sennit_yield();
	REQUIRE(!sennit_trace_start(s, &few));
	spawn(parent, NULL);
	sennit_wait_group_wait(&done);
	f = trace_of(s);
	REQUIRE(begun(&f, parent) == 1);
	REQUIRE(begun(&f, child) == CHILDREN);
	trace_file_free(&f);
	end(s);
}

TEST_EXPLORED(idle_workers_record_what_they_take)
{
	record_tasks(2, 0);
}

TEST_EXPLORED(busy_workers_record_what_they_take)
{
	record_tasks(1, BUSY);
}
