/* SPDX-License-Identifier: Apache-2.0 */
/* leftovers.c - creating and ending a scheduler leaves no thread, mapping or
 * file behind, even if the system refuses a thread.
 *
 * This file replaces pthread_create by one that fails on demand.
 */
#include "testing/next_create.h"
#include "testing/with_workers.h"
#include "testing/counting_allocator.h"
#include "testing/proc_self.h"

#include <errno.h>

/* --- a pthread_create that fails ---------------------------------------- */

static atomic_uint creations;
static atomic_uint failing_creation; /* index of the call that fails; 0: none */

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
		   void *(*run)(void *), void              *argument)
{
	const unsigned number = atomic_fetch_add(&creations, 1) + 1;

	if (number == atomic_load(&failing_creation))
		return EAGAIN;
	return next_create()(thread, attributes, run, argument);
}

/* --- cycles ------------------------------------------------------------- */

struct gate {
	sennit_event      open;
	sennit_wait_group through;
};

static void pass_gate(void *argument)
{
	struct gate *g = argument;

	EXPECT(!sennit_event_wait(&g->open));
	sennit_wait_group_done(&g->through);
}

/* Create a scheduler, block thirty fibers, end it. */
static void live_once(uint32_t workers)
{
	sennit_scheduler *s = start_scheduler(workers);
	struct gate       g;

	sennit_event_init(&g.open, SENNIT_EVENT_MANUAL);
	assert_int_equal(sennit_thread_bind(s), 0);
	sennit_wait_group_init(&g.through, 30);
	for (unsigned i = 0; i < 30; i++)
		must_schedule(pass_gate, &g);
	assert_soon(fibers_of(s) == 30);
	sennit_event_set(&g.open);
	sennit_wait_group_wait(&g.through);
	sennit_thread_unbind();
	end_scheduler(s);
}

/* With ThreadSanitizer one cycle costs 30 ms. */
#if defined(SN_TSAN)
enum { LIVES = 20 };
#else
enum { LIVES = 200 };
#endif

TEST_WITH_COUNTS(many_lives_leave_nothing_behind)
{
	unsigned threads, files, mappings, i;

	for (i = 0; i < 20; i++) /* libc keeps some stacks and arenas */
		live_once(w->workers);
	threads = threads_now();
	files = files_now();
	mappings = mappings_now();
	for (i = 0; i < LIVES; i++)
		live_once(w->workers);
	assert_soon(threads_now() <= threads);
	assert_int_equal(files_now(), files);
#if !defined(SN_ASAN) && !defined(SN_TSAN)
	/* Much less than one mapping per cycle. */
	assert_in_range(mappings_now(), 1, mappings + 40);
#else
	(void)mappings;
#endif
}

TEST_WITH_COUNTS(when_shutdown_returns_all_threads_are_gone)
{
	const unsigned threads = threads_now();

	for (unsigned i = 0; i < 20; i++) {
		end_scheduler(start_scheduler(w->workers));
		/* A joined thread may stay in /proc for a moment. */
		assert_soon(threads_now() <= threads);
	}
}

TEST_ALONE(unused_it_needs_no_thread)
{
	const unsigned before = atomic_load(&creations);

	end_scheduler(start_scheduler(SENNIT_WORKERS_NONE));
	assert_int_equal(atomic_load(&creations), before);
}

/* --- a thread refused --------------------------------------------------- */

static void must_not_be_called(void *context)
{
	atomic_fetch_add(&broken_claims, 1); /* on_end of a scheduler that was
					      * never created */
}

static void refuse_thread(unsigned k, unsigned workers)
{
	struct counting_allocator tally = { .failing = 0 };
	const sennit_allocator    a = COUNTING_ALLOCATOR(&tally);
	const unsigned            threads = threads_now();
	sennit_scheduler         *s = NULL;
	int                       err;

	atomic_store(&failing_creation, atomic_load(&creations) + k);
	err = sennit_scheduler_create(
		&s, SENNIT_CONFIG(.workers = workers, .allocator = &a,
				  .on_shutdown = must_not_be_called));
	atomic_store(&failing_creation, 0);
	assert_int_equal(err, -EAGAIN);
	assert_null(s);
	assert_int_equal(atomic_load(&tally.live), 0);
	assert_soon(threads_now() <= threads);
}

TEST_WITH_COUNTS(a_refused_thread_leaves_nothing_behind)
{
	unsigned k;

	for (k = 1; k <= w->threads; k++)
		refuse_thread(k, w->threads);
}
