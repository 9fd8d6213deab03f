/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_blocking.c - misuse of blocking calls. */
#include "testing/misuse.h"

MISUSE_BY(a_call_of_nothing, "sennit_blocking_call",
	  sennit_blocking_call(NULL, NULL));
MISUSE_BY(a_call_of_nothing_until, "sennit_blocking_call_until",
	  (void)!sennit_blocking_call_until(NULL, NULL, NULL, SENNIT_NEVER));

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

MISUSE_TEST(a_call_that_cannot_begin, "sennit_blocking_call")
{
	static sennit_event held = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	const sennit_config config = { .size = sizeof(config),
				       .workers = o->workers,
				       .max_blocking_threads = 1,
				       .blocking_fail_ms = 1 };
	sennit_scheduler   *s = start_with(&config);

	sennit_thread_unbind();
	EXPECT(!sennit_thread_bind(s));
	must_schedule(call_hold, &held);
	EXPECT(!sennit_event_wait(&held));
	sennit_blocking_call(return_argument, NULL);
}

static void *stay_bound(void *s)
{
	EXPECT(sennit_thread_bind(s) == 0);
	return NULL;
}

MISUSE_BY(a_function_that_leaves_its_thread_bound, "sennit_blocking_call",
	  sennit_blocking_call(stay_bound, o->s));

#ifndef SENNIT_RACE /* ThreadSanitizer knows no end of a thread in a context */
static void *end_thread(void *argument)
{
	pthread_exit(argument);
}

MISUSE_BY(a_function_that_ends_its_thread, "sennit_blocking_call",
	  sennit_blocking_call(end_thread, NULL));
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

MISUSE_BY(a_function_that_returns_in_a_forked_child, "sennit_blocking_call",
	  sennit_blocking_call(return_twice, NULL));
