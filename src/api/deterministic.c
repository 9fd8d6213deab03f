/* SPDX-License-Identifier: Apache-2.0 */
#include "sennit/deterministic.h"

#include "base/deterministic.h"

#include <errno.h>

#ifdef SENNIT_DETERMINISTIC

bool sennit_is_deterministic(void)
{
	return true;
}

void sennit_point(void)
{
	sn_deterministic_point();
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

bool sennit_is_deterministic(void)
{
	return false;
}

void sennit_point(void)
{
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
