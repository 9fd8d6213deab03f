/* SPDX-License-Identifier: Apache-2.0 */
/* bringing.h - tasks that come one at a time, while a worker may be at any
 * point on its way to sleep. A worker that sleeps through a task makes the test
 * hang. */
#ifndef SN_TEST_BRINGING_H
#define SN_TEST_BRINGING_H

#include "../api/with_workers.h"
#include "../random.h"

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
		EXPECT(sennit_enqueue(s, &t) == 0);
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

#endif
