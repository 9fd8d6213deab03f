/* SPDX-License-Identifier: Apache-2.0 */
/* blocking_limit.c - the limit on blocking threads that the library chooses
 * from the limit that the system reports.
 *
 * This file replaces getrlimit by one that returns a chosen limit.
 */
#include "with_workers.h"

#include <semaphore.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_ulong most_threads;

/* The type of its first parameter has no portable name. */
int limit_told(int what, struct rlimit *limit) __asm__("getrlimit");

/* ThreadSanitizer calls it, too, before it is initialised. */
NO_SANITIZE int limit_told(int what, struct rlimit *limit)
{
	unsigned long long now[2];

	if (syscall(SYS_prlimit64, 0, what, NULL, now))
		return -1;
	limit->rlim_cur = what == RLIMIT_NPROC ? atomic_load(&most_threads)
					       : (rlim_t)now[0];
	limit->rlim_max = (rlim_t)now[1];
	return 0;
}

static struct hold {
	sem_t             go;
	atomic_uint       begun;
	sennit_wait_group done;
} hold;

static void *block(void *argument)
{
	atomic_fetch_add(&hold.begun, 1);
	while (sem_wait(&hold.go))
		;
	return argument;
}

static void call_block(void *argument)
{
	sennit_blocking_call(block, argument);
	sennit_wait_group_done(&hold.done);
}

enum { CALLS = 30 };

/* The number of 30 calls that begin at once with this limit on threads. */
static void assert_share(const struct world *w, unsigned long most,
			 uint32_t limit, unsigned share)
{
	sennit_scheduler *s =
		start_with(SENNIT_CONFIG(.workers = w->workers,
					 .max_blocking_threads = limit));
	unsigned i;

	atomic_store(&most_threads, most);
	sem_init(&hold.go, 0, 0);
	atomic_store(&hold.begun, 0);
	sennit_wait_group_init(&hold.done, CALLS);
	assert_int_equal(sennit_bind(s), 0);
	for (i = 0; i < CALLS; i++)
		must_schedule(call_block, NULL);
	assert_soon(fibers_of(s) == CALLS);
	assert_soon(atomic_load(&hold.begun) == share);
	assert_int_equal(stats_of(s).blocking_threads, share);
	for (i = 0; i < CALLS; i++)
		sem_post(&hold.go);
	sennit_wait_group_wait(&hold.done);
	assert_int_equal(atomic_load(&hold.begun), CALLS);
	sennit_unbind();
	end_scheduler(s);
}

TEST_WITH_COUNTS(a_quarter_of_what_the_system_allows)
{
	assert_share(w, 80, 0, 20);
}

TEST_WITH_COUNTS(eight_at_least)
{
	assert_share(w, 3, 0, 8);
}

TEST_WITH_COUNTS(as_many_as_are_needed_where_the_system_allows)
{
	assert_share(w, 4 * CALLS, 0, CALLS);
}

TEST_WITH_COUNTS(what_the_program_asks_for_is_not_questioned)
{
	assert_share(w, 3, 12, 12);
}
