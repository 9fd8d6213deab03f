/* SPDX-License-Identifier: Apache-2.0 */
/* trim_vs_work.c - memory is trimmed automatically every millisecond and on
 * request all the time, while fibers wait and wake, queues grow and shrink,
 * stacks are scarce, and workers start and retire. Every task must run once,
 * and find the data that it left on its stack. */
#include "testing/with_workers.h"
#include "testing/random.h"

#define MOST    4
#define THREADS 2
#define CROWD   LOAD(300)
#ifdef SN_TSAN
#define LIVES 40
#else
#define LIVES LOAD(200)
#endif
#define DEEP 64 /* words of stack that a task writes */

struct life {
	sennit_scheduler *s;
	atomic_bool       over;
	atomic_ullong     made, ran;
};

/* The tasks of a crowd wait for its gate, or for a shorter time. */
struct crowd {
	struct life      *l;
	uint64_t          random;
	sennit_event      gate;
	sennit_wait_group left;
	unsigned          rounds;
};

struct order {
	struct crowd *c;
	uint64_t      random;
	unsigned      more;     /* number of further generations */
	char          rest[40]; /* makes such copies blocks of the pool */
};

static void obey(void *argument);

static void give_order(struct crowd *c, uint64_t *random, unsigned more)
{
	struct order      o = { .c = c,
				.random = random_from(random),
				.more = more };
	const sennit_task t = { .run = obey,
				.argument = &o,
				.copy_size = random_below(random, 2)
						     ? sizeof(o)
						     : offsetof(struct order,
								rest) };

	atomic_fetch_add(&c->l->made, 1);
	sennit_wait_group_add(&c->left, 1);
	EXPECT(sennit_schedule_task_on(c->l->s, &t) == 0);
}

static void wait_a_little(struct crowd *c, uint64_t *random)
{
	switch (random_below(random, 4)) {
	case 0:
		EXPECT(!sennit_event_wait(&c->gate));
		break;
	case 1:
		(void)!sennit_event_wait_until(
			&c->gate, sennit_after(random_below(random, 2000) *
					       SENNIT_MICROSECOND));
		break;
	case 2:
		sennit_yield();
		break;
	default:
		break;
	}
}

static void obey(void *argument)
{
	struct order     *o = argument;
	struct crowd     *c = o->c;
	uint64_t          random = o->random;
	volatile uint64_t mine[DEEP];

	for (unsigned i = 0; i < DEEP; i++)
		mine[i] = random + i;
	if (o->more)
		give_order(c, &o->random, o->more - 1);
	wait_a_little(c, &o->random);
	for (unsigned i = 0; i < DEEP; i++)
		EXPECT(mine[i] == random + i);
	atomic_fetch_add(&c->l->ran, 1);
	sennit_wait_group_done(&c->left);
}

static void *gather_crowds(void *argument)
{
	struct crowd *c = argument;
	bool          bound = random_below(&c->random, 2);

	if (bound)
		EXPECT(sennit_thread_bind(c->l->s) == 0);
	for (; c->rounds; c->rounds--) {
		sennit_event_init(&c->gate, SENNIT_EVENT_MANUAL);
		for (unsigned i = random_below(&c->random, CROWD); i; i--)
			give_order(c, &c->random, i % 8 ? 0 : 2);
		if (random_below(&c->random, 3) == 0)
			EXPECT(sennit_scheduler_set_workers(
				       c->l->s, 1 + random_below(&c->random,
								 MOST)) == 0);
		usleep(random_below(&c->random, 1500));
		sennit_event_set(&c->gate);
		sennit_wait_group_wait(&c->left);
	}
	if (bound)
		sennit_thread_unbind();
	return NULL;
}

static void *keep_trimming(void *argument)
{
	struct life *l = argument;

	while (!atomic_load(&l->over)) {
		sennit_scheduler_trim(l->s);
		sched_yield();
	}
	return NULL;
}

/* Returns the number of trimmed stacks. */
static uint64_t live(uint64_t *random)
{
	sennit_stats   stats = { .size = sizeof(stats) };
	const uint32_t first = 1 + random_below(random, MOST);
	struct life    l = { .s = NULL };
	struct crowd   crowds[THREADS];
	pthread_t      threads[THREADS], trimmer;

	l.s = start_with(SENNIT_CONFIG(
			.workers = first, .max_workers = MOST,
			.start = 1 + random_below(random, 2), .trim_ms = 1,
			.spare_stacks = 1 + random_below(random, 20),
			.max_fibers = random_below(random, 3) ? 0 : MOST + 20,
			.spin_ns = random_below(random, 2) ? SENNIT_SPIN_NONE
							   : 0));
	trimmer = must_start_thread(keep_trimming, &l);
	for (unsigned i = 0; i < THREADS; i++) {
		crowds[i] = (struct crowd){ .l = &l,
					    .random = random_from(random),
					    .rounds = random_below(random, 8) };
		threads[i] = must_start_thread(gather_crowds, &crowds[i]);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	atomic_store(&l.over, true);
	pthread_join(trimmer, NULL);
	EXPECT(atomic_load(&l.ran) == atomic_load(&l.made));
	sennit_scheduler_get_stats(l.s, &stats);
	end_scheduler(l.s);
	return stats.stacks_trimmed;
}

TEST_ALONE(what_is_in_use_stays)
{
	uint64_t random = random_stream(1);
	uint64_t trimmed = 0;
	uint64_t i;

	for (i = scaled(LIVES); i-- > 0 && !atomic_load(&broken_claims);)
		trimmed += live(&random);
	assert_true(trimmed);
}
