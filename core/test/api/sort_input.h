/* SPDX-License-Identifier: Apache-2.0 */
/* sort_input.h - elements to sort, in shapes that are easy or hard, and what
 * must be true of the result. */
#ifndef SN_TEST_SORT_INPUT_H
#define SN_TEST_SORT_INPUT_H

#include "testing/random.h"
#include "testing/with_workers.h"

#include <errno.h>

static inline sennit_parallel_options on(const struct world *w, size_t grain)
{
	return (sennit_parallel_options){ .size = sizeof(
						  sennit_parallel_options),
					  .scheduler = w->s,
					  .grain = grain };
}

/* An element begins with its key. The rest stores its original position, as far
 * as it fits. */
static size_t   size_now;
static uint64_t seed;

static inline uint32_t key_of(const unsigned char *element)
{
	uint32_t key;

	memcpy(&key, element, sizeof(key));
	return key;
}

static inline uint32_t place_of(const unsigned char *element)
{
	uint32_t place;

	memcpy(&place, element + sizeof(place), sizeof(place));
	return place;
}

static inline int by_key(const void *left, const void *right, void *context)
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

static inline uint32_t key_at(enum shape shape, size_t i, size_t n)
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

static inline unsigned char *make(enum shape shape, size_t n)
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
static inline void expect_sorted(const unsigned char *all, size_t n)
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
static inline void expect_all_there(const unsigned char *all, size_t n)
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

static inline int by_key_waiting(const void *left, const void *right,
				 void *context)
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

#endif
