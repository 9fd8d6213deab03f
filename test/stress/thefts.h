/* SPDX-License-Identifier: Apache-2.0 */
/* thefts.h - calls of fork_join.h whose caller does nothing until another
 * worker has begun them, while that may be at any point on its way to sleep. A
 * worker that sleeps through a call makes the test fail. */
#ifndef SN_TEST_THEFTS_H
#define SN_TEST_THEFTS_H

#include "bringing.h"

#include "sennit/fork_join.h"

enum { THEFTS = 600 }; /* each takes some turns of a CPU */

SENNIT_FORK_1(bool, raise_begun, atomic_bool *, begun)
{
	atomic_store(begun, true);
	return true;
}

/* The library is not called while the caller waits: it publishes nothing, and
 * takes nothing back. */
SENNIT_FORK_1(bool, be_robbed, uint64_t *, random)
{
	atomic_bool begun;
	sennit_time give_up = sennit_after(GIVE_UP);
	bool        in_time;

	atomic_init(&begun, false);
	SENNIT_SPAWN(raise_begun, call, &begun);
	while (!atomic_load(&begun) && sennit_now() < give_up)
		sched_yield();
	in_time = atomic_load(&begun);
	dawdle(random);
	return SENNIT_SYNC(raise_begun, call) && in_time;
}

static inline void run_thefts(void *unused)
{
	uint64_t       random = random_stream(3);
	const uint64_t count = scaled(LOAD(THEFTS));

	(void)unused;
	for (uint64_t i = 0; i < count; i++)
		EXPECT(SENNIT_RUN(be_robbed, &random));
}

#endif
