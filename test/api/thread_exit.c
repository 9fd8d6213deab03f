/* SPDX-License-Identifier: Apache-2.0 */
/* thread_exit.c - a thread that exits while bound, and a task that ends its
 * worker's thread, are detected. Threads that unbind in time are not. */
#include "misuse.h"

/* --- a bound thread ----------------------------------------------------- */

static void *exit_bound(void *argument)
{
	(void)!sennit_bind(argument);
	return NULL;
}

static void commit_exit_while_bound(const struct offence *o)
{
	pthread_join(must_start_thread(exit_bound, o->s), NULL);
}

TEST_WITH_COUNTS(returning_from_a_bound_thread)
{
	assert_misuse(w, "sennit_bind", commit_exit_while_bound);
}

/* For a thread that calls pthread_exit() on a fiber's stack, which
 * ThreadSanitizer itself does not survive. */
static void assert_misuse_of_exit(const struct world *w, const char *call,
				  void (*commit)(const struct offence *o))
{
#if defined(SN_TSAN)
	skip();
#endif
	assert_misuse(w, call, commit);
}

static void leave_thread(void *argument)
{
	(void)argument;
	pthread_exit(NULL);
}

static void *exit_from_a_task(void *argument)
{
	(void)!sennit_bind(argument);
	must_schedule_here(leave_thread, NULL);
	sennit_unbind();
	return NULL;
}

static void commit_exit_from_a_bound_threads_task(const struct offence *o)
{
	pthread_join(must_start_thread(exit_from_a_task, o->s), NULL);
}

TEST_WITH_COUNTS(leaving_a_bound_thread_from_a_task)
{
	assert_misuse_of_exit(w, "sennit_bind",
			      commit_exit_from_a_bound_threads_task);
}

static void commit_exit_of_the_main_thread(const struct offence *o)
{
	(void)o;
	pthread_exit(NULL);
}

TEST_WITH_COUNTS(leaving_the_main_thread_while_bound)
{
	assert_misuse(w, "sennit_bind", commit_exit_of_the_main_thread);
}

/* --- a worker's thread -------------------------------------------------- */

static void commit_exit_from_a_task(const struct offence *o)
{
	(void)o;
	must_schedule(leave_thread, NULL);
	EXPECT_SOON(false);
}

TEST_WITH_THREAD_COUNTS(leaving_a_workers_thread)
{
	assert_misuse_of_exit(w, "pthread_exit", commit_exit_from_a_task);
}

static void wait_and_leave(void *argument)
{
	sennit_sleep(SENNIT_MILLISECOND);
	leave_thread(argument);
}

static void commit_exit_from_a_resumed_task(const struct offence *o)
{
	(void)o;
	must_schedule(wait_and_leave, NULL);
	EXPECT_SOON(false);
}

TEST_WITH_THREAD_COUNTS(leaving_a_workers_thread_after_a_wait)
{
	assert_misuse_of_exit(w, "pthread_exit",
			      commit_exit_from_a_resumed_task);
}

static void cancel_oneself(void *argument)
{
	(void)argument;
	pthread_cancel(pthread_self());
	pthread_testcancel();
}

static void commit_cancel_in_a_task(const struct offence *o)
{
	(void)o;
	must_schedule(cancel_oneself, NULL);
	EXPECT_SOON(false);
}

TEST_WITH_THREAD_COUNTS(cancelling_a_workers_thread)
{
	assert_misuse(w, "pthread_exit", commit_cancel_in_a_task);
}

static void leave_at_once(void *context, uint32_t index)
{
	if (!index)
		leave_thread(context);
}

static void commit_exit_from_the_initialiser(const struct offence *o)
{
	sennit_scheduler *s;

	EXPECT(!sennit_scheduler_create(
		&s, SENNIT_CONFIG(.workers = o->workers,
				  .thread_init = leave_at_once)));
	(void)!sennit_scheduler_shutdown(s, SENNIT_NEVER);
}

TEST_WITH_THREAD_COUNTS(leaving_from_the_initialiser)
{
	assert_misuse(w, "pthread_exit", commit_exit_from_the_initialiser);
}

/* --- in time ------------------------------------------------------------ */

static void *bind_and_unbind(void *argument)
{
	int i;

	for (i = 0; i < 3; i++) {
		EXPECT(sennit_bind(argument) == 0);
		sennit_unbind();
	}
	return NULL;
}

TEST_WITH_WORKERS(a_thread_that_has_unbound_may_exit)
{
	pthread_join(must_start_thread(bind_and_unbind, w->s), NULL);
}

static pthread_key_t cleaner;

static void unbind_at_last(void *value)
{
	(void)value;
	sennit_unbind();
}

static void *bind_until_the_end(void *argument)
{
	EXPECT(sennit_bind(argument) == 0);
	EXPECT(pthread_setspecific(cleaner, argument) == 0);
	return NULL;
}

/* The library's key is older, so its destructor runs first. */
TEST_WITH_WORKERS(a_destructor_may_unbind)
{
	assert_int_equal(pthread_key_create(&cleaner, unbind_at_last), 0);
	pthread_join(must_start_thread(bind_until_the_end, w->s), NULL);
	pthread_key_delete(cleaner);
}
