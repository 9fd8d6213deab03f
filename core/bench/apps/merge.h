/* SPDX-License-Identifier: Apache-2.0 */
/* merge.h - merges sorted runs, two by two. A merge of two long ranges is
 * divided: the middle of the longer one has its place in the other.
 */
#ifndef SN_BENCH_APPS_MERGE_H
#define SN_BENCH_APPS_MERGE_H

#include "harness.h"

#include <string.h>

#define MERGE_RUNS   32
#define MERGE_RUN    65536
#define MERGE_COUNT  UINT64_C(2097152)
#define MERGE_SERIAL 4096 /* a merge of so many elements is not divided */

BENCH_DATA uint32_t merge_data[MERGE_COUNT];
BENCH_DATA uint32_t merge_spare[MERGE_COUNT];

/* Two sorted ranges, and where their elements go. */
struct ranges {
	const uint32_t *left;
	size_t          left_count;
	const uint32_t *right;
	size_t          right_count;
	uint32_t       *out;
};

/* Each run is sorted: a sum of small random steps. */
static inline void merge_make_data(void)
{
	uint64_t x = 1;

	for (size_t i = 0; i < MERGE_COUNT; i++) {
		x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
		merge_data[i] = (uint32_t)(x >> 48);
		if (i % MERGE_RUN)
			merge_data[i] += merge_data[i - 1];
	}
}

BENCH_WORK void merge_serially(const struct ranges *m)
{
	const uint32_t *left = m->left, *left_end = left + m->left_count;
	const uint32_t *right = m->right, *right_end = right + m->right_count;
	uint32_t       *out = m->out;

	while (left < left_end && right < right_end)
		*out++ = *right < *left ? *right++ : *left++;
	memcpy(out, left, (size_t)(left_end - left) * sizeof(*out));
	out += left_end - left;
	memcpy(out, right, (size_t)(right_end - right) * sizeof(*out));
}

/* The number of elements of a sorted range that are less than `key`. */
static inline size_t merge_place(const uint32_t *range, size_t count,
				 uint32_t key)
{
	size_t low = 0, middle;

	while (low < count) {
		middle = low + (count - low) / 2;
		if (range[middle] < key)
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}

static inline bool merge_is_short(const struct ranges *m)
{
	return m->left_count + m->right_count <= MERGE_SERIAL;
}

/* Divide *m into two merges that have nothing in common. */
static inline void merge_divide(const struct ranges *m, struct ranges half[2])
{
	size_t left = m->left_count / 2, right = m->right_count / 2;

	if (m->left_count >= m->right_count)
		right = merge_place(m->right, m->right_count, m->left[left]);
	else
		left = merge_place(m->left, m->left_count, m->right[right]);
	half[0] = *m;
	half[0].left_count = left;
	half[0].right_count = right;
	half[1].left = m->left + left;
	half[1].left_count = m->left_count - left;
	half[1].right = m->right + right;
	half[1].right_count = m->right_count - right;
	half[1].out = m->out + left + right;
}

/* The array that holds the merge of `runs` runs: the two arrays take turns. */
static inline uint32_t *merge_array(size_t runs)
{
	bool spare = false;

	for (; runs > 1; runs /= 2)
		spare = !spare;
	return spare ? merge_spare : merge_data;
}

/* The last merge of these runs. */
static inline struct ranges merge_last(size_t first, size_t runs)
{
	const size_t    at = first * MERGE_RUN, half = runs / 2 * MERGE_RUN;
	const uint32_t *from = merge_array(runs / 2);
	struct ranges   m;

	m.left = from + at;
	m.left_count = half;
	m.right = from + at + half;
	m.right_count = half;
	m.out = merge_array(runs) + at;
	return m;
}

static inline void merge_check(void)
{
	const uint32_t *result = merge_array(MERGE_RUNS);
	uint64_t        sum = 0, wanted = 0;

	for (size_t i = 0; i < MERGE_COUNT; i++) {
		bench_check(!i || result[i - 1] <= result[i], "merge: order");
		sum += result[i];
	}
	merge_make_data();
	for (size_t i = 0; i < MERGE_COUNT; i++)
		wanted += merge_data[i];
	bench_check(sum == wanted, "merge: an element is lost");
}

#endif
