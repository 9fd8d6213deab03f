/* SPDX-License-Identifier: Apache-2.0 */
/* guests.c - threads of the program, each with a task of its own until it must
 * leave. */
#include "soak.h"

#include <pthread.h>

enum { VISITORS = 2, FOREIGNERS = 2, GUESTS = VISITORS + FOREIGNERS + 2 };

/* The pause between two actions of a guest, so that guests do not dominate the
 * load. */
#define REST (2 * SENNIT_MILLISECOND)

struct guest {
	struct guests *all;
	uint64_t       random;
	pthread_t      thread;
};

struct guests {
	sennit_scheduler *s;
	uint32_t          max_workers;
	sennit_event      leave;
	struct guest      each[GUESTS];
};

/* Returns false when it is time to leave. */
static bool rest(struct guest *g)
{
	const uint64_t pause = random_below(&g->random, 2 * REST);

	return sennit_event_wait_until(&g->all->leave, sennit_after(pause)) !=
	       0;
}

/* --- visitors: one thread after another binds, plays, and unbinds ------- */

static void *visit(void *argument)
{
	struct guest  *g = argument;
	const unsigned stay = random_below(&g->random, 3);

	if (sennit_thread_bind(g->all->s))
		abort();
	book_in(bindings, 1);
	for (unsigned i = 0; i < stay; i++)
		play_any(&g->random);
	sennit_thread_unbind();
	book_out(bindings, 1);
	return NULL;
}

static void *send_visitors(void *argument)
{
	struct guest *g = argument;
	pthread_t     visitor;

	while (rest(g)) {
		if (random_below(&g->random, 2)) {
			visit(g);
			continue;
		}
		if (pthread_create(&visitor, NULL, visit, g))
			abort();
		pthread_join(visitor, NULL);
	}
	return NULL;
}

/* --- foreigners: enqueue, and wait as unbound threads ------------------- */

struct order {
	sennit_wait_group open;
	sennit_mutex      lock;
	uint64_t          done; /* under lock */
};

static void fill_order(void *argument)
{
	struct order *o = argument;

	sennit_mutex_lock(&o->lock);
	o->done++;
	sennit_mutex_unlock(&o->lock);
	book_out(enqueued_tasks, 1);
	sennit_wait_group_done(&o->open);
}

static void enqueue_some(sennit_scheduler *s, uint64_t *random)
{
	const uint32_t n = 1 + random_below(random, 200);
	struct order   o = { .done = 0 };
	sennit_task    t = { .run = fill_order, .argument = &o };

	sennit_wait_group_init(&o.open, n);
	book_in(enqueued_tasks, n);
	for (uint32_t i = 0; i < n; i++) {
		t.flags = i % 16 ? 0 : SENNIT_TASK_BACKGROUND;
		if (sennit_schedule_task_on(s, &t))
			abort();
		if (!random_below(random, 8)) {
			sennit_mutex_lock(&o.lock);
			CLAIM(o.done <= n);
			sennit_mutex_unlock(&o.lock);
		}
	}
	while (sennit_wait_group_wait_until(&o.open, some_deadline(random)))
		count_one(timeouts);
	CLAIM(o.done == n);
}

static void *enqueue_often(void *argument)
{
	struct guest *g = argument;

	while (rest(g))
		enqueue_some(g->all->s, &g->random);
	return NULL;
}

/* --- resizers: start and retire workers -------------------------------- */

static void *change_staff(void *argument)
{
	struct guest *g = argument;
	uint32_t      n;
	int           err;

	while (rest(g)) {
		n = 1 + random_below(&g->random, g->all->max_workers);
		err = sennit_scheduler_set_workers(g->all->s, n);
		CLAIM(!err || err == -EAGAIN);
	}
	return NULL;
}

/* --- founders: release schedulers that still have work ------------------ */

struct firm {
	sennit_event ended;
	atomic_uint  started, done;
};

static void work_for(void *argument)
{
	struct firm *f = argument;

	if (atomic_fetch_add(&f->started, 1) % 2)
		sennit_sleep(20 * SENNIT_MICROSECOND);
	else
		sennit_yield();
	atomic_fetch_add(&f->done, 1);
}

static void note_end(void *argument)
{
	sennit_event_set(&((struct firm *)argument)->ended);
}

static void found(uint64_t *random)
{
	const uint32_t    workers = 1 + random_below(random, 3);
	const uint32_t    jobs = random_below(random, 32);
	struct firm       f;
	const sennit_task t = { .run = work_for, .argument = &f };
	sennit_scheduler *s;

	sennit_event_init(&f.ended, SENNIT_EVENT_MANUAL);
	atomic_init(&f.started, 0);
	atomic_init(&f.done, 0);
	if (sennit_scheduler_create(
		    &s, SENNIT_CONFIG(.workers = workers,
				      .start = random_below(random, 3),
				      .placement = random_below(random, 3),
				      .order = random_below(random, 3),
				      .name = "firm", .on_shutdown = note_end,
				      .on_shutdown_context = &f)))
		abort();
	book_in(schedulers, 1);
	for (uint32_t i = 0; i < jobs; i++)
		if (sennit_schedule_task_on(s, &t))
			abort();
	if (random_below(random, 2))
		sennit_scheduler_release(s);
	else
		CLAIM(!sennit_scheduler_shutdown(s, SENNIT_NEVER));
	if (sennit_event_wait_until(&f.ended, SENNIT_UNCANCELLED))
		abort();
	CLAIM(atomic_load(&f.done) == jobs);
	book_out(schedulers, 1);
}

static void *found_often(void *argument)
{
	struct guest *g = argument;

	while (rest(g))
		found(&g->random);
	return NULL;
}

/* --- all guests --------------------------------------------------------- */

struct guests *guests_invite(sennit_scheduler *s, uint32_t max_workers,
			     uint64_t seed)
{
	static void *(*const trades[GUESTS])(void *) = {
		send_visitors, send_visitors, enqueue_often,
		enqueue_often, change_staff,  found_often,
	};
	struct guests *all = calloc(1, sizeof(*all));

	if (!all)
		abort();
	all->s = s;
	all->max_workers = max_workers;
	sennit_event_init(&all->leave, SENNIT_EVENT_MANUAL);
	for (unsigned i = 0; i < GUESTS; i++) {
		struct guest *g = &all->each[i];

		g->all = all;
		g->random = random_from(&seed);
		if (pthread_create(&g->thread, NULL, trades[i], g))
			abort();
	}
	return all;
}

void guests_see_off(struct guests *all)
{
	sennit_event_set(&all->leave);
	for (unsigned i = 0; i < GUESTS; i++)
		pthread_join(all->each[i].thread, NULL);
	free(all);
}
