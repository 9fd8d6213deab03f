/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_reduce.c - results of ranges: correct, in order, reproducible in
 * deterministic mode, and complete or not begun when memory is short. */
#include "reduce_sums.h"

#include <errno.h>
#include <limits.h>

/* --- sums --------------------------------------------------------------- */

static void sum_ranges(const sennit_parallel_options *o)
{
	static const size_t ns[] = { 0, 1, 2, 3, 100, 999, 5000 };

	for (size_t i = 0; i < sizeof(ns) / sizeof(ns[0]); i++) {
		const size_t n = ns[i];
		uint64_t     sum = 99;

		EXPECT(sennit_parallel_reduce(5, 5 + n, &indices, NULL, &sum, o,
					      SENNIT_NEVER) == 0);
		EXPECT(sum == (n ? n * 5 + n * (n - 1) / 2 : 0));
	}
}

TEST_IN_EACH_PLACE_OF(each_index_is_accumulated_once)
{
	with_options(world, sum_ranges);
}

/* --- order -------------------------------------------------------------- */

/* Intervals that may only be joined at their ends. They are padded, so that
 * they are too large for stacks. */
struct interval {
	size_t        begin;
	size_t        end; /* 0: empty */
	unsigned char more[200];
};

static void no_interval(void *context, void *accumulator)
{
	memset(accumulator, 0x5a, sizeof(struct interval));
	((struct interval *)accumulator)->end = 0;
	EXPECT((uintptr_t)accumulator % 16 == 0);
	EXPECT(*(int *)context == 42);
}

static int append(void *context, void *accumulator, size_t begin, size_t end)
{
	struct interval *i = accumulator;

	EXPECT(*(int *)context == 42);
	EXPECT(!i->end || i->end == begin);
	if (!i->end)
		i->begin = begin;
	i->end = end;
	return 0;
}

static void join(void *context, void *left, const void *right)
{
	const struct interval *r = right;

	if (r->end)
		append(context, left, r->begin, r->end);
}

static const sennit_reduction intervals = { .accumulator_size =
						    sizeof(struct interval),
					    .identity = no_interval,
					    .accumulate = append,
					    .combine = join };

static void join_intervals(const sennit_parallel_options *o)
{
	int             context = 42;
	struct interval all;

	EXPECT(sennit_parallel_reduce(3, 7003, &intervals, &context, &all, o,
				      SENNIT_NEVER) == 0);
	EXPECT(all.begin == 3 && all.end == 7003 && all.more[199] == 0x5a);
}

TEST_IN_EACH_PLACE_OF(left_stays_left)
{
	with_options(world, join_intervals);
}

/* --- the same result ---------------------------------------------------- */

#define TERMS LOAD(100003)

static double term(size_t i)
{
	return (i % 3 ? 1.0 : -1e9) / (double)(i % 1013 + 1);
}

static int add_terms(void *context, void *accumulator, size_t begin, size_t end)
{
	double *sum = accumulator;

	for (size_t i = begin; i < end; i++)
		*sum += term(i);
	return 0;
}

static void add_doubles(void *context, void *left, const void *right)
{
	*(double *)left += *(const double *)right;
}

static const sennit_reduction terms = { .accumulator_size = sizeof(double),
					.accumulate = add_terms,
					.combine = add_doubles };

/* The order that the header promises, computed by one thread. */
static double sum_as_told(size_t begin, size_t end, size_t grain)
{
	size_t middle = begin + (end - begin) / 2 / grain * grain;
	double sum = 0;

	if (end - begin <= grain) {
		add_terms(NULL, &sum, begin, end);
		return sum;
	}
	if (middle == begin)
		middle += grain;
	return sum_as_told(begin, middle, grain) +
	       sum_as_told(middle, end, grain);
}

TEST_IN_EACH_PLACE_OF(a_deterministic_sum_is_the_same_to_the_last_bit)
{
	static const size_t grains[] = { 0, 1, 77, 4096 };

	for (size_t i = 0; i < sizeof(grains) / sizeof(grains[0]); i++) {
		size_t grain = grains[i] ? grains[i] : (TERMS + 255) / 256;
		double told = sum_as_told(0, TERMS, grain);
		double sum = 0;
		sennit_parallel_options o = on(world, grains[i],
					       SENNIT_PARALLEL_DETERMINISTIC);

		for (int again = 0; again < 3; again++) {
			EXPECT(sennit_parallel_reduce(0, TERMS, &terms, NULL,
						      &sum, &o,
						      SENNIT_NEVER) == 0);
			EXPECT(!memcmp(&sum, &told, sizeof(sum)));
		}
	}
}

/* --- waiting, nesting --------------------------------------------------- */

static int add_rows(void *context, void *accumulator, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++) {
		uint64_t sum = 0;

		EXPECT(sennit_parallel_reduce(0, 21, &slow_indices, NULL, &sum,
					      NULL, SENNIT_NEVER) == 0);
		EXPECT(sum == 210);
		add_sums(context, accumulator, &sum);
	}
	return 0;
}

static const sennit_reduction rows = { .accumulator_size = sizeof(uint64_t),
				       .accumulate = add_rows,
				       .combine = add_sums };

static void sum_rows(const sennit_parallel_options *o)
{
	uint64_t sum = 0;

	EXPECT(sennit_parallel_reduce(0, 30, &rows, NULL, &sum, o,
				      SENNIT_NEVER) == 0);
	EXPECT(sum == 6300);
}

TEST_IN_EACH_PLACE_OF(parts_may_wait_and_reduce)
{
	with_options(world, sum_rows);
}

/* --- memory ------------------------------------------------------------- */

/* An allocator with limited memory that counts body calls. */
struct purse {
	atomic_long taken;
	atomic_long left; /* number of allocations left */
	atomic_long called;
};

static void *take(void *context, size_t size, size_t alignment)
{
	struct purse *p = context;

	if (atomic_fetch_sub(&p->left, 1) <= 0)
		return NULL;
	atomic_fetch_add(&p->taken, 1);
	return aligned_alloc(alignment,
			     (size + alignment - 1) / alignment * alignment);
}

static void give(void *context, void *memory, size_t size)
{
	atomic_fetch_sub(&((struct purse *)context)->taken, 1);
	free(memory);
}

static void no_interval_of(void *context, void *accumulator)
{
	memset(accumulator, 0x5a, sizeof(struct interval));
	((struct interval *)accumulator)->end = 0;
	atomic_fetch_add(&((struct purse *)context)->called, 1);
}

static int append_to(void *context, void *accumulator, size_t begin, size_t end)
{
	int order = 42;

	atomic_fetch_add(&((struct purse *)context)->called, 1);
	return append(&order, accumulator, begin, end);
}

static void join_to(void *context, void *left, const void *right)
{
	const struct interval *r = right;

	if (r->end)
		append_to(context, left, r->begin, r->end);
}

/* With memory for `room` allocations the result is correct, or no body was
 * called. Returns whether the memory sufficed. */
static bool reduce_with_little_memory(struct purse *p, long room,
				      uint32_t flags)
{
	static const sennit_reduction counted = { .accumulator_size = sizeof(
							  struct interval),
						  .identity = no_interval_of,
						  .accumulate = append_to,
						  .combine = join_to };
	sennit_parallel_options       o = { .size = sizeof(o),
					    .grain = 7,
					    .flags = flags };
	struct interval               all = { .begin = 77 };
	int                           err;

	atomic_store(&p->called, 0);
	atomic_store(&p->left, room);
	err = sennit_parallel_reduce(1, 1000, &counted, p, &all, &o,
				     SENNIT_NEVER);
	room = atomic_exchange(&p->left, LONG_MAX);
	assert_true(!err || err == -ENOMEM);
	assert_int_equal(all.begin, err ? 77 : 1);
	if (err)
		assert_int_equal(atomic_load(&p->called), 0);
	else
		assert_int_equal(all.end, 1000);
	return room > 0;
}

static void reduce_with_any_memory(uint32_t workers, uint32_t flags)
{
	struct purse           p = { .left = LONG_MAX };
	const sennit_allocator a = { take, give, &p };
	sennit_scheduler      *s =
		start_with(SENNIT_CONFIG(.workers = workers, .allocator = &a));
	long enough = 0, before;

	assert_int_equal(sennit_thread_bind(s), 0);
	(void)reduce_with_little_memory(&p, LONG_MAX, flags);
	before = atomic_load(&p.taken);
	for (long room = 0; enough < 3 && room < 300; room++)
		enough += reduce_with_little_memory(&p, room, flags);
	if (!workers)
		assert_int_equal(atomic_load(&p.taken), before);
	sennit_thread_unbind();
	end_scheduler(s);
	assert_int_equal(atomic_load(&p.taken), 0);
}

TEST_WITH_COUNTS(without_memory_nothing_is_called_or_all)
{
	reduce_with_any_memory(w->workers, 0);
	reduce_with_any_memory(w->workers, SENNIT_PARALLEL_DETERMINISTIC);
}
