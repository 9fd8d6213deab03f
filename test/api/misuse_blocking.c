/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_blocking.c - misuse of blocking calls. */
#include "misuse.h"

static void commit_no_function(const struct offence *o)
{
	(void)o;
	sennit_blocking_call(NULL, NULL);
}

static void commit_no_function_in_time(const struct offence *o)
{
	(void)o;
	(void)!sennit_blocking_call_until(NULL, NULL, NULL, SENNIT_NEVER);
}

TEST_WITH_COUNTS(a_call_of_nothing)
{
	assert_misuse(w, "sennit_blocking_call", commit_no_function);
	assert_misuse(w, "sennit_blocking_call_until",
		      commit_no_function_in_time);
}

static void *hold_for_ever(void *held)
{
	sennit_event never = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);

	sennit_event_set(held);
	(void)!sennit_event_wait(&never);
	return NULL;
}

static void call_hold(void *held)
{
	sennit_blocking_call(hold_for_ever, held);
}

static void *return_argument(void *argument)
{
	return argument;
}

static void commit_wait_for_a_thread(const struct offence *o)
{
	static sennit_event held = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	const sennit_config config = { .size = sizeof(config),
				       .workers = o->workers,
				       .max_blocking_threads = 1,
				       .blocking_fail_ms = 1 };
	sennit_scheduler   *s = start_with(&config);

	sennit_unbind();
	EXPECT(!sennit_bind(s));
	must_schedule(call_hold, &held);
	EXPECT(!sennit_event_wait(&held));
	sennit_blocking_call(return_argument, NULL);
}

TEST_WITH_COUNTS(a_call_that_cannot_begin)
{
	assert_misuse(w, "sennit_blocking_call", commit_wait_for_a_thread);
}

static void *stay_bound(void *s)
{
	EXPECT(sennit_bind(s) == 0);
	return NULL;
}

static void commit_stay_bound(const struct offence *o)
{
	sennit_blocking_call(stay_bound, o->s);
}

TEST_WITH_COUNTS(a_function_that_leaves_its_thread_bound)
{
	assert_misuse(w, "sennit_blocking_call", commit_stay_bound);
}

#ifndef SENNIT_RACE /* ThreadSanitizer knows no end of a thread in a context */
static void *end_thread(void *argument)
{
	pthread_exit(argument);
}

static void commit_end_thread(const struct offence *o)
{
	(void)o;
	sennit_blocking_call(end_thread, NULL);
}

TEST_WITH_COUNTS(a_function_that_ends_its_thread)
{
	assert_misuse(w, "sennit_blocking_call", commit_end_thread);
}
#endif

/* Runs in the grandchild, which aborts; the child then aborts because of
 * that. */
static void *return_twice(void *argument)
{
	pid_t child = fork();
	int   status = 0;

	if (!child)
		return argument;
	waitpid(child, &status, 0);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT)
		abort();
	return argument;
}

static void commit_return_twice(const struct offence *o)
{
	(void)o;
	sennit_blocking_call(return_twice, NULL);
}

TEST_WITH_COUNTS(a_function_that_returns_in_a_forked_child)
{
	assert_misuse(w, "sennit_blocking_call", commit_return_twice);
}
