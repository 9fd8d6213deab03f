/* SPDX-License-Identifier: Apache-2.0 */
/* future_several.c - waiting for one of several futures, and for all. */
#include "testing/with_workers.h"

#include <errno.h>

enum { SOME = 5 };

static int number;

struct wait_any {
	sennit_future     f[SENNIT_FUTURE_WAIT_MAX];
	sennit_future    *list[SENNIT_FUTURE_WAIT_MAX];
	size_t            count;
	size_t            which;
	int               result;
	sennit_wait_group done;
};

static void set_several(struct wait_any *v, size_t count)
{
	memset(v, 0, sizeof(*v));
	for (size_t i = 0; i < count; i++)
		v->list[i] = &v->f[i];
	v->count = count;
	v->which = 99;
	sennit_wait_group_init(&v->done, 1);
}

static void expect_left(struct wait_any *v)
{
	for (size_t i = 0; i < v->count; i++)
		sennit_future_destroy(v->list[i]); /* fails if a waiter is
						    * left */
}

/* --- one caller, in each place ------------------------------------------ */

TEST_IN_EACH_PLACE(any_finds_the_first_that_is_set_or_times_out)
{
	struct wait_any   v;
	const sennit_time soon = sennit_after(2 * SENNIT_MILLISECOND);

	set_several(&v, SOME);
	EXPECT(sennit_future_wait_any_until(v.list, SOME, &v.which, 0) ==
	       -ETIMEDOUT);
	EXPECT(sennit_future_wait_any_until(v.list, SOME, &v.which, 1) ==
	       -ETIMEDOUT);
	EXPECT(sennit_future_wait_any_until(v.list, SOME, &v.which, soon) ==
	       -ETIMEDOUT);
	EXPECT(sennit_now() >= soon);
	EXPECT(v.which == 99);
	expect_left(&v);
	sennit_future_set(&v.f[3], NULL);
	EXPECT(sennit_future_wait_any_until(v.list, SOME, &v.which, 0) == 0);
	EXPECT(v.which == 3);
	sennit_future_set_error(&v.f[1], -EPIPE); /* an error counts as set */
	EXPECT(sennit_future_wait_any(v.list, SOME, &v.which) == 0);
	EXPECT(v.which == 1);
	EXPECT(sennit_future_wait_any(v.list + 3, 1, &v.which) == 0);
	EXPECT(v.which == 0);
	EXPECT(sennit_future_wait_any(v.list, SOME, NULL) == 0);
}

TEST_IN_EACH_PLACE(all_wants_each_of_them)
{
	struct wait_any   v;
	const sennit_time soon = sennit_after(2 * SENNIT_MILLISECOND);

	set_several(&v, 3);
	EXPECT(sennit_future_wait_all_until(v.list, 3, 0) == -ETIMEDOUT);
	sennit_future_set(&v.f[2], NULL);
	sennit_future_set(&v.f[0], NULL);
	EXPECT(sennit_future_wait_all_until(v.list, 3, soon) == -ETIMEDOUT);
	EXPECT(sennit_now() >= soon);
	expect_left(&v);
	sennit_future_set_error(&v.f[1], -EPIPE);
	EXPECT(sennit_future_wait_all_until(v.list, 3, 0) == 0);
	EXPECT(!sennit_future_wait_all(v.list, 3));
	EXPECT(sennit_future_wait_all_until(v.list, 0, 0) == 0);
	EXPECT(!sennit_future_wait_all(NULL, 0));
}

/* --- one waits, another sets -------------------------------------------- */

static void wait_for_any(void *argument)
{
	struct wait_any *v = argument;

	EXPECT(!sennit_future_wait_any(v->list, v->count, &v->which));
	sennit_wait_group_done(&v->done);
}

static void wait_for_any_long(void *argument)
{
	struct wait_any  *v = argument;
	const sennit_time t = sennit_after(100 * SENNIT_SECOND);

	v->result = sennit_future_wait_any_until(v->list, v->count, &v->which,
						 t);
	sennit_wait_group_done(&v->done);
}

TEST_WITH_WORKERS(any_ends_with_each_of_them)
{
	struct wait_any v;

	for (size_t i = 0; i < SENNIT_FUTURE_WAIT_MAX; i++) {
		set_several(&v, SENNIT_FUTURE_WAIT_MAX);
		must_schedule(i % 2 ? wait_for_any : wait_for_any_long, &v);
		assert_soon(fibers_of(w->s) == 1);
		sennit_future_set(&v.f[i], NULL);
		sennit_wait_group_wait(&v.done);
		assert_int_equal(v.which, i);
		assert_int_equal(v.result, 0);
		expect_left(&v);
	}
}

TEST_WITH_WORKERS(one_of_several_set_in_a_row_is_told)
{
	struct wait_any v;

	set_several(&v, SOME);
	must_schedule(wait_for_any, &v);
	assert_soon(fibers_of(w->s) == 1);
	for (size_t i = SOME; i-- > 0;)
		sennit_future_set(&v.f[i], NULL);
	sennit_wait_group_wait(&v.done);
	assert_int_equal(v.which, SOME - 1); /* the first future that was set */
	expect_left(&v);
}

static void wait_for_all(void *argument)
{
	struct wait_any  *v = argument;
	const sennit_time t = sennit_after(100 * SENNIT_SECOND);

	v->result = sennit_future_wait_all_until(v->list, v->count, t);
	v->which = 0;
	while (v->which < v->count && sennit_future_is_set(&v->f[v->which]))
		v->which++;
	sennit_wait_group_done(&v->done);
}

TEST_WITH_WORKERS(all_ends_when_the_last_is_set)
{
	struct wait_any v;

	set_several(&v, SENNIT_FUTURE_WAIT_MAX);
	must_schedule(wait_for_all, &v);
	for (size_t i = 0; i < v.count; i++) {
		sennit_future_set(&v.f[i * 13 % v.count], &number);
		sennit_yield();
	}
	sennit_wait_group_wait(&v.done);
	assert_int_equal(v.result, 0);
	assert_int_equal(v.which, v.count);
}
