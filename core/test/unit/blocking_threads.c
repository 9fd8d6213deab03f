/* SPDX-License-Identifier: Apache-2.0 */
/* blocking_threads.c - which threads are idle, how many may exist, and which
 * may end. */
#include "testing/test.h"

#include "blocking/blocking.h"
#include "wait/wait.h"

#include <string.h>

enum { PAST = 1, LIMIT = 3 };

/* Count a thread, as the code that starts one does. */
static void count_one(struct blocking_threads *p)
{
	const uint32_t word = sn_wait_queue_lock(&p->word);

	p->count++;
	sn_wait_queue_unlock(&p->word, word);
}

static void rest(struct blocking_threads *p, struct blocking_thread *self)
{
	const uint32_t word = sn_wait_queue_lock(&p->word);

	sn_blocking_thread_rest(p, self);
	sn_wait_queue_unlock(&p->word, word);
}

static struct blocking_thread *take(struct blocking_threads *p)
{
	const uint32_t          word = sn_wait_queue_lock(&p->word);
	struct blocking_thread *taken = sn_blocking_threads_take_idle(p);

	sn_wait_queue_unlock(&p->word, word);
	return taken;
}

static void start_three(struct blocking_threads *p,
			struct blocking_thread   three[3])
{
	sn_blocking_threads_init(p, LIMIT);
	for (int i = 0; i < 3; i++) {
		count_one(p);
		rest(p, &three[i]);
	}
}

TEST(the_last_to_rest_is_taken_first)
{
	struct blocking_threads p;
	struct blocking_thread  three[3];

	start_three(&p, three);
	assert_ptr_equal(take(&p), &three[2]);
	assert_ptr_equal(take(&p), &three[1]);
	rest(&p, &three[2]);
	assert_ptr_equal(take(&p), &three[2]);
	assert_ptr_equal(take(&p), &three[0]);
	assert_null(take(&p));
}

TEST(one_that_nobody_takes_leaves)
{
	struct blocking_threads p;
	struct blocking_thread  three[3];

	start_three(&p, three);
	assert_null(sn_blocking_thread_await(&p, &three[1], PAST));
	assert_int_equal(sn_blocking_threads_count(&p).threads, 2);
	assert_ptr_equal(take(&p), &three[2]);
	assert_ptr_equal(take(&p), &three[0]);
	assert_null(take(&p));
}

struct late {
	struct blocking_thread *to;
	struct waiter           call;
};

static void *give_when_it_sleeps(void *argument)
{
	struct late *l = argument;

	while (a_load_rlx(&l->to->state) != BLOCKING_THREAD_SLEEPS)
		os_thread_yield();
	sn_blocking_thread_give(l->to, &l->call);
	return NULL;
}

TEST(one_that_was_taken_does_not_leave)
{
	struct blocking_threads p;
	struct blocking_thread  three[3];
	struct late             l = { .to = &three[2] };
	pthread_t               thread;

	start_three(&p, three);
	assert_ptr_equal(take(&p), l.to);
	assert_int_equal(os_thread_start(&thread, give_when_it_sleeps, &l, 0),
			 0);
	assert_ptr_equal(sn_blocking_thread_await(&p, l.to, PAST), &l.call);
	pthread_join(thread, NULL);
	assert_int_equal(sn_blocking_threads_count(&p).threads, 3);
}

TEST(at_the_end_all_leave)
{
	struct blocking_threads p;
	struct blocking_thread  three[3];

	start_three(&p, three);
	sn_blocking_threads_close(&p);
	for (int i = 0; i < 3; i++)
		assert_null(
			sn_blocking_thread_await(&p, &three[i], SENNIT_NEVER));
	assert_int_equal(sn_blocking_threads_count(&p).threads, 0);
}

TEST(a_refusal_holds_until_one_rests)
{
	struct blocking_threads p;
	struct blocking_thread  self;

	sn_blocking_threads_init(&p, LIMIT);
	count_one(&p);
	count_one(&p);
	assert_false(sn_blocking_threads_refused(&p));
	assert_int_equal(p.ceiling, 1);
	rest(&p, &self);
	assert_int_equal(p.ceiling, LIMIT);
}

TEST(the_last_one_refused_is_told)
{
	struct blocking_threads p;

	sn_blocking_threads_init(&p, LIMIT);
	count_one(&p);
	count_one(&p);
	assert_false(sn_blocking_threads_refused(&p));
	assert_true(sn_blocking_threads_refused(&p));
	assert_int_equal(p.ceiling, LIMIT);
}

TEST(only_the_librarys_own_limit_is_chosen)
{
	struct blocking_threads p;

	sn_blocking_threads_init(&p, LIMIT);
	p.count = 1000;
	assert_false(sn_blocking_threads_must_choose(&p));
	sn_blocking_threads_init(&p, 0);
	assert_false(sn_blocking_threads_must_choose(&p));
	p.count = 1000;
	assert_true(sn_blocking_threads_must_choose(&p));
	/* No other thread may start before the limit has been chosen. */
	assert_true(sn_blocking_threads_must_choose(&p));
	sn_blocking_threads_choose(&p);
	assert_false(sn_blocking_threads_must_choose(&p));
}

TEST(the_library_starts_few_threads_at_once_and_the_program_as_many_as_it_says)
{
	struct blocking_threads p;

	sn_blocking_threads_init(&p, 0);
	assert_true(p.quick < p.limit);
	assert_int_equal(p.ceiling, p.quick);
	sn_blocking_threads_choose(&p);
	assert_true(p.quick <= p.limit);
	assert_int_equal(p.ceiling, p.quick);
	sn_blocking_threads_init(&p, 10 * p.limit);
	assert_int_equal(p.quick, p.limit);
	assert_int_equal(p.ceiling, p.limit);
}

/* --- when threads are added ----------------------------------------------- */

static void put(struct blocking_threads *p, struct waiter *n)
{
	memset(n, 0, sizeof(*n));
	(void)sn_wait_queue_join(&p->calls, n, false);
	p->waiting++;
}

/* All threads are in calls, and two more wait. */
static void fill(struct blocking_threads *p, struct waiter calls[2])
{
	sn_blocking_threads_init(p, 0);
	p->count = p->ceiling;
	p->moved = 1;
	put(p, &calls[0]);
	put(p, &calls[1]);
}

TEST(a_call_that_ends_puts_off_the_next_thread)
{
	struct blocking_threads p;
	struct blocking_thread  self;
	struct waiter           calls[2];
	const sennit_time       before = os_now();

	fill(&p, calls);
	assert_true(sn_blocking_threads_grow_at(&p) < before);
	assert_ptr_equal(sn_blocking_thread_next(&p, &self), &calls[0]);
	assert_true(sn_blocking_threads_grow_at(&p) >=
		    before + 10 * SENNIT_MILLISECOND);
	assert_int_equal(sn_blocking_threads_count(&p).waiting, 1);
	assert_int_equal(p.count, p.quick);
}

TEST(threads_are_added_faster_until_a_call_ends)
{
	struct blocking_threads p;
	struct blocking_thread  self;
	struct waiter           calls[2];
	sennit_time             pause = 10 * SENNIT_MILLISECOND;

	fill(&p, calls);
	while (pause > SENNIT_MILLISECOND) {
		struct waiter *n = sn_blocking_threads_grow(&p);

		assert_non_null(n);
		pause = pause / 2 > SENNIT_MILLISECOND ? pause / 2
						       : SENNIT_MILLISECOND;
		assert_int_equal(sn_blocking_threads_grow_at(&p),
				 p.moved + pause);
		put(&p, n);
	}
	assert_int_equal(p.count, p.quick + 4);
	assert_ptr_equal(sn_blocking_thread_next(&p, &self), &calls[0]);
	assert_int_equal(sn_blocking_threads_grow_at(&p),
			 p.moved + 10 * SENNIT_MILLISECOND);
}

/* Of calls that each make the next one and wait for it, one at most waits to
 * begin: *call, also when there are so many threads. Returns how long that
 * takes in all. */
static sennit_time nest(struct blocking_threads *p, uint32_t threads,
			struct waiter *call)
{
	sennit_time spent = 0;

	while (p->count < threads) {
		while (p->count < p->ceiling && p->count < threads)
			p->count++; /* such a call starts a thread at once */
		put(p, call);
		if (p->count == threads)
			return spent;
		spent += sn_blocking_threads_grow_at(p) - p->moved;
		assert_ptr_equal(sn_blocking_threads_grow(p), call);
		assert_true(p->ceiling <= p->limit);
		assert_true(p->ceiling - p->count <= p->quick);
	}
	return spent;
}

TEST(calls_in_calls_get_threads_faster_and_faster)
{
	struct blocking_threads p;
	struct waiter           call;

	sn_blocking_threads_init(&p, 0);
	assert_true(nest(&p, 1001, &call) <= 25 * SENNIT_MILLISECOND);
	sn_blocking_threads_init(&p, 0);
	assert_true(nest(&p, p.limit, &call) <= 60 * SENNIT_MILLISECOND);
	assert_int_equal(sn_blocking_threads_grow_at(&p), SENNIT_NEVER);
}

TEST(a_call_that_ends_makes_them_as_slow_as_at_first)
{
	struct blocking_threads p;
	struct blocking_thread  self;
	struct waiter           call;

	sn_blocking_threads_init(&p, 0);
	(void)nest(&p, 500, &call);
	assert_true(p.ceiling > p.quick);
	assert_ptr_equal(sn_blocking_thread_next(&p, &self), &call);
	assert_int_equal(p.ceiling, p.quick);
	put(&p, &call);
	assert_ptr_equal(sn_blocking_threads_grow(&p), &call);
	assert_int_equal(p.ceiling, p.count + 1);
}

/* Those that wait already, and come later, start in their order, each after a
 * while. So many that only take long get few threads more. */
TEST(no_call_starts_at_once_before_those_that_wait)
{
	struct blocking_threads p;
	struct waiter           calls[2];

	fill(&p, calls);
	assert_ptr_equal(sn_blocking_threads_grow(&p), &calls[0]);
	assert_int_equal(p.ceiling, p.quick);
	assert_ptr_equal(sn_blocking_threads_grow(&p), &calls[1]);
	assert_int_equal(p.ceiling, p.count + 1);
}

TEST(after_a_refusal_none_starts_at_once)
{
	struct blocking_threads p;
	struct waiter           call;

	sn_blocking_threads_init(&p, 0);
	p.count = 100;
	assert_false(sn_blocking_threads_refused(&p));
	put(&p, &call);
	assert_ptr_equal(sn_blocking_threads_grow(&p), &call);
	assert_int_equal(p.ceiling, 99);
}

TEST(no_thread_is_added_at_the_limit_or_for_no_call)
{
	struct blocking_threads p;
	struct waiter           calls[2];

	fill(&p, calls);
	p.count = p.limit;
	assert_int_equal(sn_blocking_threads_grow_at(&p), SENNIT_NEVER);
	assert_null(sn_blocking_threads_grow(&p));
	assert_int_equal(p.count, p.limit);
	p.count = p.limit - 1;
	assert_ptr_equal(sn_blocking_threads_grow(&p), &calls[0]);
	assert_int_equal(p.count, p.limit);
	p.count = p.quick;
	assert_ptr_equal(sn_blocking_threads_take_call(&p), &calls[1]);
	assert_null(sn_blocking_threads_grow(&p));
	assert_int_equal(p.count, p.quick);
}

TEST(a_call_fails_when_it_has_waited_and_none_has_ended)
{
	struct blocking_threads p;
	struct blocking_thread  self;
	struct waiter           calls[2];
	const sennit_time       before = os_now();

	fill(&p, calls);
	assert_int_equal(sn_blocking_threads_fail_at(&p, 5, 1),
			 SENNIT_MILLISECOND + 5);
	assert_ptr_equal(sn_blocking_thread_next(&p, &self), &calls[0]);
	assert_true(sn_blocking_threads_fail_at(&p, 5, 1) >=
		    before + SENNIT_MILLISECOND);
}
