/* SPDX-License-Identifier: Apache-2.0 */
/* deterministic.c - the calls of sennit/deterministic.h. */
#include "base/compiler.h"
#include "base/torture.h"
#include "sennit/deterministic.h"

#include <errno.h>

#ifdef SENNIT_DETERMINISTIC

bool sennit_explore_is_possible(void)
{
	return true;
}

void sennit_explore_point(void)
{
	sn_deterministic_point();
}

uint32_t sennit_explore_choose(uint32_t limit)
{
	MISUSE(!limit, "sennit_explore_choose", "limit is 0");
	return sn_deterministic_random(limit);
}

bool sennit_explore_sleep(const uint32_t *word, uint32_t expected,
			  sennit_time deadline)
{
	return sn_deterministic_wait(word, expected, deadline);
}

void sennit_explore_wake(const uint32_t *word)
{
	sn_deterministic_end_sleep(word);
}

int sennit_explore(uint64_t first, uint64_t               count,
		   void (*scenario)(void *context), void *context)
{
	for (uint64_t i = 0; i < count; i++) {
		sn_deterministic_begin(first + i);
		scenario(context);
	}
	return 0;
}

#else

bool sennit_explore_is_possible(void)
{
	return false;
}

void sennit_explore_point(void)
{
}

uint32_t sennit_explore_choose(uint32_t limit)
{
	MISUSE(!limit, "sennit_explore_choose", "limit is 0");
	return 0;
}

bool sennit_explore_sleep(const uint32_t *word, uint32_t expected,
			  sennit_time deadline)
{
	(void)word;
	(void)expected;
	(void)deadline;
	return true;
}

void sennit_explore_wake(const uint32_t *word)
{
	(void)word;
}

int sennit_explore(uint64_t first, uint64_t               count,
		   void (*scenario)(void *context), void *context)
{
	(void)first;
	(void)count;
	(void)scenario;
	(void)context;
	return -ENOSYS;
}

#endif
