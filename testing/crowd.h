/* SPDX-License-Identifier: Apache-2.0 */
/* crowd.h - fibers that meet, wait and are let go. */
#ifndef SN_TEST_CROWD_H
#define SN_TEST_CROWD_H

#include "with_workers.h"

/* --- crowd ------------------------------------------------------------- */

/* Runs the same function in many tasks, bound threads and unbound
 * threads at the same time.
 *
 *	struct crowd c = { .s = s, .run = f, .argument = a, .tasks = 10 };
 *	gather(&c);
 *	disperse(&c); */

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

static inline void *join_in_bound(void *argument)
{
	struct crowd *c = argument;

	EXPECT(sennit_thread_bind(c->s) == 0);
	c->run(c->argument);
	sennit_thread_unbind();
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
		c->threads[i] = start_on_thread(join_in, c);
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

/* Start all of them, and wait until all have ended. */
static inline void run_crowd(struct crowd c)
{
	gather(&c);
	disperse(&c);
}

/* --- lookout ----------------------------------------------------------- */

/* Which fibers and threads wait for an object, and what kind of
 * object it is, according to the report. */

struct lookout {
	const void *object;
	unsigned    count;
	uint32_t    kind; /* enum sennit_waits_for */
};

static inline void look_out(void *context, const sennit_report_entry *e)
{
	struct lookout *l = context;

	if (e->state != SENNIT_REPORT_BLOCKED || e->object != l->object)
		return;
	l->count++;
	l->kind = e->waits_for;
}

/* The number of fibers and bound threads that wait for the object. A caller
 * that locks the object afterwards finds them in its queue. */
static inline unsigned waiting_for(sennit_scheduler *s, const void *object)
{
	struct lookout l = { .object = object };

	sennit_report_visit(s, look_out, &l);
	return l.count;
}

/* The kind of the object in the report. There must be a waiter. */
static inline uint32_t said_to_be(sennit_scheduler *s, const void *object)
{
	struct lookout l = { .object = object };

	sennit_report_visit(s, look_out, &l);
	return l.kind;
}

#endif
