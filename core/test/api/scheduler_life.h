/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler_life.h - a scheduler that records its end. */
#ifndef SN_TEST_SCHEDULER_LIFE_H
#define SN_TEST_SCHEDULER_LIFE_H

#include "testing/with_workers.h"

/* A scheduler that records its end. */
struct life {
	sennit_scheduler *s;
	atomic_uint       ends;
	atomic_uint       ran;
	sennit_event      go;
};

static inline void note_end(void *argument)
{
	atomic_fetch_add(&((struct life *)argument)->ends, 1);
}

static inline void begin_life(struct life *l, const struct world *w)
{
	memset(l, 0, sizeof(*l));
	sennit_event_init(&l->go, SENNIT_EVENT_MANUAL);
	l->s = start_with(SENNIT_CONFIG(.workers = w->workers,
					.on_shutdown = note_end,
					.on_shutdown_context = l));
}

static inline void must_enqueue(struct life *l, sennit_task_fn *run)
{
	const sennit_task t = { .run = run, .argument = l };

	EXPECT(sennit_schedule_task_on(l->s, &t) == 0);
}

static inline void count_run(void *argument)
{
	atomic_fetch_add(&((struct life *)argument)->ran, 1);
}

static inline void wait_and_count(void *argument)
{
	struct life *l = argument;

	EXPECT(!sennit_event_wait(&l->go));
	atomic_fetch_add(&l->ran, 1);
}

static inline void set_go(void *argument)
{
	sennit_event_set(&((struct life *)argument)->go);
}

static inline void *let_go(void *argument)
{
	set_go(argument);
	return NULL;
}

#endif
