/* SPDX-License-Identifier: Apache-2.0 */
/* batches.c - many tasks in one call, from threads and from tasks, of all kinds
 * and sizes, while workers start, retire, sleep and steal, and a batch may
 * release the last reference: every task must run once. */
#include "shared_life.h"

enum { MOST = 4 };
#define LARGEST 300

/* The copied argument of a task, with marks that show whether it has run
 * already. */
struct order {
	struct life *l;
	uint64_t     random;
	unsigned     more; /* number of further generations */
	atomic_uint  begun;
};

static void obey(void *argument);

/* Make a batch of orders, each copied; same-thread tasks if `here`. */
static void make_batch(struct life *l, uint64_t *random, unsigned more,
		       bool here)
{
	static const uint32_t flags[] = { 0, 0, SENNIT_TASK_BACKGROUND,
					  SENNIT_TASK_SAME_THREAD };
	const unsigned        count =
		random_below(random, random_below(random, 4) ? 20 : LARGEST);
	const uint32_t flag = flags[random_below(random, here ? 4 : 3)];
	sennit_task    tasks[LARGEST];
	struct order   orders[LARGEST];

	for (unsigned i = 0; i < count; i++) {
		orders[i] = (struct order){ .l = l,
					    .random = random_from(random),
					    .more = i % 16 ? 0 : more };
		tasks[i] = (sennit_task){ .run = obey,
					  .argument = &orders[i],
					  .copy_size = sizeof(orders[i]),
					  .flags = flag };
	}
	atomic_fetch_add(&l->made, count);
	EXPECT(sennit_schedule_many_on(l->s, tasks, count) == 0);
	memset(orders, 0xee, sizeof(orders));
}

static void obey(void *argument)
{
	struct order *o = argument;

	EXPECT(atomic_fetch_add(&o->begun, 1) == 0);
	if (o->more)
		make_batch(o->l, &o->random, o->more - 1, true);
	if (random_below(&o->random, 32) == 0)
		sennit_yield();
	atomic_fetch_add(&o->l->ran, 1);
}

static void *keep_sending(void *argument)
{
	struct hand *h = argument;
	struct life *l = h->l;
	bool         bound = random_below(&h->random, 2);

	if (bound)
		EXPECT(sennit_thread_bind(l->s) == 0);
	for (; h->steps; h->steps--) {
		make_batch(l, &h->random, 2, bound);
		if (random_below(&h->random, 4) == 0)
			EXPECT(sennit_scheduler_set_workers(
				       l->s, 1 + random_below(&h->random,
							      MOST)) == 0);
		if (random_below(&h->random, 8) == 0)
			usleep(random_below(&h->random, 100));
	}
	if (bound)
		sennit_thread_unbind();
	sennit_scheduler_release(l->s);
	return NULL;
}

static void live(uint64_t *random)
{
	const uint32_t first = 1 + random_below(random, MOST);
	struct life    l = { .s = NULL };

	l.s = start_with(SENNIT_CONFIG(.workers = first, .max_workers = MOST,
				       .start = 1 + random_below(random, 2),
				       .placement = random_below(random, 3),
				       .order = random_below(random, 3),
				       .spin_ns = random_below(random, 2)
							  ? SENNIT_SPIN_NONE
							  : 0,
				       .on_shutdown = note_end,
				       .on_shutdown_context = &l));
	live_through(&l, keep_sending, random, 20);
}

TEST_ALONE(every_task_of_every_batch_runs_once)
{
	live_often(live, 200);
}
