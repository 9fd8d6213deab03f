/* SPDX-License-Identifier: Apache-2.0 */
/* foreign_notify_vs_shutdown.c - all references to a scheduler are released,
 * and its last fibers wait for events that unbound threads set, while it tries
 * to end. It must end once, after the last fiber, and the threads must not
 * access freed memory. */
#include "testing/with_workers.h"
#include "testing/random.h"

enum { THREADS = 3, EVENTS = 6 };

struct end_clients {
	sennit_event      events[EVENTS];
	sennit_event      ended;
	sennit_scheduler *s;
	atomic_uint       ran;
	atomic_uint       ends;
	uint64_t          random;
};

struct visitor {
	struct end_clients *e;
	unsigned            index;
	bool     releases; /* whether it releases a reference of its own in
			    * between */
	uint64_t random;
};

static void note_end(void *argument)
{
	struct end_clients *e = argument;

	EXPECT(atomic_load(&e->ran) == EVENTS);
	atomic_fetch_add(&e->ends, 1);
	sennit_event_set(&e->ended);
}

static void dawdle(uint64_t *random)
{
	const sennit_time end = sennit_now() + random_below(random, 30000);

	while (sennit_now() < end)
		;
}

struct place {
	struct end_clients *e;
	unsigned            index;
};

/* Some fibers wait with a deadline that does not come, some wait again
 * afterwards. */
static void wait_there(void *argument)
{
	const struct place *p = argument;
	sennit_time         t = SENNIT_NEVER;

	if (p->index % 2)
		t = sennit_after(100 * SENNIT_SECOND);
	EXPECT(sennit_event_wait_until(&p->e->events[p->index], t) == 0);
	if (p->index % 3 == 0)
		sennit_sleep(1);
	atomic_fetch_add(&p->e->ran, 1);
}

static void *visit(void *argument)
{
	struct visitor *v = argument;

	for (unsigned i = v->index; i < EVENTS; i += THREADS) {
		dawdle(&v->random);
		if (v->releases && random_below(&v->random, 2)) {
			sennit_scheduler_release(v->e->s);
			v->releases = false;
		}
		sennit_event_set(&v->e->events[i]);
	}
	if (v->releases)
		sennit_scheduler_release(v->e->s);
	return NULL;
}

static void start_waiting(struct end_clients *e)
{
	for (unsigned i = 0; i < EVENTS; i++) {
		struct place      p = { e, i };
		const sennit_task t = { .run = wait_there,
					.argument = &p,
					.copy_size = sizeof(p) };

		sennit_event_init(&e->events[i], SENNIT_EVENT_MANUAL);
		EXPECT(sennit_schedule_task_on(e->s, &t) == 0);
	}
}

static void end_once(uint32_t workers, uint64_t *random)
{
	struct end_clients e = { .random = random_from(random) };
	struct visitor     v[THREADS];
	pthread_t          threads[THREADS];

	e.s = start_with(SENNIT_CONFIG(.workers = workers,
				       .on_shutdown = note_end,
				       .on_shutdown_context = &e,
				       .spin_ns = random_below(random, 2)
							  ? SENNIT_SPIN_NONE
							  : 0));
	start_waiting(&e);
	for (unsigned i = 0; i < THREADS; i++) {
		v[i] = (struct visitor){ &e, i, random_below(random, 2),
					 random_from(random) };
		if (v[i].releases)
			sennit_scheduler_retain(e.s);
		threads[i] = must_start_thread(visit, &v[i]);
	}
	dawdle(random);
	sennit_scheduler_release(e.s);
	EXPECT(sennit_event_wait_until(&e.ended, sennit_after(GIVE_UP)) == 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	EXPECT(atomic_load(&e.ends) == 1);
}

TEST_ALONE(a_released_scheduler_ends_once_after_its_last_fiber)
{
	static const uint32_t counts[] = { 1, 2, 4 };
	uint64_t              random = random_stream(1);
	uint64_t              i;

	for (i = scaled(LOAD(600)); i-- > 0 && !atomic_load(&broken_claims);)
		end_once(counts[random_below(&random, 3)], &random);
}
