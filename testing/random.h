/* SPDX-License-Identifier: Apache-2.0 */
/* random.h - repeatable random numbers for tests, and the scale of their
 * durations.
 *
 * SENNIT_TEST_SEED gives the seed, which is printed after failures.
 * SENNIT_TEST_TIME multiplies durations.
 */
#ifndef SN_TEST_RANDOM_H
#define SN_TEST_RANDOM_H

#include "base/torture.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

extern uint64_t random_seed; /* of main.c */

/* SplitMix64; each thread has a stream of its own. */
static inline uint64_t random_from(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* The first state of stream `which`. */
static inline uint64_t random_stream(uint64_t which)
{
	const char     *seed = getenv("SENNIT_TEST_SEED");
	struct timespec today;

	if (!random_seed && seed)
		random_seed = strtoull(seed, NULL, 0);
	if (!random_seed) {
		clock_gettime(CLOCK_REALTIME, &today);
		random_seed = (uint64_t)today.tv_sec * 1000000007 +
			      (uint64_t)today.tv_nsec;
	}
	return random_seed + which * UINT64_C(0xd1342543de82ef95);
}

static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
	return (uint32_t)(random_from(state) >> 32) % limit;
}

/* n multiplied by SENNIT_TEST_TIME. */
static inline uint64_t scaled(uint64_t n)
{
	const char *scale = getenv("SENNIT_TEST_TIME");
	double result = scale ? (double)n * strtod(scale, NULL) : (double)n;

	return result < 1 ? 1 : (uint64_t)result;
}

static inline int random_report(int failures)
{
	if (failures)
		fprintf(stderr, "SENNIT_TEST_SEED=%llu\n",
			(unsigned long long)random_seed);
	if (failures && getenv("SENNIT_TORTURE_SEED"))
		fprintf(stderr, "SENNIT_TORTURE_SEED=%s\n",
			getenv("SENNIT_TORTURE_SEED"));
	return failures;
}

#endif
