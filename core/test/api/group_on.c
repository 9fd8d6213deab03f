/* SPDX-License-Identifier: Apache-2.0 */
/* group_on.c - a member that is sent to a worker runs there: on one that
 * sleeps, is busy, or has no thread yet. */
#include "testing/with_workers.h"

#include <errno.h>
#include <sched.h>

struct meeting {
	atomic_uint here;
	unsigned    all;
};

/* Returns when all have come; meanwhile its worker runs nothing else. */
static int meet(void *argument)
{
	struct meeting *m = *(struct meeting **)argument;

	atomic_fetch_add(&m->here, 1);
	while (atomic_load(&m->here) < m->all)
		sched_yield();
	return 0;
}

/* As many workers as members, so each has one. */
static void meet_on_each(sennit_group *g, unsigned workers)
{
	struct meeting m = { .all = workers ? workers : 1 }, *at = &m;

	for (unsigned i = 0; i < m.all; i++)
		EXPECT(!sennit_group_spawn_task(
			g, SENNIT_MEMBER(.run = meet, .argument = &at,
					 .copy_size = sizeof(at),
					 .flags = SENNIT_MEMBER_ON_WORKER,
					 .worker = i)));
	EXPECT(sennit_group_spawn_task(
		       g, SENNIT_MEMBER(.run = meet, .argument = &at,
					.copy_size = sizeof(at),
					.flags = SENNIT_MEMBER_ON_WORKER,
					.worker = m.all)) == -ENOENT);
	EXPECT(!sennit_group_wait(g));
}

static void meet_here(void *argument)
{
	const struct world *w = argument;
	sennit_group        g;

	sennit_group_init_on(&g, w->s, SENNIT_NEVER, 0);
	meet_on_each(&g, w->threads);
}

TEST_WITH_WORKERS(members_run_on_the_workers_they_are_sent_to)
{
	for (int i = 0; i < 20; i++)
		in_each_place_of(meet_here, w);
}

TEST_ALONE(workers_are_started_for_them)
{
	enum { WORKERS = 4 };
	sennit_scheduler *s;
	struct world      other = { .threads = WORKERS };

	assert_int_equal(
		sennit_scheduler_create(
			&s, SENNIT_CONFIG(.workers = WORKERS, .retire_ms = 1,
					  .start = SENNIT_START_LAZY)),
		0);
	other.s = s;
	for (int i = 0; i < 20; i++) {
		meet_here(&other);
		usleep(2000); /* some of them have retired, or are about to */
	}
	assert_int_equal(sennit_scheduler_shutdown(s, SENNIT_NEVER), 0);
}

TEST_WITH_SEVERAL(workers_that_were_removed_get_none)
{
	sennit_group   g;
	struct meeting m = { .all = 1 }, *at = &m;

	assert_int_equal(sennit_scheduler_set_workers(w->s, 1), 0);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(
		sennit_group_spawn_task(
			&g, SENNIT_MEMBER(.run = meet, .argument = &at,
					  .copy_size = sizeof(at),
					  .flags = SENNIT_MEMBER_ON_WORKER,
					  .worker = 1)),
		-ENOENT);
	assert_int_equal(
		sennit_group_spawn_task(
			&g, SENNIT_MEMBER(.run = meet, .argument = &at,
					  .copy_size = sizeof(at),
					  .flags = SENNIT_MEMBER_ON_WORKER,
					  .worker = 0)),
		0);
	assert_int_equal(sennit_group_wait(&g), 0);
}
