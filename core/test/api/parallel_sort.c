/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_sort.c - sorted and stable, for every input, element size and
 * calling place; memory; refused arguments. */
#include "sort_input.h"

#define MOST 40000 /* more than the chunks of 2048 elements of 8 workers */

/* --- what is sorted ----------------------------------------------------- */

static void sort_one(const sennit_parallel_options *o, enum shape shape,
		     size_t n)
{
	unsigned char *all = make(shape, n);
	int            context = 42;

	EXPECT(sennit_parallel_sort(all, n, size_now, by_key, &context, NULL, o,
				    SENNIT_NEVER) == 0);
	expect_sorted(all, n);
	if (size_now >= 8)
		expect_all_there(all, n);
	free(all);
}

static void sort_shapes(void *argument)
{
	static const size_t ns[] = {
		0, 1, 2, 3, 7, 8, 9, 16, 17, 100, 999, 2048, 2049, 6000,
	};
	const sennit_parallel_options o = on(argument, 100);

	size_now = 8;
	for (size_t i = 0; i < sizeof(ns) / sizeof(ns[0]); i++)
		for (int shape = 0; shape < SHAPES; shape++)
			sort_one(&o, (enum shape)shape, ns[i]);
}

TEST_WITH_WORKERS(any_input_is_sorted_stably)
{
	seed = random_stream(1);
	in_each_place_of(sort_shapes, w);
}

static void sort_many(void *argument)
{
	sennit_parallel_options o = on(argument, 0);

	size_now = 8;
	for (int shape = 0; shape < SHAPES; shape++)
		sort_one(&o, (enum shape)shape, LOAD(MOST));
	o.grain = 1;
	sort_one(&o, RANDOM, LOAD(MOST));
}

TEST_WITH_WORKERS(many_are_sorted_by_all)
{
	seed = random_stream(2);
	in_each_place_of(sort_many, w);
}

static void sort_sizes(void *argument)
{
	static const size_t sizes[] = { 4, 8, 9, 12, 16, 24, 32, 100, 5000 };
	const sennit_parallel_options o = on(argument, 64);

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_now = sizes[i];
		sort_one(&o, RANDOM, 999);
		sort_one(&o, FEW_KEYS, 999);
	}
}

TEST_WITH_WORKERS(elements_may_have_any_size)
{
	seed = random_stream(3);
	in_each_place_of(sort_sizes, w);
}

static void sort_sometimes(void *argument)
{
	for (uint64_t i = scaled(LOAD(401) / 4); i > 0; i--) {
		uint32_t                grain = random_below(&seed, 200);
		sennit_parallel_options o = on(argument, grain);
		uint32_t                n = random_below(&seed, 3000);
		uint32_t                shape = random_below(&seed, SHAPES);

		size_now = 8 + random_below(&seed, 3) * 4;
		sort_one(&o, (enum shape)shape, n);
	}
}

TEST_WITH_WORKERS(random_sorts_come_out_right)
{
	seed = random_stream(4);
	in_a_task(sort_sometimes, w);
}

/* --- options ------------------------------------------------------------ */

static void sort_waiting(void *argument)
{
	const sennit_parallel_options o = on(argument, 1);
	sennit_mutex                  m = SENNIT_MUTEX_INIT;
	unsigned char                *all;

	size_now = 8;
	all = make(RANDOM, 300);
	EXPECT(sennit_parallel_sort(all, 300, 8, by_key_waiting, &m, NULL, &o,
				    SENNIT_NEVER) == 0);
	expect_sorted(all, 300);
	expect_all_there(all, 300);
	free(all);
}

TEST_WITH_WORKERS(comparisons_may_wait)
{
	seed = random_stream(5);
	in_each_place_of(sort_waiting, w);
}

static int sort_columns(void *context, size_t begin, size_t end)
{
	uint64_t *columns = context;

	for (size_t i = begin; i < end; i++)
		EXPECT(sennit_parallel_sort(columns + i * 3000, 3000, 8, by_key,
					    NULL, NULL, NULL,
					    SENNIT_NEVER) == 0);
	return 0;
}

static void sort_in_a_loop(void *argument)
{
	const sennit_parallel_options o = on(argument, 1);
	unsigned char                *all;

	size_now = 8;
	all = make(RANDOM, 12000);
	EXPECT(sennit_parallel_for(0, 4, sort_columns, all, &o, SENNIT_NEVER) ==
	       0);
	for (size_t i = 0; i < 12000; i += 3000)
		expect_sorted(all + i * 8, 3000);
	expect_all_there(all, 12000);
	free(all);
}

TEST_WITH_WORKERS(loops_may_sort)
{
	seed = random_stream(6);
	in_each_place_of(sort_in_a_loop, w);
}

static atomic_ulong compared;

static int count_and_compare(const void *left, const void *right, void *context)
{
	atomic_fetch_add(&compared, 1);
	return by_key(left, right, context);
}

static unsigned long comparisons(enum shape shape, size_t n)
{
	unsigned char *all = make(shape, n);

	atomic_store(&compared, 0);
	assert_int_equal(sennit_parallel_sort(all, n, 8, count_and_compare,
					      NULL, NULL, NULL, SENNIT_NEVER),
			 0);
	free(all);
	return atomic_load(&compared);
}

TEST_WITH_WORKERS(no_input_takes_many_comparisons)
{
	const unsigned long n = 1 << 15;

	seed = random_stream(7);
	size_now = 8;
	for (int shape = 0; shape < SHAPES; shape++)
		assert_in_range(comparisons((enum shape)shape, n), n - 1,
				n * 17);
	assert_in_range(comparisons(SORTED, n), n - 1, n * 7 / 2);
}

/* --- memory ------------------------------------------------------------- */

TEST_WITH_WORKERS(scratch_of_the_callers_is_used)
{
	const sennit_parallel_options o = on(w, 50);
	unsigned char                *all, *scratch;

	seed = random_stream(8);
	size_now = 12;
	all = make(RANDOM, 1000);
	scratch = malloc(12000);
	assert_int_equal(sennit_parallel_sort(all, 1000, 12, by_key, NULL,
					      scratch, &o, SENNIT_NEVER),
			 0);
	expect_sorted(all, 1000);
	free(scratch);
	free(all);
}

static void *take_little(void *context, size_t size, size_t alignment)
{
	if (size > 100000)
		return NULL;
	return aligned_alloc(alignment,
			     (size + alignment - 1) / alignment * alignment);
}

static void give(void *context, void *memory, size_t size)
{
	free(memory);
}

TEST_WITH_COUNTS(without_memory_nothing_is_moved)
{
	const sennit_allocator a = { take_little, give, NULL };
	sennit_scheduler      *s = start_with(
		     SENNIT_CONFIG(.workers = w->workers, .allocator = &a));
	unsigned char *all;

	seed = random_stream(9);
	size_now = 8;
	all = make(REVERSED, 20000);
	assert_int_equal(sennit_thread_bind(s), 0);
	assert_int_equal(sennit_parallel_sort(all, 20000, 8, by_key, NULL, NULL,
					      NULL, SENNIT_NEVER),
			 -ENOMEM);
	for (uint32_t i = 0; i < 20000; i++)
		assert_int_equal(place_of(all + 8 * (size_t)i), i);
	assert_int_equal(sennit_parallel_sort(all, 9999, 8, by_key, NULL, NULL,
					      NULL, SENNIT_NEVER),
			 0);
	expect_sorted(all, 9999);
	sennit_thread_unbind();
	end_scheduler(s);
	free(all);
}

TEST_IN_EACH_PLACE_OF(bad_arguments_are_refused)
{
	sennit_parallel_options o = on(world, 0);
	uint64_t                x[2] = { 2, 1 };

	EXPECT(sennit_parallel_sort(x, 2, 0, by_key, NULL, NULL, &o,
				    SENNIT_NEVER) == -EINVAL);
	EXPECT(sennit_parallel_sort(x, 2, 8, NULL, NULL, NULL, &o,
				    SENNIT_NEVER) == -EINVAL);
	EXPECT(sennit_parallel_sort(x, SIZE_MAX / 8 + 1, 8, by_key, NULL, NULL,
				    &o, SENNIT_NEVER) == -EINVAL);
	EXPECT(sennit_parallel_sort(x, 2, SIZE_MAX / 2 + 1, by_key, NULL, NULL,
				    &o, SENNIT_NEVER) == -EINVAL);
	o.flags = 1u << 31;
	EXPECT(sennit_parallel_sort(x, 2, 8, by_key, NULL, NULL, &o,
				    SENNIT_NEVER) == -EINVAL);
	EXPECT(x[0] == 2);
}
