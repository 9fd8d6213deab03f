/* SPDX-License-Identifier: Apache-2.0 */
/* blocking_queue.c - how many threads run blocking calls, and the calls that
 * wait for one: their order and deadlines. */
#include "held_call.h"

#include <errno.h>

/* --- the called functions ----------------------------------------------- */

/* Bind this thread to a scheduler with at most `most` blocking threads. */
static sennit_scheduler *open_with(const struct world *w, uint32_t most,
				   uint32_t idle_ms)
{
	sennit_scheduler *s =
		start_with(SENNIT_CONFIG(.workers = w->workers,
					 .max_blocking_threads = most,
					 .blocking_idle_ms = idle_ms));

	assert_int_equal(sennit_thread_bind(s), 0);
	return s;
}

static void close_bound(sennit_scheduler *s)
{
	sennit_thread_unbind();
	end_scheduler(s);
}

/* --- how many threads --------------------------------------------------- */

enum { LIMIT = 4 };

struct crowd {
	sennit_wait_group done;
	atomic_uint       inside;
	atomic_uint       most;
	atomic_uint       calls;
};

static void *count_in_and_out(void *argument)
{
	struct crowd  *c = argument;
	const unsigned now = atomic_fetch_add(&c->inside, 1) + 1;
	unsigned       most = atomic_load(&c->most);

	while (now > most &&
	       !atomic_compare_exchange_weak(&c->most, &most, now))
		;
	sched_yield();
	atomic_fetch_add(&c->calls, 1);
	atomic_fetch_sub(&c->inside, 1);
	return c;
}

static void call_in_a_crowd(void *argument)
{
	struct crowd *c = argument;

	EXPECT(sennit_blocking_call(count_in_and_out, c) == c);
	sennit_wait_group_done(&c->done);
}

TEST_WITH_COUNTS(no_more_threads_than_the_limit)
{
	const unsigned      all = LOAD(1000);
	sennit_scheduler   *s = open_with(w, LIMIT, 0);
	static struct crowd c;

	memset(&c, 0, sizeof(c));
	sennit_wait_group_init(&c.done, all);
	for (unsigned i = 0; i < all; i++)
		must_schedule(call_in_a_crowd, &c);
	sennit_wait_group_wait(&c.done);
	assert_int_equal(atomic_load(&c.calls), all);
	assert_in_range(atomic_load(&c.most), 1, LIMIT);
	assert_in_range(stats_of(s).blocking_threads, 1, LIMIT);
	close_bound(s);
}

TEST_WITH_COUNTS(threads_come_when_all_are_taken)
{
	sennit_scheduler  *s = open_with(w, LIMIT, 0);
	static struct hold h;

	init_hold(&h);
	for (unsigned i = 1; i <= LIMIT; i++) {
		must_schedule(call_hold, &h);
		assert_soon(atomic_load(&h.begun) == i);
		assert_int_equal(stats_of(s).blocking_threads, i);
	}
	let_go(&h, LIMIT);
	assert_soon(atomic_load(&h.ended) == LIMIT);
	close_bound(s);
}

TEST_WITH_COUNTS(calls_in_turn_share_a_thread)
{
	sennit_scheduler *s = open_with(w, LIMIT, 0);
	struct place      first, p;

	sennit_blocking_call(note_place, &first);
	for (unsigned i = 0; i < 100; i++) {
		sennit_blocking_call(note_place, &p);
		assert_true(pthread_equal(p.thread, first.thread));
	}
	assert_int_equal(stats_of(s).blocking_threads, 1);
	close_bound(s);
}

TEST_WITH_COUNTS(idle_threads_end)
{
	sennit_scheduler  *s = open_with(w, LIMIT, 1);
	static struct hold h;

	init_hold(&h);
	for (unsigned i = 0; i < LIMIT; i++)
		must_schedule(call_hold, &h);
	assert_soon(atomic_load(&h.begun) == LIMIT);
	let_go(&h, LIMIT);
	assert_soon(stats_of(s).blocking_threads == 0);
	/* Threads start again when needed. */
	assert_ptr_equal(sennit_blocking_call(return_argument, &h), &h);
	close_bound(s);
}

/* --- deadlines ---------------------------------------------------------- */

static void *must_not_run(void *argument)
{
	const bool called_after_its_deadline = true;

	EXPECT(!called_after_its_deadline);
	return argument;
}

static void try_until(sennit_time deadline)
{
	void *untouched = &untouched;
	void *result = untouched;

	errno = EXDEV;
	EXPECT(sennit_blocking_call_until(must_not_run, NULL, &result,
					  deadline) == -ETIMEDOUT);
	EXPECT(result == untouched);
	EXPECT(errno == EXDEV);
}

static void try_deadlines(void *argument)
{
	try_until(0);
	try_until(1);
	try_until(sennit_after(SENNIT_MILLISECOND));
}

TEST_WITH_COUNTS(a_call_that_cannot_begin_in_time_is_not_made)
{
	sennit_scheduler  *s = open_with(w, 1, 0);
	static struct hold h;
	void              *result = NULL;

	init_hold(&h);
	must_schedule(call_hold, &h);
	assert_soon(atomic_load(&h.begun) == 1);
	try_deadlines(NULL);
	in_a_task(try_deadlines, NULL);
	let_go(&h, 1);
	assert_int_equal(sennit_blocking_call_until(return_argument, &h,
						    &result, SENNIT_NEVER),
			 0);
	assert_ptr_equal(result, &h);
	close_bound(s);
}

static void *outlast_deadline(void *argument)
{
	const sennit_time *deadline = argument;

	while (sennit_now() <= *deadline)
		sched_yield();
	return argument;
}

TEST_WITH_WORKERS(a_call_that_has_begun_outlasts_its_deadline)
{
	sennit_time deadline = sennit_after(SENNIT_MILLISECOND);
	void       *result = NULL;

	assert_int_equal(sennit_blocking_call_until(outlast_deadline, &deadline,
						    &result, deadline),
			 0);
	assert_ptr_equal(result, &deadline);
}

/* A call that is queued with a deadline, and begins before the deadline. */
static void queue_behind(void *argument)
{
	sennit_time deadline = sennit_after(GIVE_UP);

	EXPECT(!sennit_blocking_call_until(hold, argument, NULL, deadline));
}

struct turn {
	struct hold *h;
	atomic_uint *next;
	unsigned     mine;
};

static void *take_turn(void *argument)
{
	struct turn *t = argument;

	EXPECT(atomic_fetch_add(t->next, 1) == t->mine);
	return t;
}

static void call_take_turn(void *argument)
{
	EXPECT(sennit_blocking_call(take_turn, argument) == argument);
}

enum { TURNS = 10 };

TEST_WITH_COUNTS(calls_begin_in_the_order_they_came)
{
	sennit_scheduler  *s = open_with(w, 1, 0);
	static struct hold h;
	static struct turn turns[TURNS];
	static atomic_uint next;

	init_hold(&h);
	atomic_store(&next, 0);
	must_schedule(queue_behind, &h);
	assert_soon(atomic_load(&h.begun) == 1);
	for (unsigned i = 0; i < TURNS; i++) {
		turns[i] = (struct turn){ &h, &next, i };
		must_schedule(call_take_turn, &turns[i]);
		assert_soon(fibers_of(s) == 2 + i);
	}
	let_go(&h, 1);
	assert_soon(atomic_load(&next) == TURNS);
	close_bound(s);
}
