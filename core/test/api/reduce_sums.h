/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_sums.h - reductions with all combinations of options, and the sum of
 * indices. */
#ifndef SN_TEST_REDUCE_SUMS_H
#define SN_TEST_REDUCE_SUMS_H

#include "testing/with_workers.h"

static inline sennit_parallel_options on(const struct world *w, size_t grain,
					 uint32_t flags)
{
	return (sennit_parallel_options){ .size = sizeof(
						  sennit_parallel_options),
					  .scheduler = w->s,
					  .grain = grain,
					  .flags = flags };
}

/* Call try_out with all combinations of options. */
static inline void with_options(
	struct world *w, void (*try_out)(const sennit_parallel_options *o))
{
	static const size_t grains[] = { 0, 1, 10, 1000, SIZE_MAX };

	for (size_t i = 0; i < sizeof(grains) / sizeof(grains[0]); i++)
		for (uint32_t flags = 0; flags < 2; flags++) {
			sennit_parallel_options o = on(w, grains[i], flags);

			try_out(&o);
		}
}

static inline int add_indices(void *context, void *accumulator, size_t begin,
			      size_t end)
{
	uint64_t *sum = accumulator;

	for (size_t i = begin; i < end; i++)
		*sum += i;
	return 0;
}

static inline void add_sums(void *context, void *left, const void *right)
{
	*(uint64_t *)left += *(const uint64_t *)right;
}

static const sennit_reduction indices = { .accumulator_size = sizeof(uint64_t),
					  .accumulate = add_indices,
					  .combine = add_sums };

static inline int add_waiting(void *context, void *accumulator, size_t begin,
			      size_t end)
{
	sennit_yield();
	return add_indices(context, accumulator, begin, end);
}

static const sennit_reduction slow_indices = { .accumulator_size =
						       sizeof(uint64_t),
					       .accumulate = add_waiting,
					       .combine = add_sums };

#endif
