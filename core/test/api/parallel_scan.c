/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_scan.c - prefix sums and similar scans: each output is correct and
 * produced once, also in place; errors, deadlines, lack of memory. */
#include "testing/with_workers.h"

#include <errno.h>

#define N 5000

/* Call try_out with all combinations of options. */
static void with_options(struct world *w,
			 void (*try_out)(const sennit_parallel_options *o))
{
	static const size_t grains[] = { 0, 1, 10, 1000, SIZE_MAX };

	for (size_t i = 0; i < sizeof(grains) / sizeof(grains[0]); i++)
		for (uint32_t flags = 0; flags < 2; flags++) {
			const sennit_parallel_options o = {
				.size = sizeof(o),
				.scheduler = w->s,
				.grain = grains[i],
				.flags = flags,
			};

			try_out(&o);
		}
}

/* --- strings: order matters --------------------------------------------- */

/* The effect of a text on a number: x -> factor * x + summand. */
struct effect {
	uint64_t factor;
	uint64_t summand;
};

struct text {
	size_t   first; /* the index of in[0] */
	uint64_t in[N];
	uint64_t out[N];
	bool     inclusive;
	bool     in_place;
	size_t   fail_at; /* SIZE_MAX: never */
	bool     yields;
	unsigned put_out[N];
};

static void no_effect(void *context, void *accumulator)
{
	*(struct effect *)accumulator = (struct effect){ 1, 0 };
}

static void follow(void *context, void *left, const void *right)
{
	const struct effect *r = right;
	struct effect       *l = left;

	l->factor *= r->factor;
	l->summand = l->summand * r->factor + r->summand;
}

static void read_one(struct effect *e, uint64_t x)
{
	follow(NULL, e, &(struct effect){ 31, x });
}

static int read_text(void *context, void *accumulator, size_t begin, size_t end)
{
	const struct text *t = context;

	if (t->yields)
		sennit_yield();
	for (size_t i = begin; i < end; i++)
		read_one(accumulator, t->in[i - t->first]);
	return t->fail_at >= begin && t->fail_at < end ? -EIO : 0;
}

static int put_out(void *context, void *accumulator, size_t begin, size_t end)
{
	struct text   *t = context;
	struct effect *e = accumulator;
	uint64_t      *out = t->in_place ? t->in : t->out;

	if (t->yields)
		sennit_yield();
	for (size_t i = begin - t->first; i < end - t->first; i++) {
		uint64_t x = t->in[i];

		if (!t->inclusive)
			out[i] = e->summand;
		read_one(e, x);
		if (t->inclusive)
			out[i] = e->summand;
		t->put_out[i]++;
	}
	return t->fail_at >= begin && t->fail_at < end ? -EIO : 0;
}

static const sennit_scan hashes = {
	.reduction = { .accumulator_size = sizeof(struct effect),
		       .identity = no_effect,
		       .accumulate = read_text,
		       .combine = follow },
	.put_out = put_out,
};

static struct text *new_text(size_t first)
{
	struct text *t = calloc(1, sizeof(*t));

	t->first = first;
	t->fail_at = SIZE_MAX;
	for (size_t i = 0; i < N; i++)
		t->in[i] = i * i + 7;
	return t;
}

static void scan_text(struct text *t, size_t n,
		      const sennit_parallel_options *o)
{
	struct effect all = { 99, 99 }, e = { 1, 0 };
	uint64_t     *out = t->in_place ? t->in : t->out;

	EXPECT(sennit_parallel_scan(t->first, t->first + n, &hashes, t, &all, o,
				    SENNIT_NEVER) == 0);
	for (size_t i = 0; i < n; i++) {
		uint64_t before = e.summand;

		read_one(&e, i * i + 7);
		EXPECT(out[i] == (t->inclusive ? e.summand : before));
		EXPECT(t->put_out[i] == 1);
	}
	EXPECT(n == N || !t->put_out[n]);
	EXPECT(all.summand == e.summand && all.factor == e.factor);
}

static void scan_texts(const sennit_parallel_options *o)
{
	static const size_t ns[] = { 0, 1, 2, 3, 9, 100, N };

	for (size_t i = 0; i < sizeof(ns) / sizeof(ns[0]); i++)
		for (unsigned how = 0; how < 8; how++) {
			struct text *t = new_text(how & 4 ? SIZE_MAX - N : 3);

			t->inclusive = how & 1;
			t->in_place = how & 2;
			scan_text(t, ns[i], o);
			free(t);
		}
}

TEST_IN_EACH_PLACE_OF(each_output_is_of_all_before_it)
{
	with_options(world, scan_texts);
}

static void scan_waiting(const sennit_parallel_options *o)
{
	struct text *t = new_text(0);

	t->yields = true;
	scan_text(t, 500, o);
	free(t);
}

TEST_IN_EACH_PLACE_OF(blocks_may_wait)
{
	with_options(world, scan_waiting);
}

TEST_WITH_WORKERS(without_options_or_result_it_works_too)
{
	struct text *t = new_text(0);

	assert_int_equal(sennit_parallel_scan(0, N, &hashes, t, NULL, NULL,
					      SENNIT_NEVER),
			 0);
	assert_int_equal(t->out[0], 0);
	assert_int_equal(t->out[1], 7);
	assert_int_equal(t->out[2], 7 * 31 + 8);
	free(t);
}

/* --- errors and cancels ------------------------------------------------- */

static void fail_somewhere(const sennit_parallel_options *o)
{
	for (size_t at = 0; at < N; at += N / 5 - 1) {
		struct text  *t = new_text(0);
		struct effect all = { 99, 99 };

		t->fail_at = at;
		EXPECT(sennit_parallel_scan(0, N, &hashes, t, &all, o,
					    SENNIT_NEVER) == -EIO);
		EXPECT(all.factor == 99);
		free(t);
	}
}

TEST_IN_EACH_PLACE_OF(an_error_ends_it)
{
	with_options(world, fail_somewhere);
}

static int until_cancelled(void *context, void *accumulator, size_t begin,
			   size_t end)
{
	sennit_yield();
	return sennit_check_cancelled();
}

static const sennit_scan endless = {
	.reduction = { .accumulator_size = 1,
		       .accumulate = until_cancelled,
		       .combine = follow },
	.put_out = until_cancelled,
};

static int wait_for_end(void *context, void *accumulator, size_t begin,
			size_t end)
{
	return sennit_event_wait_until(context, SENNIT_NEVER);
}

static void run_late(const sennit_parallel_options *options)
{
	const sennit_parallel_options o = *options;
	sennit_time                   deadline;
	sennit_scan                   waiting = endless;
	sennit_event never = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);

	waiting.put_out = wait_for_end;
	deadline = sennit_after(SENNIT_MILLISECOND / 10);
	EXPECT(sennit_parallel_scan(0, SIZE_MAX, &waiting, &never, NULL, &o,
				    deadline) == -ETIMEDOUT);
	deadline = 1;
	EXPECT(sennit_parallel_scan(0, SIZE_MAX, &endless, NULL, NULL, &o,
				    deadline) == -ETIMEDOUT);
}

TEST_IN_EACH_PLACE_OF(the_deadline_ends_it)
{
	with_options(world, run_late);
}

static int cancel_late(void *context, void *accumulator, size_t begin,
		       size_t end)
{
	if (begin <= 7 && end > 7)
		sennit_group_cancel(context);
	return 0;
}

static const sennit_scan cancelling = {
	.reduction = { .accumulator_size = 1,
		       .accumulate = cancel_late,
		       .combine = follow },
	.put_out = cancel_late,
};

static int scan_and_cancel(void *argument)
{
	const sennit_parallel_options o = { .size = sizeof(o), .grain = 1 };

	EXPECT(sennit_parallel_scan(0, 100000, &cancelling, argument, NULL, &o,
				    SENNIT_NEVER) == -ECANCELED);
	return 0;
}

TEST_IN_EACH_PLACE_OF(cancelling_the_callers_group_ends_it)
{
	struct world *w = world;
	sennit_group  g;

	sennit_group_init_on(&g, w->s, SENNIT_NEVER, 0);
	EXPECT(sennit_group_spawn(&g, scan_and_cancel, &g) == 0);
	EXPECT(sennit_group_wait(&g) == -ECANCELED);
}

TEST_IN_EACH_PLACE_OF(bad_arguments_are_refused)
{
	const struct world     *w = world;
	sennit_parallel_options o = { .size = sizeof(o), .scheduler = w->s };
	sennit_scan             how = hashes;
	struct effect           all = { 99, 99 };

	EXPECT(sennit_parallel_scan(0, 9, NULL, NULL, &all, &o, SENNIT_NEVER) ==
	       -EINVAL);
	how.put_out = NULL;
	EXPECT(sennit_parallel_scan(0, 9, &how, NULL, &all, &o, SENNIT_NEVER) ==
	       -EINVAL);
	how = hashes;
	how.reduction.combine = NULL;
	EXPECT(sennit_parallel_scan(0, 9, &how, NULL, &all, &o, SENNIT_NEVER) ==
	       -EINVAL);
	how = hashes;
	how.reduction.accumulator_size = 0;
	EXPECT(sennit_parallel_scan(0, 9, &how, NULL, &all, &o, SENNIT_NEVER) ==
	       -EINVAL);
	how.reduction.accumulator_size = SIZE_MAX;
	EXPECT(sennit_parallel_scan(0, 9, &how, NULL, &all, &o, SENNIT_NEVER) ==
	       -ENOMEM);
	how.reduction.accumulator_size = SIZE_MAX / 2;
	EXPECT(sennit_parallel_scan(0, 9, &how, NULL, &all, &o, SENNIT_NEVER) ==
	       -ENOMEM);
	EXPECT(all.factor == 99);
}
