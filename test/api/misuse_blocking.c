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
