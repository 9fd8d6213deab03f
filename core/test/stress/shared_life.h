/* SPDX-License-Identifier: Apache-2.0 */
/* shared_life.h - the life of a scheduler that several threads use, each
 * through its own reference, until the last reference is released. The
 * scheduler must end once, and every task must have run. */
#ifndef SN_TEST_SHARED_LIFE_H
#define SN_TEST_SHARED_LIFE_H

#include "testing/with_workers.h"
#include "testing/random.h"

enum { HANDS = 3 };

struct life {
	sennit_scheduler *s;
	sennit_event      ended;
	atomic_uint       ends;
	atomic_ullong     made, ran; /* numbers of tasks */
};

/* A thread's share of it. The thread releases its reference after its steps. */
struct hand {
	struct life *l;
	uint64_t     random;
	unsigned     steps;
};

/* The on_shutdown callback of the life's scheduler. */
static inline void note_end(void *life)
{
	struct life *l = life;

	atomic_fetch_add(&l->ends, 1);
	sennit_event_set(&l->ended);
}

/* A task that is counted. */
static inline void run_once(void *life)
{
	atomic_fetch_add(&((struct life *)life)->ran, 1);
}

/* Schedule run(l), which ends with run_once(l). */
static inline void make_task(struct life *l, sennit_task_fn *run)
{
	atomic_fetch_add(&l->made, 1);
	must_schedule(run, l);
}

static inline void make_tasks(struct life *l, sennit_task_fn *run, unsigned n)
{
	while (n--)
		make_task(l, run);
}

/* Take the hand's steps: each enqueues one of three tasks and perhaps pauses
 * for up to 2 * pause microseconds. One of `one_in` changes the number of
 * workers, to `most` at most. */
static inline void send_tasks(struct hand *h, sennit_task_fn *const runs[3],
			      void *argument, uint32_t pause, uint32_t most,
			      uint32_t one_in)
{
	for (; h->steps; h->steps--) {
		const sennit_task t = {
			.run = runs[random_below(&h->random, 3)],
			.argument = argument
		};

		atomic_fetch_add(&h->l->made, 1);
		EXPECT(sennit_schedule_task_on(h->l->s, &t) == 0);
		if (random_below(&h->random, one_in) == 0)
			EXPECT(!sennit_scheduler_set_workers(
				h->l->s, 1 + random_below(&h->random, most)));
		if (random_below(&h->random, 4) == 0)
			usleep(random_below(&h->random, 2 * pause));
	}
	sennit_scheduler_release(h->l->s);
}

/* Run use(hand) on each thread, with fewer than `steps` steps. l->s must have
 * one reference. */
static inline void live_through(struct life *l, void *(*use)(void *),
				uint64_t *random, unsigned steps)
{
	struct hand hands[HANDS];
	pthread_t   threads[HANDS];

	for (unsigned i = 1; i < HANDS; i++)
		sennit_scheduler_retain(l->s);
	for (unsigned i = 0; i < HANDS; i++) {
		hands[i] = (struct hand){ l, random_from(random),
					  random_below(random, steps) };
		threads[i] = must_start_thread(use, &hands[i]);
	}
	for (unsigned i = 0; i < HANDS; i++)
		pthread_join(threads[i], NULL);
	EXPECT(sennit_event_wait_until(&l->ended, sennit_after(GIVE_UP)) == 0);
	EXPECT(atomic_load(&l->ends) == 1);
	EXPECT(atomic_load(&l->ran) == atomic_load(&l->made));
}

/* Call live(random) `times` times, scaled, until a claim breaks. */
static inline void live_often(void (*live)(uint64_t *random), unsigned times)
{
	uint64_t random = random_stream(1);
	uint64_t left = scaled(LOAD(times));

	while (left-- > 0 && !atomic_load(&broken_claims))
		live(&random);
}

#endif
