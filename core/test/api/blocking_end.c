/* SPDX-License-Identifier: Apache-2.0 */
/* blocking_end.c - schedulers that end with blocking threads idle or at work:
 * none ends too early, none leaves a thread or memory behind, and the report
 * knows that a call may still return. */
#include "testing/words.h"
#include "testing/with_workers.h"
#include "testing/proc_self.h"
#include "testing/counting_allocator.h"

#include <errno.h>
#include <semaphore.h>

/* --- threads ------------------------------------------------------------ */

static struct counting_allocator tally;
static const sennit_allocator    counted = COUNTING_ALLOCATOR(&tally);

static sennit_scheduler *start_counted(const struct world *w, uint32_t idle_ms)
{
	return start_with(SENNIT_CONFIG(.workers = w->workers,
					.allocator = &counted,
					.blocking_idle_ms = idle_ms));
}

/* --- calls -------------------------------------------------------------- */

static struct hold {
	sem_t       go;
	atomic_uint begun;
	atomic_uint ended;
} hold;

static void reset_hold(void)
{
	sem_init(&hold.go, 0, 0);
	atomic_store(&hold.begun, 0);
	atomic_store(&hold.ended, 0);
}

static void *block(void *argument)
{
	atomic_fetch_add(&hold.begun, 1);
	while (sem_wait(&hold.go))
		;
	return argument;
}

static void call_block(void *argument)
{
	EXPECT(sennit_blocking_call(block, argument) == argument);
	atomic_fetch_add(&hold.ended, 1);
}

static void let_go(unsigned n)
{
	while (n--)
		sem_post(&hold.go);
}

enum { CALLS = 6 };

/* Leaves CALLS threads idle. */
static void use_threads(void)
{
	reset_hold();
	for (unsigned i = 0; i < CALLS; i++)
		must_schedule(call_block, &hold);
	assert_soon(atomic_load(&hold.begun) == CALLS);
	let_go(CALLS);
	assert_soon(atomic_load(&hold.ended) == CALLS);
}

/* --- nothing is left behind --------------------------------------------- */

TEST_WITH_COUNTS(threads_end_with_their_scheduler)
{
	const unsigned before = threads_now();

	for (unsigned i = 0; i < LOAD(20); i++) {
		/* Threads that end by themselves meanwhile, or never would. */
		sennit_scheduler *s = start_counted(w, i % 2 ? 1 : UINT32_MAX);

		assert_int_equal(sennit_thread_bind(s), 0);
		use_threads();
		sennit_thread_unbind();
		end_scheduler(s);
		assert_int_equal(atomic_load(&tally.live), 0);
		assert_soon(threads_now() <= before);
	}
}

static atomic_uint endings;

static void note_end(void *context)
{
	atomic_fetch_add(&endings, 1);
}

/* If no one waits for the end, the last thread frees everything. */
TEST_WITH_COUNTS(a_release_ends_them_too)
{
	const unsigned    before = threads_now();
	sennit_scheduler *s = start_with(
		SENNIT_CONFIG(.workers = w->workers, .allocator = &counted,
			      .on_shutdown = note_end));

	atomic_store(&endings, 0);
	assert_int_equal(sennit_thread_bind(s), 0);
	use_threads();
	sennit_scheduler_release(s);
	sennit_thread_unbind();
	assert_soon(atomic_load(&endings) == 1);
	assert_soon(atomic_load(&tally.live) == 0);
	assert_soon(threads_now() <= before);
}

/* --- running calls ------------------------------------------------------ */

static void enqueue_calls(sennit_scheduler *s)
{
	const sennit_task task = { .run = call_block, .argument = &hold };

	reset_hold();
	for (unsigned i = 0; i < CALLS; i++)
		assert_int_equal(sennit_schedule_task_on(s, &task), 0);
	assert_soon(atomic_load(&hold.begun) == CALLS);
}

TEST_WITH_THREADS(a_call_in_flight_keeps_its_scheduler_alive)
{
	sennit_scheduler *s = start_counted(w, 0);

	enqueue_calls(s);
	assert_int_equal(
		sennit_scheduler_shutdown(s, sennit_after(SENNIT_MILLISECOND)),
		-ETIMEDOUT);
	let_go(CALLS);
	end_scheduler(s);
	assert_int_equal(atomic_load(&hold.ended), CALLS);
	assert_int_equal(atomic_load(&tally.live), 0);
}

/* The thread that wakes the last fiber is the last one to wake anything. */
TEST_WITH_THREADS(the_last_reference_goes_with_calls_in_flight)
{
	const unsigned    before = threads_now();
	sennit_scheduler *s = start_with(
		SENNIT_CONFIG(.workers = w->workers, .allocator = &counted,
			      .on_shutdown = note_end));

	atomic_store(&endings, 0);
	enqueue_calls(s);
	sennit_scheduler_release(s);
	assert_int_equal(atomic_load(&endings), 0);
	let_go(CALLS);
	assert_soon(atomic_load(&endings) == 1);
	assert_int_equal(atomic_load(&hold.ended), CALLS);
	assert_soon(atomic_load(&tally.live) == 0);
	assert_soon(threads_now() <= before);
}

TEST_WITH_COUNTS(unbinding_waits_for_calls)
{
	sennit_scheduler *s = start_counted(w, 0);

	reset_hold();
	assert_int_equal(sennit_thread_bind(s), 0);
	must_schedule_here(call_block, &hold);
	assert_soon(atomic_load(&hold.begun) == 1);
	let_go(1);
	sennit_thread_unbind();
	assert_int_equal(atomic_load(&hold.ended), 1);
	end_scheduler(s);
}

/* --- the report --------------------------------------------------------- */

TEST_WITH_THREADS(the_report_has_hope_in_calls)
{
	sennit_scheduler *s = start_counted(w, 0);
	char              text[4096];

	enqueue_calls(s);
	assert_soon(stats_of(s).parks >= w->threads);
	assert_soon(strstr(printed_report(s, text, sizeof(text)),
			   "waits for a blocking call of "));
	assert_null(
		strstr(text, "nothing in the scheduler can wake any of them"));
	let_go(CALLS);
	end_scheduler(s);
}

static void *do_nothing(void *argument)
{
	return argument;
}

static int begin_all(void)
{
	/* From the first thread on, ThreadSanitizer has a thread of its own. */
	pthread_join(must_start_thread(do_nothing, NULL), NULL);
	return 0;
}

BEFORE_ALL(begin_all);
