/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_pieces.c - how long a piece of a loop without a grain takes, and so
 * how late a deadline, a cancel or another fiber is, for indices of many costs.
 * The time is virtual: only indices and looks at the clock take some. */
#include "sennit.h"
#include "testing/random.h"
#include "testing/test.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <time.h>

#ifdef __SANITIZE_THREAD__ /* slow, and there is one thread */
#define INDICES 3000
#else
#define INDICES 30000
#endif
#define CHEAP 1
#define DEAR  (10 * SENNIT_MILLISECOND)

/* A piece takes no more than its dearest index and this. */
#define SLACK (20 * SENNIT_MICROSECOND)

/* A timer is late by a tick, and a few looks at the clock. */
#define TICK (17 * SENNIT_MICROSECOND)

static _Atomic(uint64_t) time_ns = SENNIT_SECOND;

int clock_gettime(clockid_t clock, struct timespec *t)
{
	const uint64_t ns = atomic_fetch_add(&time_ns, 20);

	t->tv_sec = (time_t)(ns / SENNIT_SECOND);
	t->tv_nsec = (long)(ns % SENNIT_SECOND);
	return 0;
}

/* --- costs ---------------------------------------------------------------- */

static uint64_t cost[INDICES];

static uint64_t of_linear(size_t i, uint64_t step)
{
	return CHEAP + i * step;
}

static uint64_t of_square(size_t i, uint64_t unused)
{
	return CHEAP + i * i / 1000;
}

/* From CHEAP to DEAR. */
static uint64_t of_power(size_t i, uint64_t unused)
{
	return (uint64_t)exp((double)i / INDICES * log((double)DEAR));
}

static uint64_t of_same(size_t i, uint64_t each)
{
	return each;
}

static uint64_t of_mix(size_t i, uint64_t period)
{
	return i % period == period - 1 ? DEAR : CHEAP;
}

static uint64_t of_mild_mix(size_t i, uint64_t period)
{
	return i % period == period - 1 ? 25 * SENNIT_MICROSECOND : 100;
}

static const struct shape {
	uint64_t (*of)(size_t i, uint64_t n);
	uint64_t n;
} shapes[] = {
	{ of_same, 1 },
	{ of_same, 10 },
	{ of_same, 100 },
	{ of_same, SENNIT_MICROSECOND },
	{ of_same, 9 * SENNIT_MICROSECOND },
	{ of_same, 60 * SENNIT_MICROSECOND },
	{ of_same, SENNIT_MILLISECOND },
	{ of_same, DEAR },
	{ of_linear, 1 },
	{ of_linear, 100 },
	{ of_square, 0 },
	{ of_power, 0 },
	{ of_mix, 2 },
	{ of_mix, 7 },
	{ of_mix, 100 },
	{ of_mix, 1000 },
	{ of_mix, 9999 },
	{ of_mild_mix, 3 },
	{ of_mild_mix, 1000 },
};

static void set_costs(const struct shape *s, bool backwards)
{
	for (size_t i = 0; i < INDICES; i++)
		cost[backwards ? INDICES - 1 - i : i] = s->of(i, s->n);
}

/* --- calls ---------------------------------------------------------------- */

/* What the pieces of a call took. */
struct study {
	uint64_t      excess; /* of the worst piece, beyond its dearest index */
	uint64_t      dearest;
	uint64_t      pieces, total;
	uint64_t      stop_at; /* cancel `group` in the piece that passes it */
	sennit_group *group;
	uint64_t      stopped; /* when that piece began */
};

static int work(struct study *s, size_t begin, size_t end)
{
	const uint64_t began = atomic_load(&time_ns);
	uint64_t       took = 0, dearest = 0;

	for (size_t i = begin; i < end; i++) {
		took += cost[i];
		dearest = cost[i] > dearest ? cost[i] : dearest;
	}
	atomic_fetch_add(&time_ns, took);
	s->excess = took - dearest > s->excess ? took - dearest : s->excess;
	s->dearest = dearest > s->dearest ? dearest : s->dearest;
	s->pieces++;
	s->total += took;
	if (s->group && began + took >= s->stop_at && !s->stopped) {
		s->stopped = began;
		sennit_group_cancel(s->group);
	}
	return 0;
}

static int accumulate(void *context, void *accumulator, size_t begin,
		      size_t end)
{
	*(uint64_t *)accumulator += end - begin;
	return work(context, begin, end);
}

static void combine(void *context, void *left, const void *right)
{
	*(uint64_t *)left += *(const uint64_t *)right;
}

static int work_on(void *context, size_t begin, size_t end)
{
	return work(context, begin, end);
}

static const sennit_scan count = {
	.reduction = { .accumulator_size = sizeof(uint64_t),
		       .accumulate = accumulate,
		       .combine = combine },
	.put_out = accumulate,
};

static int call_for(struct study *s, const sennit_parallel_options *o,
		    sennit_time deadline)
{
	return sennit_parallel_for(0, INDICES, work_on, s, o, deadline);
}

static int call_reduce(struct study *s, const sennit_parallel_options *o,
		       sennit_time deadline)
{
	uint64_t sum = 0;

	return sennit_parallel_reduce(0, INDICES, &count.reduction, s, &sum, o,
				      deadline);
}

static int call_scan(struct study *s, const sennit_parallel_options *o,
		     sennit_time deadline)
{
	return sennit_parallel_scan(0, INDICES, &count, s, NULL, o, deadline);
}

typedef int call(struct study *s, const sennit_parallel_options *o,
		 sennit_time deadline);

static call *const calls[] = { call_for, call_reduce, call_scan };

/* --- tests ---------------------------------------------------------------- */

static sennit_scheduler *scheduler;

static int open_here(void **state)
{
	assert_int_equal(sennit_scheduler_create(
				 &scheduler,
				 SENNIT_CONFIG(.workers = SENNIT_WORKERS_NONE)),
			 0);
	assert_int_equal(sennit_thread_bind(scheduler), 0);
	return 0;
}

static int close_here(void **state)
{
	sennit_thread_unbind();
	return sennit_scheduler_shutdown(scheduler, SENNIT_NEVER);
}

#define TEST_HERE(f) TEST_BETWEEN(f, open_here, close_here)

/* Try each call with each shape, forwards and backwards. */
static void try_all(void (*try)(call *c, const struct shape *s))
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]) * 2; i++) {
		set_costs(&shapes[i / 2], i % 2);
		for (size_t c = 0; c < sizeof(calls) / sizeof(calls[0]); c++)
			try(calls[c], &shapes[i / 2]);
	}
}

static void must_be_short(call *c, const struct shape *s)
{
	struct study y = { 0 };

	assert_int_equal(c(&y, NULL, SENNIT_NEVER), 0);
	if (y.excess > SLACK)
		fail_msg("shape %zu: a piece took %" PRIu64
			 " ns more than its dearest index",
			 (size_t)(s - shapes), y.excess);
}

TEST_HERE(a_piece_takes_one_index_and_20_us_at_most)
{
	try_all(must_be_short);
}

/* Each piece costs about 70 ns. */
static void must_be_few(call *c, const struct shape *s)
{
	struct study y = { 0 };

	assert_int_equal(c(&y, NULL, SENNIT_NEVER), 0);
	if (s->of == of_same && s->n < SENNIT_MICROSECOND)
		assert_in_range(y.pieces, 1,
				150 + y.total / (5 * SENNIT_MICROSECOND));
}

TEST_HERE(pieces_of_cheap_indices_are_long)
{
	try_all(must_be_few);
}

/* One index and the slack after the deadline; and what it takes to return. */
static void must_end_in_time(call *c, const struct shape *s)
{
	struct study      y = { 0 };
	const sennit_time deadline = sennit_after(5 * SENNIT_MILLISECOND);
	sennit_time       now;

	if (c(&y, NULL, deadline)) {
		now = sennit_now();
		assert_true(now <= deadline + y.dearest + 2 * SLACK);
	}
}

TEST_HERE(a_deadline_is_late_by_one_index_and_20_us_at_most)
{
	try_all(must_end_in_time);
}

struct errand {
	call        *c;
	struct study y;
	int          result;
};

static int run_errand(void *argument)
{
	struct errand *e = argument;

	e->result = e->c(&e->y, NULL, SENNIT_NEVER);
	return 0;
}

/* Whatever runs after a piece that cancels is none of its loop. */
static void must_end_at_once(call *c, const struct shape *s)
{
	struct errand e = { .c = c };
	sennit_group  g;

	sennit_group_init(&g, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	e.y.group = &g;
	e.y.stop_at = atomic_load(&time_ns) + 5 * SENNIT_MILLISECOND;
	assert_int_equal(sennit_group_spawn(&g, run_errand, &e), 0);
	(void)sennit_group_wait(&g);
	if (e.y.stopped) {
		assert_int_equal(e.result, -ECANCELED);
		assert_true(atomic_load(&time_ns) <=
			    e.y.stopped + e.y.dearest + 2 * SLACK);
	}
}

TEST_HERE(a_cancel_ends_a_loop_after_the_piece)
{
	try_all(must_end_at_once);
}

/* Sleeps again and again beside the loop, on its thread. */
struct ticker {
	uint64_t late; /* at most */
	unsigned ticks;
	bool     stops;
};

static void tick(void *argument)
{
	struct ticker *t = argument;
	sennit_time    next = sennit_now();

	while (!t->stops) {
		uint64_t now;

		next = sennit_now() + SENNIT_MILLISECOND;
		(void)!sennit_sleep_until(next);
		now = sennit_now();
		if (!t->stops && now - next > t->late)
			t->late = now - next;
		t->ticks++;
	}
	t->stops = false;
}

static void must_tick(call *c, const struct shape *s)
{
	struct ticker t = { 0 };
	struct study  y = { 0 };

	assert_int_equal(sennit_schedule(tick, &t), 0);
	sennit_yield();
	assert_int_equal(c(&y, NULL, SENNIT_NEVER), 0);
	t.stops = true;
	atomic_fetch_add(&time_ns, 2 * SENNIT_MILLISECOND);
	while (t.stops)
		sennit_yield();
	if (t.late > y.dearest + SLACK + TICK)
		fail_msg("shape %zu: a ticker was %" PRIu64 " ns late",
			 (size_t)(s - shapes), t.late);
	assert_true(t.ticks >= y.total / (2 * SENNIT_MILLISECOND + y.dearest));
}

TEST_HERE(a_ticker_is_late_by_one_index_and_20_us_at_most)
{
	try_all(must_tick);
}
