/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_sort.c - sorted and stable, for every input, element size and
 * calling place; nothing is lost when the sort is cancelled. */
#include "../random.h"
#include "with_workers.h"

#include <errno.h>

#define MOST 40000 /* more than the chunks of 2048 elements of 8 workers */

static sennit_parallel_options on(const struct world *w, size_t grain)
{
	return (sennit_parallel_options){ .scheduler = w->s, .grain = grain };
}

/* --- what is sorted ----------------------------------------------------- */

/* An element begins with its key. The rest stores its original position, as far
 * as it fits. */
static size_t   size_now;
static uint64_t seed;

static uint32_t key_of(const unsigned char *element)
{
	uint32_t key;

	memcpy(&key, element, sizeof(key));
	return key;
}

static uint32_t place_of(const unsigned char *element)
{
	uint32_t place;

	memcpy(&place, element + sizeof(place), sizeof(place));
	return place;
}

static int by_key(const void *left, const void *right, void *context)
{
	uint32_t l = key_of(left), r = key_of(right);

	EXPECT(!context || *(int *)context == 42);
	return (l > r) - (l < r);
}

enum shape {
	RANDOM,
	FEW_KEYS,
	EQUAL,
	SORTED,
	REVERSED,
	ORGAN_PIPE,
	NEARLY_SORTED,
	SAW,
	TWO_RUNS,
	SHAPES
};

static uint32_t key_at(enum shape shape, size_t i, size_t n)
{
	switch (shape) {
	case RANDOM:
		return (uint32_t)random_from(&seed);
	case FEW_KEYS:
		return random_below(&seed, 3);
	case EQUAL:
		return 7;
	case SORTED:
		return (uint32_t)i;
	case REVERSED:
		return (uint32_t)(n - i);
	case ORGAN_PIPE:
		return (uint32_t)(i < n / 2 ? i : n - i);
	case NEARLY_SORTED:
		return (uint32_t)i + random_below(&seed, 20);
	case SAW:
		return (uint32_t)(i % 100);
	default:
		return (uint32_t)(i < n / 2 ? i + n / 2 : i - n / 2);
	}
}

static unsigned char *make(enum shape shape, size_t n)
{
	unsigned char *all = calloc(n + 1, size_now);

	for (size_t i = 0; i < n; i++) {
		unsigned char *e = all + i * size_now;
		uint32_t       key = key_at(shape, i, n);
		uint32_t       place = (uint32_t)i;

		memcpy(e, &key, sizeof(key));
		if (size_now >= 8)
			memcpy(e + sizeof(key), &place, sizeof(place));
		for (size_t k = 8; k < size_now; k++)
			e[k] = (unsigned char)(place + k);
	}
	return all;
}

/* Sorted, equal elements in their original order, and each element intact. */
static void expect_sorted(const unsigned char *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const unsigned char *e = all + i * size_now;
		const unsigned char *last = i ? e - size_now : e;

		EXPECT(key_of(last) <= key_of(e));
		for (size_t k = 8; k < size_now; k++)
			EXPECT(e[k] == (unsigned char)(place_of(e) + k));
		EXPECT(size_now < 8 || !i || key_of(last) < key_of(e) ||
		       place_of(last) < place_of(e));
	}
}

/* Whether each element exists exactly once: keys are as before, and positions
 * are 0, 1, .. n-1. */
static void expect_all_there(const unsigned char *all, size_t n)
{
	unsigned char *seen = calloc(n + 1, 1);

	for (size_t i = 0; i < n; i++) {
		uint32_t place = place_of(all + i * size_now);

		EXPECT(place < n && !seen[place]);
		if (place < n)
			seen[place] = 1;
	}
	free(seen);
}

static void sort_one(const sennit_parallel_options *o, enum shape shape,
		     size_t n)
{
	unsigned char *all = make(shape, n);
	int            context = 42;

	EXPECT(sennit_parallel_sort(all, n, size_now, by_key, &context, NULL,
				    o) == 0);
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

static void any_input_is_sorted_stably(void **state)
{
	seed = random_stream(1);
	in_each_place_of(sort_shapes, *state);
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

static void many_are_sorted_by_all(void **state)
{
	seed = random_stream(2);
	in_each_place_of(sort_many, *state);
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

static void elements_may_have_any_size(void **state)
{
	seed = random_stream(3);
	in_each_place_of(sort_sizes, *state);
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

static void random_sorts_come_out_right(void **state)
{
	seed = random_stream(4);
	in_a_task(sort_sometimes, *state);
}

/* --- options ------------------------------------------------------------ */

static int by_key_waiting(const void *left, const void *right, void *context)
{
	sennit_mutex *m = context;
	int           order;

	sennit_mutex_lock(m);
	order = by_key(left, right, NULL);
	if (order)
		sennit_yield();
	sennit_mutex_unlock(m);
	return order;
}

static void sort_waiting(void *argument)
{
	const sennit_parallel_options o = on(argument, 1);
	sennit_mutex                  m = SENNIT_MUTEX_INIT;
	unsigned char                *all;

	size_now = 8;
	all = make(RANDOM, 300);
	EXPECT(sennit_parallel_sort(all, 300, 8, by_key_waiting, &m, NULL,
				    &o) == 0);
	expect_sorted(all, 300);
	expect_all_there(all, 300);
	free(all);
}

static void comparisons_may_wait(void **state)
{
	seed = random_stream(5);
	in_each_place_of(sort_waiting, *state);
}

static int sort_columns(void *context, size_t begin, size_t end)
{
	uint64_t *columns = context;

	for (size_t i = begin; i < end; i++)
		EXPECT(sennit_parallel_sort(columns + i * 3000, 3000, 8, by_key,
					    NULL, NULL, NULL) == 0);
	return 0;
}

static void sort_in_a_loop(void *argument)
{
	const sennit_parallel_options o = on(argument, 1);
	unsigned char                *all;

	size_now = 8;
	all = make(RANDOM, 12000);
	EXPECT(sennit_parallel_for(0, 4, sort_columns, all, &o) == 0);
	for (size_t i = 0; i < 12000; i += 3000)
		expect_sorted(all + i * 8, 3000);
	expect_all_there(all, 12000);
	free(all);
}

static void loops_may_sort(void **state)
{
	seed = random_stream(6);
	in_each_place_of(sort_in_a_loop, *state);
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
					      NULL, NULL, NULL),
			 0);
	free(all);
	return atomic_load(&compared);
}

static void no_input_takes_many_comparisons(void **state)
{
	const unsigned long n = 1 << 15;

	(void)state;
	seed = random_stream(7);
	size_now = 8;
	for (int shape = 0; shape < SHAPES; shape++)
		assert_in_range(comparisons((enum shape)shape, n), n - 1,
				n * 17);
	assert_in_range(comparisons(SORTED, n), n - 1, n * 7 / 2);
}

/* --- memory ------------------------------------------------------------- */

static void scratch_of_the_callers_is_used(void **state)
{
	struct world                 *w = *state;
	const sennit_parallel_options o = on(w, 50);
	unsigned char                *all, *scratch;

	seed = random_stream(8);
	size_now = 12;
	all = make(RANDOM, 1000);
	scratch = malloc(12000);
	assert_int_equal(
		sennit_parallel_sort(all, 1000, 12, by_key, NULL, scratch, &o),
		0);
	expect_sorted(all, 1000);
	free(scratch);
	free(all);
}

static void *take_little(void *context, size_t size, size_t alignment)
{
	(void)context;
	if (size > 100000)
		return NULL;
	return aligned_alloc(alignment,
			     (size + alignment - 1) / alignment * alignment);
}

static void give(void *context, void *memory, size_t size)
{
	(void)context;
	(void)size;
	free(memory);
}

static void without_memory_nothing_is_moved(void **state)
{
	const sennit_allocator a = { take_little, give, NULL };
	const struct world    *w = *state;
	sennit_scheduler      *s = start_with(
		     SENNIT_CONFIG(.workers = w->workers, .allocator = &a));
	unsigned char *all;

	seed = random_stream(9);
	size_now = 8;
	all = make(REVERSED, 20000);
	assert_int_equal(sennit_bind(s), 0);
	assert_int_equal(
		sennit_parallel_sort(all, 20000, 8, by_key, NULL, NULL, NULL),
		-ENOMEM);
	for (uint32_t i = 0; i < 20000; i++)
		assert_int_equal(place_of(all + 8 * (size_t)i), i);
	assert_int_equal(
		sennit_parallel_sort(all, 9999, 8, by_key, NULL, NULL, NULL),
		0);
	expect_sorted(all, 9999);
	sennit_unbind();
	end_scheduler(s);
	free(all);
}

static void refuse(void *argument)
{
	sennit_parallel_options o = on(argument, 0);
	uint64_t                x[2] = { 2, 1 };

	EXPECT(sennit_parallel_sort(x, 2, 0, by_key, NULL, NULL, &o) ==
	       -EINVAL);
	EXPECT(sennit_parallel_sort(x, 2, 8, NULL, NULL, NULL, &o) == -EINVAL);
	EXPECT(sennit_parallel_sort(x, SIZE_MAX / 8 + 1, 8, by_key, NULL, NULL,
				    &o) == -EINVAL);
	EXPECT(sennit_parallel_sort(x, 2, SIZE_MAX / 2 + 1, by_key, NULL, NULL,
				    &o) == -EINVAL);
	o.flags = 1u << 31;
	EXPECT(sennit_parallel_sort(x, 2, 8, by_key, NULL, NULL, &o) ==
	       -EINVAL);
	EXPECT(x[0] == 2);
}

static void bad_arguments_are_refused(void **state)
{
	in_each_place_of(refuse, *state);
}

/* --- cancels and errors ------------------------------------------------- */

struct quitter {
	atomic_long  left; /* comparisons before the cancel */
	bool         lies; /* the comparison is inconsistent from then on */
	sennit_group g;
};

static int cancel_and_compare(const void *left, const void *right,
			      void *context)
{
	struct quitter *q = context;
	long            n = atomic_fetch_sub(&q->left, 1);

	if (n == 1)
		sennit_group_cancel(&q->g);
	if (q->lies && sennit_cancelled())
		return (int)(n % 7 * 3 % 5) - 2;
	return by_key(left, right, NULL);
}

static int sort_until_cancelled(void *argument)
{
	struct quitter               *q = argument;
	const sennit_parallel_options o = { .grain = 50 };
	unsigned char                *all = make(RANDOM, 4000);
	int err = sennit_parallel_sort(all, 4000, 8, cancel_and_compare, q,
				       NULL, &o);

	expect_all_there(all, 4000);
	EXPECT(err == 0 || err == -ECANCELED);
	if (!err)
		expect_sorted(all, 4000);
	free(all);
	return err;
}

static void quit_midway(struct world *w, bool lies)
{
	size_now = 8;
	for (long left = 1; left < 60000; left += left / (lies ? 1 : 3) + 1) {
		struct quitter q = { .left = left, .lies = lies };

		sennit_group_init_on(&q.g, w->s, SENNIT_NEVER, 0);
		EXPECT(sennit_group_spawn(&q.g, sort_until_cancelled, &q) == 0);
		EXPECT(sennit_group_wait(&q.g) ==
		       (atomic_load(&q.left) > 0 ? 0 : -ECANCELED));
	}
}

static void cancel_midway(void *argument)
{
	quit_midway(argument, false);
}

static void cancelled_midway_it_has_lost_nothing(void **state)
{
	seed = random_stream(10);
	in_each_place_of(cancel_midway, *state);
}

static void cancel_and_lie(void *argument)
{
	quit_midway(argument, true);
}

static void a_comparison_that_has_cancelled_may_say_anything(void **state)
{
	seed = random_stream(12);
	in_each_place_of(cancel_and_lie, *state);
}

static void run_late(void *argument)
{
	sennit_parallel_options o = on(argument, 50);
	sennit_mutex            m = SENNIT_MUTEX_INIT;
	unsigned char          *all;

	size_now = 8;
	all = make(RANDOM, 4000);
	o.deadline = 1;
	EXPECT(sennit_parallel_sort(all, 4000, 8, by_key, NULL, NULL, &o) ==
	       -ETIMEDOUT);
	expect_all_there(all, 4000);
	o.deadline = sennit_after(100 * SENNIT_MICROSECOND);
	EXPECT(sennit_parallel_sort(all, 4000, 8, by_key_waiting, &m, NULL,
				    &o) == -ETIMEDOUT);
	expect_all_there(all, 4000);
	o.deadline = sennit_after(GIVE_UP);
	EXPECT(sennit_parallel_sort(all, 4000, 8, by_key, NULL, NULL, &o) == 0);
	free(all);
}

static void the_deadline_ends_it(void **state)
{
	seed = random_stream(11);
	in_each_place_of(run_late, *state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORKERS(any_input_is_sorted_stably),
		WITH_WORKERS(many_are_sorted_by_all),
		WITH_WORKERS(elements_may_have_any_size),
		WITH_WORKERS(random_sorts_come_out_right),
		WITH_WORKERS(comparisons_may_wait),
		WITH_WORKERS(loops_may_sort),
		WITH_WORKERS(no_input_takes_many_comparisons),
		WITH_WORKERS(scratch_of_the_callers_is_used),
		WITH_COUNTS(without_memory_nothing_is_moved),
		WITH_WORKERS(bad_arguments_are_refused),
		WITH_WORKERS(cancelled_midway_it_has_lost_nothing),
		WITH_WORKERS(a_comparison_that_has_cancelled_may_say_anything),
		WITH_WORKERS(the_deadline_ends_it),
	};

	return random_report(cmocka_run_group_tests_name("api/parallel_sort",
							 tests, NULL, NULL));
}
