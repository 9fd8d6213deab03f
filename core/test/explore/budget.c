/* SPDX-License-Identifier: Apache-2.0 */
/* budget.c - schedulers that share CPUs. One without work needs none to end,
 * wherever its workers were when others took them: between two tasks, in a
 * search, at the last look before a sleep. The other scheduler is promised all
 * CPUs, and uses them until the first one has ended.
 */
#include "explore.h"

#include "sennit/resources.h"

enum { WORKERS = 2, TURNS = 3000 };

static unsigned tasks; /* of the one that shall end: which have not ended */
static unsigned turns; /* of the other */
static bool     over;

static void end_task(void *unused)
{
	(void)unused;
	tasks--;
}

static void begin_some(void *unused)
{
	const unsigned n = 1 + sennit_explore_choose(4);

	(void)unused;
	tasks += n;
	for (unsigned i = 0; i < n; i++) {
		spawn(end_task, NULL);
		sennit_explore_point();
	}
	tasks--;
}

/* Comes to safe points. */
static void use_cpu(void *unused)
{
	(void)unused;
	while (!over && turns++ < TURNS)
		sennit_yield();
}

static sennit_scheduler *share(sennit_resources *r, uint32_t least)
{
	sennit_scheduler *s = NULL;

	REQUIRE(!sennit_scheduler_create(
		&s, SENNIT_CONFIG(.workers = WORKERS, .resources = r,
				  .resources_min = least)));
	return s;
}

static void send(sennit_scheduler *s, sennit_task_fn *run)
{
	REQUIRE(!sennit_schedule_task_on(s, &(sennit_task){ .run = run }));
}

/* If the tasks got no CPU in time, they need one. */
static void await_tasks(void)
{
	while (tasks && turns < TURNS / 2)
		sennit_explore_point();
	over = tasks;
}

static void end_beside_others(void *unused)
{
	sennit_resources *r;
	sennit_scheduler *ending, *other;

	(void)unused;
	tasks = 1;
	turns = 0;
	over = false;
	REQUIRE(!sennit_resources_create(&r, WORKERS, NULL));
	ending = share(r, 0);
	other = share(r, WORKERS);
	send(ending, begin_some);
	for (int i = 0; i < WORKERS; i++)
		send(other, use_cpu);
	await_tasks();
	REQUIRE(!sennit_scheduler_shutdown(ending, SENNIT_NEVER));
	REQUIRE(turns < TURNS);
	over = true;
	REQUIRE(!sennit_scheduler_shutdown(other, SENNIT_NEVER));
	sennit_resources_release(r);
}

TEST(one_without_work_ends_while_others_have_all)
{
	explore(end_beside_others, NULL);
}
