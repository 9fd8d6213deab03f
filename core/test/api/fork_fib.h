/* SPDX-License-Identifier: Apache-2.0 */
/* fork_fib.h - spawned calls. */
#ifndef SN_TEST_FORK_FIB_H
#define SN_TEST_FORK_FIB_H

#include "testing/with_workers.h"
#include "sennit/fork_join.h"

/* --- fork fib ---------------------------------------------------------- */

/* A function whose calls are spawned, and the places from which
 * tests call it. */

SENNIT_FORK(unsigned, fib, unsigned, n)
{
	unsigned one, other;

	if (n < 2)
		return n;
	SENNIT_FORK_SPAWN(fib, child, n - 1);
	one = SENNIT_FORK_CALL(fib, n - 2);
	other = SENNIT_FORK_SYNC(fib, child);
	return one + other;
}

static inline void compute(void *unused)
{
	EXPECT(SENNIT_FORK_RUN(fib, 0) == 0);
	EXPECT(SENNIT_FORK_RUN(fib, 1) == 1);
	EXPECT(SENNIT_FORK_RUN(fib, LOAD(2000) > 200 ? 22 : 14) ==
	       (LOAD(2000) > 200 ? 17711 : 377));
}

/* Run it in a task, and on the bound thread. */
static inline void everywhere(sennit_task_fn *run)
{
	in_a_task(run, NULL);
	run(NULL);
}

/* --- fork room --------------------------------------------------------- */

/* Whether the macros of fork_join.h push onto the caller's deque
 * themselves, without a fence. */

static inline bool macros_have_room(void)
{
	struct sennit_here_ me;
	const uint64_t      at = sennit_fork_begin_(&me, SENNIT_FORK_VERSION_);

	return (int32_t)((uint32_t)at - me.deque->limit) < 0;
}

#endif
