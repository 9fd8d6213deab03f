/* SPDX-License-Identifier: Apache-2.0 */
/* bringing.h - work that is brought to workers, or stolen. */
#ifndef SN_TEST_BRINGING_H
#define SN_TEST_BRINGING_H

#include "testing/with_workers.h"
#include "testing/random.h"
#include "sennit/fork_join.h"

/* --- bringing ---------------------------------------------------------- */

/* Tasks that come one at a time, while a worker may be at any
 * point on its way to sleep. A worker that sleeps through a task makes the test
 * hang. */

/* A random delay, after which a worker may be at any point on its way to
 * sleep. */
static inline void dawdle(uint64_t *random)
{
	const sennit_time end = sennit_now() + random_below(random, 40000);

	while (random_below(random, 8) && sennit_now() < end)
		;
}

static inline void raise_flag(void *flag)
{
	atomic_store((atomic_bool *)flag, true);
}

static inline void bring_one_by_one(sennit_scheduler *s, unsigned count,
				    uint32_t flags)
{
	uint64_t          random = random_stream(1);
	atomic_bool       flag;
	const sennit_task t = { .run = raise_flag,
				.argument = &flag,
				.flags = flags };

	for (unsigned i = 0; i < count; i++) {
		atomic_init(&flag, false);
		EXPECT(sennit_schedule_task_on(s, &t) == 0);
		EXPECT(SOON(atomic_load(&flag)));
		dawdle(&random);
	}
}

/* With workers that search before they sleep, and with some that do not. */
static inline void bring_to_all(const struct world *w, unsigned count,
				uint32_t flags)
{
	sennit_scheduler *eager =
		start_with(SENNIT_CONFIG(.workers = w->workers,
					 .spin_ns = SENNIT_SPIN_NONE));

	bring_one_by_one(w->s, count, flags);
	bring_one_by_one(eager, count, flags);
	end_scheduler(eager);
}

/* --- thefts ------------------------------------------------------------ */

/* Calls of fork_join.h whose caller does nothing until another
 * worker has begun them, while that may be at any point on its way to sleep. A
 * worker that sleeps through a call makes the test fail. */

enum { THEFTS = 600 }; /* each takes some turns of a CPU */

SENNIT_FORK(bool, raise_begun, atomic_bool *, begun)
{
	atomic_store(begun, true);
	return true;
}

/* The library is not called while the caller waits: it publishes nothing, and
 * takes nothing back. */
SENNIT_FORK(bool, be_robbed, uint64_t *, random)
{
	atomic_bool begun;
	sennit_time give_up = sennit_after(GIVE_UP);
	bool        in_time;

	atomic_init(&begun, false);
	SENNIT_FORK_SPAWN(raise_begun, call, &begun);
	while (!atomic_load(&begun) && sennit_now() < give_up)
		sched_yield();
	in_time = atomic_load(&begun);
	dawdle(random);
	return SENNIT_FORK_SYNC(raise_begun, call) && in_time;
}

static inline void run_thefts(void *unused)
{
	uint64_t       random = random_stream(3);
	const uint64_t count = scaled(LOAD(THEFTS));

	for (uint64_t i = 0; i < count; i++)
		EXPECT(SENNIT_FORK_RUN(be_robbed, &random));
}

#endif
