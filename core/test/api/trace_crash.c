/* SPDX-License-Identifier: Apache-2.0 */
/* trace_crash.c - the trace that a process leaves when it aborts, and what the
 * child of a fork does with that of its parent. Each crash happens in a child.
 */
#include "testing/child.h"
#include "testing/dig.h"
#include "testing/trace_file.h"
#include "testing/with_workers.h"
#include "sennit/trace.h"

#include <signal.h>

static sennit_scheduler *s;

static const char name[] = "before the crash";

static void misuse(void *unused)
{
	static sennit_mutex mutex;

	sennit_trace_value(name, 1);
	sennit_mutex_unlock(&mutex);
}

static void overflow(void *unused)
{
	sennit_trace_value(name, 1);
	(void)!dig(1);
}

static void fork_and_misuse(void *unused)
{
	pid_t child;
	int   status;

	child = begin_child();
	if (!child) {
		if (!freopen("/dev/null", "w", stderr))
			_exit(0);
		sennit_trace_value(name, 2); /* nothing: it is not bound */
		sennit_trace_stop(s);        /* misuse */
		_exit(0);
	}
	status = await_child(child);
	if (!WIFSIGNALED(status))
		_exit(4);
}

static void live(sennit_task_fn *run, int fd)
{
	const sennit_trace_options options = { .size = sizeof(options),
					       .flags = SENNIT_TRACE_CRASH_FD,
					       .crash_fd = fd };

	signal(SIGABRT, SIG_DFL);
	signal(SIGSEGV, SIG_DFL);
	if (!freopen("/dev/null", "w", stderr) ||
	    sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 2)) ||
	    sennit_trace_start(s, &options) || sennit_thread_bind(s) ||
	    sennit_schedule(run, NULL))
		_exit(3);
	sennit_thread_unbind();
	if (sennit_scheduler_shutdown(s, SENNIT_NEVER))
		_exit(3);
	_exit(0);
}

static struct trace_file left_by(sennit_task_fn *run, FILE *file, bool dies)
{
	struct trace_file f;
	pid_t             child = begin_child();
	int               status;

	if (!child)
		live(run, fileno(file));
	status = await_child(child);
	if (dies ? !WIFSIGNALED(status) && !WEXITSTATUS(status) : status != 0)
		fail_msg("status %d", status);
	trace_file_read(&f, fileno(file));
	return f;
}

static void expect_trace(sennit_task_fn *run)
{
	FILE             *file = tmpfile();
	struct trace_file f;

	assert_non_null(file);
	f = left_by(run, file, true);
	if (f.wrong)
		fail_msg("the file is wrong: %s", f.wrong);
	assert_true(f.head.flags & SENNIT_TRACE_FILE_CRASH);
	assert_true(f.maps > 0);
	assert_int_equal(
		trace_file_count(&f, SENNIT_TRACED_VALUE, (uintptr_t)name), 1);
	assert_int_equal(
		trace_file_count(&f, SENNIT_TRACED_TASK_BEGIN, (uintptr_t)run),
		1);
	trace_file_free(&f);
	fclose(file);
}

TEST(misuse_leaves_a_trace)
{
	expect_trace(misuse);
}

/* AddressSanitizer and ThreadSanitizer have handlers of their own, which end
 * the process. */
TEST(an_overflow_leaves_a_trace)
{
#if defined(SN_ASAN) || defined(SN_TSAN)
	skip();
#endif
	expect_trace(overflow);
}

TEST(a_forked_child_writes_no_trace)
{
	FILE             *file = tmpfile();
	struct trace_file f;

	assert_non_null(file);
	f = left_by(fork_and_misuse, file, false);
	assert_int_equal(f.size, 0);
	trace_file_free(&f);
	fclose(file);
}
