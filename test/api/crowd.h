/* SPDX-License-Identifier: Apache-2.0 */
/* crowd.h - runs the same function in many tasks, bound threads and unbound
 * threads at the same time.
 *
 *	struct crowd c = { .s = s, .run = f, .argument = a, .tasks = 10 };
 *	gather(&c);
 *	disperse(&c);
 */
#ifndef SN_TEST_CROWD_H
#define SN_TEST_CROWD_H

#include "with_workers.h"

enum { CROWD_THREADS = 8 };

struct crowd {
	sennit_scheduler *s; /* to bind to */
	sennit_task_fn   *run;
	void             *argument;
	unsigned          tasks, bound, unbound; /* bound + unbound <=
						  * CROWD_THREADS */
	sennit_wait_group done;
	pthread_t         threads[CROWD_THREADS];
};

static inline void join_in(void *argument)
{
	struct crowd *c = argument;

	c->run(c->argument);
	sennit_wait_group_done(&c->done);
}

static inline void *join_in_unbound(void *argument)
{
	join_in(argument);
	return NULL;
}

static inline void *join_in_bound(void *argument)
{
	struct crowd *c = argument;

	EXPECT(sennit_bind(c->s) == 0);
	c->run(c->argument);
	sennit_unbind();
	sennit_wait_group_done(&c->done);
	return NULL;
}

/* Start all of them. */
static inline void gather(struct crowd *c)
{
	unsigned i;

	sennit_wait_group_init(&c->done, c->tasks + c->bound + c->unbound);
	for (i = 0; i < c->bound; i++)
		c->threads[i] = must_start_thread(join_in_bound, c);
	for (; i < c->bound + c->unbound; i++)
		c->threads[i] = must_start_thread(join_in_unbound, c);
	for (i = 0; i < c->tasks; i++)
		must_schedule(join_in, c);
}

/* Wait until all have ended. */
static inline void disperse(struct crowd *c)
{
	unsigned i;

	sennit_wait_group_wait(&c->done);
	for (i = 0; i < c->bound + c->unbound; i++)
		pthread_join(c->threads[i], NULL);
}

#endif
