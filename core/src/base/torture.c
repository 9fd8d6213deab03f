/* SPDX-License-Identifier: Apache-2.0 */
#include "base/torture.h"

#if !defined(NDEBUG) && !defined(SENNIT_HELGRIND) && \
	!defined(SENNIT_DETERMINISTIC)
#include "base/atomic.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static a_u64 chosen_seed; /* any: the seed; 0: not chosen yet */
static a_u32 threads;     /* any: number of threads that reached a point */

static _Thread_local uint64_t
	torture_state; /* 0: before this thread's first point */

static uint64_t choose_torture_seed(void)
{
	const char     *text = getenv("SENNIT_TORTURE_SEED");
	uint64_t        seed = text ? strtoull(text, NULL, 0) : 0;
	struct timespec now;

	if (seed)
		return seed;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return ((uint64_t)now.tv_nsec << 20 ^ (uint64_t)getpid()) | 1;
}

/* Two threads may choose at once. The first choice holds for both. */
uint64_t sn_torture_seed(void)
{
	uint64_t seed = a_load_rlx(&chosen_seed);
	uint64_t mine;

	if (seed || !sn_torture_is_on())
		return seed;
	mine = choose_torture_seed();
	return a_cas_rlx(&chosen_seed, &seed, mine) ? mine : seed;
}

static uint64_t next_torture_random(void)
{
	uint64_t x = torture_state;

	if (!x)
		x = ((sn_torture_seed() ^ (a_add_rlx(&threads, 1) + 1)) *
		     UINT64_C(0x9e3779b97f4a7c15)) |
		    1;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return torture_state = x;
}

/* Sleep rarely, for long enough that other threads go idle. Yield more often,
 * so that another thread runs. Sometimes spin briefly. Callers may rely on
 * errno, so it stays unchanged. */
void sn_torture_point(void)
{
	uint64_t x = next_torture_random() >> 20;
	int      saved = errno;

	if (x % 1024 == 0) {
		usleep(50);
	} else if (x % 64 == 1) {
		for (uint64_t i = 8 + (x >> 10) % 128; i; i--)
			a_pause();
	} else if (x % 16 == 2) {
		sched_yield();
	}
	errno = saved;
}
#endif
