/* SPDX-License-Identifier: Apache-2.0 */
/* slots_vs_ends.c - schedulers share CPUs while work comes from outside and
 * inside and waits on its workers, workers start and retire, and one scheduler
 * after the other ends. All work must be done once, never by more workers than
 * there are CPUs, and each scheduler must end. */
#include "shared_life.h"

enum { MOST = 3, SHARERS = 4, PAUSE = 300 };

/* A life, and the counter of active tasks. */
struct sharer {
	struct life       l;
	sennit_resources *r;
	uint32_t          cpus;
	uint64_t          random;
};

static atomic_uint active;

/* This contains no safe point. */
static void count(void *argument)
{
	struct sharer *p = argument;
	unsigned       now = atomic_fetch_add(&active, 1) + 1;

	EXPECT(now <= p->cpus);
	for (volatile int i = 0; i < 200; i++)
		;
	atomic_fetch_sub(&active, 1);
	atomic_fetch_add(&p->l.ran, 1);
}

static void make(struct sharer *p, sennit_task_fn *run)
{
	atomic_fetch_add(&p->l.made, 1);
	must_schedule(run, p);
}

static void spread(void *argument)
{
	for (int i = 0; i < 30; i++)
		make(argument, count);
	count(argument);
}

static void stay(void *argument)
{
	const pthread_t here = pthread_self();

	sennit_sleep(100 * SENNIT_MICROSECOND);
	EXPECT(pthread_equal(here, pthread_self()));
	make(argument, spread);
	sennit_yield();
	count(argument);
}

static void *send_now_and_then(void *argument)
{
	static sennit_task_fn *const runs[] = { count, spread, stay };
	struct hand                 *h = argument;

	send_tasks(h, runs, container_of(h->l, struct sharer, l), PAUSE, MOST,
		   8);
	return NULL;
}

static void *share(void *argument)
{
	struct sharer *p = argument;
	uint64_t      *random = &p->random;
	uint32_t       most = random_below(random, MOST + 1);

	memset(&p->l, 0, sizeof(p->l));
	EXPECT(!sennit_scheduler_create(
		&p->l.s,
		SENNIT_CONFIG(.workers = 1 + random_below(random, MOST),
			      .max_workers = MOST,
			      .start = 1 + random_below(random, 2),
			      .retire_ms = random_below(random, 2),
			      .spin_ns = random_below(random, 2)
						 ? SENNIT_SPIN_NONE
						 : 0,
			      .resources = p->r, .resources_max = most,
			      .resources_priority = random_below(random, 5),
			      .on_shutdown = note_end,
			      .on_shutdown_context = &p->l)));
	live_through(&p->l, send_now_and_then, random, 20);
	return NULL;
}

static void live(uint64_t *random)
{
	const uint32_t         cpus = 1 + random_below(random, 2);
	sennit_resources      *r;
	struct sharer          p[SHARERS];
	pthread_t              threads[SHARERS];
	sennit_resources_stats stats = { .size = sizeof(stats) };

	EXPECT(!sennit_resources_create(&r, cpus, NULL));
	for (int i = 0; i < SHARERS; i++) {
		p[i] = (struct sharer){ .r = r,
					.cpus = cpus,
					.random = random_from(random) };
		threads[i] = must_start_thread(share, &p[i]);
	}
	for (int i = 0; i < SHARERS; i++)
		pthread_join(threads[i], NULL);
	sennit_resources_get_stats(r, &stats);
	EXPECT(!stats.active && !stats.waiting && !stats.schedulers);
	EXPECT(stats.active_peak <= cpus);
	sennit_resources_release(r);
}

TEST_ALONE(all_end_and_none_takes_too_much)
{
	live_often(live, 100);
}
