/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_sync.c - misuse of semaphore, barrier, once. */
#include "testing/misuse.h"

#include "testing/crowd.h"

/* --- semaphores --------------------------------------------------------- */

static sennit_semaphore semaphore;

static void take_all(void *argument)
{
	(void)!sennit_semaphore_acquire(argument, SENNIT_SEMAPHORE_MAX);
}

MISUSE_ALONE_BY(a_semaphore_of_more_than_the_maximum, "sennit_semaphore_init",
		sennit_semaphore_init(&semaphore, SENNIT_SEMAPHORE_MAX + 1));
MISUSE_ALONE_BY(giving_beyond_the_maximum, "sennit_semaphore_release",
		sennit_semaphore_init(&semaphore, SENNIT_SEMAPHORE_MAX),
		sennit_semaphore_release(&semaphore, 1));
MISUSE_ALONE_BY(giving_so_many_that_it_wraps, "sennit_semaphore_release",
		sennit_semaphore_init(&semaphore, 5),
		sennit_semaphore_release(&semaphore, UINT32_MAX - 2));
MISUSE_BY(giving_beyond_the_maximum_while_one_waits, "sennit_semaphore_release",
	  sennit_semaphore_init(&semaphore, 1),
	  must_schedule(take_all, &semaphore),
	  EXPECT_SOON(waiting_for(o->s, &semaphore) == 1),
	  sennit_semaphore_release(&semaphore, SENNIT_SEMAPHORE_MAX));
MISUSE_ALONE_BY(taking_more_than_there_can_be, "sennit_semaphore_acquire",
		(void)!sennit_semaphore_acquire_until(&semaphore,
						      SENNIT_SEMAPHORE_MAX + 1,
						      0));
MISUSE_BY(destroying_a_semaphore_that_is_waited_for, "sennit_semaphore_destroy",
	  let_wait(o, take_all, &semaphore),
	  sennit_semaphore_destroy(&semaphore));

/* --- barriers ----------------------------------------------------------- */

static sennit_barrier barrier;

static void arrive(void *argument)
{
	(void)sennit_barrier_wait(argument);
}

MISUSE_ALONE_BY(a_barrier_for_nobody, "sennit_barrier_init",
		sennit_barrier_init(&barrier, 0));
MISUSE_ALONE_BY(a_barrier_for_too_many, "sennit_barrier_init",
		sennit_barrier_init(&barrier, SENNIT_BARRIER_MAX + 1));
MISUSE_ALONE_BY(waiting_at_a_barrier_that_was_not_made, "sennit_barrier_wait",
		arrive(&barrier));
MISUSE_BY(destroying_a_barrier_that_is_waited_for, "sennit_barrier_destroy",
	  sennit_barrier_init(&barrier, 2), let_wait(o, arrive, &barrier),
	  sennit_barrier_destroy(&barrier));

/* --- once --------------------------------------------------------------- */

static sennit_once once;

static void call_again(void *argument)
{
	sennit_once_call(argument, call_again, argument);
}

static int attempt_again(void *argument)
{
	return sennit_once_attempt_until(argument, attempt_again, argument, 0);
}

static void attempt(void *argument)
{
	(void)!attempt_again(argument);
}

static void destroy_once(void *argument)
{
	sennit_once_destroy(argument);
}

MISUSE_BY(calling_a_once_from_its_function, "sennit_once_call",
	  in_a_task(call_again, &once));
MISUSE_BY(attempting_a_once_from_its_function, "sennit_once_attempt_until",
	  in_a_thread(attempt, &once));
MISUSE_ALONE_BY(destroying_a_once_that_runs, "sennit_once_destroy",
		sennit_once_call(&once, destroy_once, &once));
