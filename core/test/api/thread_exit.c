/* SPDX-License-Identifier: Apache-2.0 */
/* thread_exit.c - a thread that exits while bound, and a task that ends its
 * worker's thread, are detected. Threads that unbind in time are not. */
#include "testing/misuse.h"

/* --- a bound thread ----------------------------------------------------- */

static void *exit_bound(void *argument)
{
	(void)!sennit_thread_bind(argument);
	return NULL;
}

static void leave_thread(void *argument)
{
	pthread_exit(NULL);
}

MISUSE_BY(returning_from_a_bound_thread, "sennit_thread_bind",
	  pthread_join(must_start_thread(exit_bound, o->s), NULL));
MISUSE_BY(leaving_the_main_thread_while_bound, "sennit_thread_bind",
	  leave_thread(NULL));

/* --- a worker's thread -------------------------------------------------- */

static void cancel_oneself(void *argument)
{
	pthread_cancel(pthread_self());
	pthread_testcancel();
}

static void leave_at_once(void *context, uint32_t index)
{
	if (!index)
		leave_thread(context);
}

MISUSE_IN_BY(TEST_WITH_THREAD_COUNTS, cancelling_a_workers_thread,
	     "pthread_exit", must_schedule(cancel_oneself, NULL),
	     EXPECT_SOON(false));

MISUSE_IN(TEST_WITH_THREAD_COUNTS, leaving_from_the_initialiser, "pthread_exit")
{
	sennit_scheduler *s;

	EXPECT(!sennit_scheduler_create(
		&s, SENNIT_CONFIG(.workers = o->workers,
				  .thread_init = leave_at_once)));
	(void)!sennit_scheduler_shutdown(s, SENNIT_NEVER);
}

/* --- from a fiber's stack ----------------------------------------------- */

#if !defined( \
	SN_TSAN) /* ThreadSanitizer does not survive pthread_exit() there */
static void *exit_from_a_task(void *argument)
{
	(void)!sennit_thread_bind(argument);
	must_schedule_here(leave_thread, NULL);
	sennit_thread_unbind();
	return NULL;
}

static void wait_and_leave(void *argument)
{
	sennit_sleep(SENNIT_MILLISECOND);
	leave_thread(argument);
}

MISUSE_BY(leaving_a_bound_thread_from_a_task, "sennit_thread_bind",
	  pthread_join(must_start_thread(exit_from_a_task, o->s), NULL));
MISUSE_IN_BY(TEST_WITH_THREAD_COUNTS, leaving_a_workers_thread, "pthread_exit",
	     must_schedule(leave_thread, NULL), EXPECT_SOON(false));
MISUSE_IN_BY(TEST_WITH_THREAD_COUNTS, leaving_a_workers_thread_after_a_wait,
	     "pthread_exit", must_schedule(wait_and_leave, NULL),
	     EXPECT_SOON(false));
#endif

/* --- in time ------------------------------------------------------------ */

static void *bind_and_unbind(void *argument)
{
	for (int i = 0; i < 3; i++) {
		EXPECT(sennit_thread_bind(argument) == 0);
		sennit_thread_unbind();
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
	sennit_thread_unbind();
}

static void *bind_until_the_end(void *argument)
{
	EXPECT(sennit_thread_bind(argument) == 0);
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
