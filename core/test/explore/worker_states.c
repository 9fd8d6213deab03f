/* SPDX-License-Identifier: Apache-2.0 */
/* worker_states.c - random histories that lead workers through all their
 * states: not started yet, open, closed but held by a fiber, called back,
 * retired; and all that starts one: tasks, tasks sent to a worker, a new number
 * of workers. After each history as many tasks run at once as there are
 * workers, all that was sent to a worker has run there, and the scheduler
 * ends, where it checks its counts. */
#include "explore.h"

#include "sennit/group.h"

enum { MOST = 3, LONGEST = 9 };

static struct {
	sennit_scheduler *s;
	sennit_group      sent, staying; /* to a worker */
	sennit_event      go;
	sennit_config     config;
	uint32_t          held, expected; /* tasks that hold their threads */
	unsigned          came, went;     /* of those groups */
	sennit_wait_group done;
} life;

/* --- tasks that hold their threads -------------------------------------- */

/* If the others cannot come, all threads sleep for ever, which is found. */
static void hold_thread(void *unused)
{
	uint32_t seen;

	if (++life.held == life.expected)
		sennit_explore_wake(&life.held);
	while ((seen = life.held) < life.expected)
		sennit_explore_sleep(&life.held, seen, SENNIT_NEVER);
	sennit_wait_group_done(&life.done);
}

static void hold_threads(void *unused)
{
	for (uint32_t i = 1; i < life.expected; i++)
		spawn(hold_thread, NULL);
	hold_thread(unused);
}

static void expect_all_at_once(void)
{
	life.held = 0;
	life.expected = sennit_scheduler_workers(life.s);
	sennit_wait_group_init(&life.done, life.expected);
	if (sennit_explore_choose(2))
		spawn(hold_threads, NULL);
	else
		for (uint32_t i = 0; i < life.expected; i++)
			spawn(hold_thread, NULL);
	sennit_wait_group_wait(&life.done);
}

/* --- what happens to workers -------------------------------------------- */

static int note(void *unused)
{
	life.went++;
	return 0;
}

static int stay(void *unused)
{
	REQUIRE(!sennit_event_wait(&life.go));
	return note(unused);
}

static void send_to(sennit_group *g, uint32_t worker, sennit_member_fn *run)
{
	const int err = sennit_group_spawn_task(
		g, SENNIT_MEMBER(.run = run, .flags = SENNIT_MEMBER_ON_WORKER,
				 .worker = worker));

	REQUIRE(!err ||
		(err == -ENOENT && worker >= sennit_scheduler_workers(life.s)));
	life.came += !err;
}

static void pass(void *unused)
{
	sennit_explore_point();
	sennit_wait_group_done(&life.done);
}

static void run_some(uint32_t count)
{
	sennit_wait_group_init(&life.done, count);
	for (uint32_t i = 0; i < count; i++)
		spawn(pass, NULL);
	sennit_wait_group_wait(&life.done);
}

static void set_workers(uint32_t count)
{
	REQUIRE(!sennit_scheduler_set_workers(life.s, count));
}

/* Often the last one, which closes first. */
static uint32_t any_worker(void)
{
	return sennit_explore_choose(2) ? MOST - 1
					: sennit_explore_choose(MOST);
}

static void send_note(void)
{
	send_to(&life.sent, any_worker(), note);
}

static void step(void)
{
	switch (sennit_explore_choose(8)) {
	case 0:
		send_note();
		break;
	case 1:
		send_to(&life.staying, any_worker(), stay);
		break;
	case 2:
		set_workers(1 + sennit_explore_choose(MOST));
		break;
	case 3: /* away and back */
		set_workers(1 + sennit_explore_choose(MOST - 1));
		set_workers(MOST);
		break;
	case 4: /* back and away */
		set_workers(MOST);
		send_note();
		set_workers(1 + sennit_explore_choose(MOST - 1));
		break;
	case 5:
		run_some(1 + sennit_explore_choose(MOST));
		break;
	case 6:
		REQUIRE(!sennit_sleep(3 * SENNIT_MILLISECOND));
		break;
	default:
		sennit_event_set(&life.go);
		sennit_event_clear(&life.go);
		break;
	}
}

/* --- a life ------------------------------------------------------------- */

static void begin_life(void)
{
	sennit_config config = { .size = sizeof(config) };

	config.workers = sennit_explore_choose(2)
				 ? MOST
				 : 1 + sennit_explore_choose(MOST);
	config.max_workers = MOST;
	config.start = 1 + sennit_explore_choose(2);
	config.retire_ms = sennit_explore_choose(4) != 0;
	config.min_workers = sennit_explore_choose(2);
	memset(&life, 0, sizeof(life));
	life.s = begin_with(&config);
	sennit_event_init(&life.go, SENNIT_EVENT_MANUAL);
	sennit_group_init_on(&life.sent, life.s, SENNIT_NEVER, 0);
	sennit_group_init_on(&life.staying, life.s, SENNIT_NEVER, 0);
}

static void end_life(void)
{
	REQUIRE(!sennit_group_wait(&life.sent));
	sennit_event_set(&life.go);
	REQUIRE(!sennit_group_wait(&life.staying));
	REQUIRE(life.went == life.came);
	end(life.s);
}

TEST_EXPLORED(as_many_tasks_as_workers_run_at_once_after_any_history)
{
	uint32_t steps = 1 + sennit_explore_choose(LONGEST);

	begin_life();
	while (steps--)
		step();
	expect_all_at_once();
	if (sennit_explore_choose(2))
		REQUIRE(!sennit_scheduler_set_workers(life.s, MOST));
	expect_all_at_once();
	end_life();
}
