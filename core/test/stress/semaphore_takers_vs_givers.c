/* SPDX-License-Identifier: Apache-2.0 */
/* semaphore_takers_vs_givers.c - permits are taken and given in random numbers,
 * with deadlines: none is lost, none is created, and no one waits for permits
 * that are available. */
#include "testing/crowd.h"
#include "testing/random.h"
#include "deadlines.h"

enum { PERMITS = 6 };

struct pool {
	sennit_semaphore permits;
	atomic_uint      next;
	atomic_int       out;
	unsigned         rounds;
};

/* Give the permits back in a random number of calls. */
static void give_back(struct pool *p, uint32_t n, uint64_t *random)
{
	while (n) {
		const uint32_t some = 1 + random_below(random, n);

		atomic_fetch_sub(&p->out, (int)some);
		sennit_semaphore_release(&p->permits, some);
		n -= some;
	}
}

static void use_pool(void *argument)
{
	struct pool *p = argument;
	uint64_t     random = random_stream(atomic_fetch_add(&p->next, 1));

	for (unsigned i = 0; i < p->rounds; i++) {
		const uint32_t n = 1 + random_below(&random, PERMITS);

		if (sennit_semaphore_acquire_until(&p->permits, n,
						   soon_or_never(&random)))
			continue;
		EXPECT(atomic_fetch_add(&p->out, (int)n) + (int)n <= PERMITS);
		if (!random_below(&random, 16))
			sennit_yield();
		give_back(p, n, &random);
	}
}

TEST_WITH_WORKERS(permits_are_neither_lost_nor_made)
{
	struct pool  p = { .rounds = (unsigned)scaled(LOAD(3000)) };
	struct crowd c = { .s = w->s,
			   .run = use_pool,
			   .argument = &p,
			   .tasks = 12,
			   .bound = 2,
			   .unbound = 2 };

	sennit_semaphore_init(&p.permits, PERMITS);
	gather(&c);
	disperse(&c);
	assert_int_equal(atomic_load(&p.out), 0);
	assert_int_equal(sennit_semaphore_count(&p.permits), PERMITS);
	sennit_semaphore_destroy(&p.permits);
}
