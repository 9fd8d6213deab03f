/* SPDX-License-Identifier: Apache-2.0 */
/* operations.c - the operations whose cache lines are counted. */
#include "lines.h"
#include "testing/require.h"

#include "sennit.h"
#include "sennit/fork_join.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 64u /* of what is done again and again */

static sennit_scheduler *scheduler;
static sennit_event      never;

/* Memory at the same addresses in every run, each piece in lines of its own.
 * Nothing is used twice. */
static void *allocate(void *unused, size_t size, size_t alignment)
{
	static _Alignas(4096) unsigned char memory[1u << 28];
	static size_t                       used;
	size_t line = alignment < 128 ? 128 : alignment;
	void  *at;

	(void)unused;
	used = (used + line - 1) / line * line;
	REQUIRE(used + size <= sizeof(memory));
	at = memory + used;
	used += size;
	return at;
}

static void release(void *unused, void *memory, size_t size)
{
	(void)unused;
	(void)memory;
	(void)size;
}

static const sennit_allocator allocator = { allocate, release, NULL };

/* Long enough for all workers to fall asleep, without a deadline. */
static void nap(unsigned milliseconds)
{
	REQUIRE(sennit_event_wait_until(
			&never,
			sennit_now() + (milliseconds * SENNIT_MILLISECOND)) ==
		-ETIMEDOUT);
}

static void begin_with(const sennit_config *config)
{
	REQUIRE(!sennit_scheduler_create(&scheduler, config));
	sennit_event_init(&never, SENNIT_EVENT_MANUAL);
	nap(10);
}

static void begin(unsigned workers)
{
	begin_with(SENNIT_CONFIG(.workers = workers, .allocator = &allocator));
}

static void begin_spread(unsigned workers)
{
	begin_with(SENNIT_CONFIG(.workers = workers,
				 .placement = SENNIT_PLACEMENT_SPREAD,
				 .allocator = &allocator));
}

static void end(void)
{
	REQUIRE(!sennit_scheduler_shutdown(scheduler, SENNIT_NEVER));
}

static void send(sennit_task_fn *run, void *argument)
{
	const sennit_task t = { .run = run, .argument = argument };

	REQUIRE(!sennit_schedule_task_on(scheduler, &t));
}

static void spawn(sennit_task_fn *run, void *argument)
{
	REQUIRE(!sennit_schedule(run, argument));
}

/* --- send, wake: a task from outside ------------------------------------- */

static void work_a_little(void *unused)
{
	(void)unused;
	machine_work(500);
}

/* All workers sleep: one is woken, runs the task, searches, and sleeps. */
static unsigned wake(unsigned workers)
{
	unsigned times = 2 * workers > ROUNDS ? 2 * workers : ROUNDS;

	begin(workers);
	for (unsigned i = 0; i < 2 * workers; i++) {
		send(work_a_little, NULL);
		nap(3);
	}
	lines_count_anew();
	for (unsigned i = 0; i < times; i++) {
		send(work_a_little, NULL);
		nap(3);
	}
	return times;
}

/* A task after the other, sent at once, from the first to the last sleep. */
static unsigned send_many(unsigned workers)
{
	unsigned times = 32 * workers;

	begin(workers);
	for (unsigned round = 0; round < 2; round++) {
		lines_count_anew();
		for (unsigned i = 0; i < times; i++)
			send(work_a_little, NULL);
		nap(20);
	}
	return times;
}

/* --- steal, fork: tasks of a task ---------------------------------------- */

static void work(void *unused)
{
	(void)unused;
	machine_work(10000);
}

static void spawn_all(void *count)
{
	for (unsigned i = *(unsigned *)count; i--;)
		spawn(work, NULL);
}

/* One task makes them all; the others steal them. */
static unsigned steal(unsigned workers)
{
	unsigned times = 32 * workers;

	begin(workers);
	for (unsigned round = 0; round < 2; round++) {
		lines_count_anew();
		send(spawn_all, &times);
		nap(20);
	}
	return times;
}

SENNIT_FORK(unsigned, leaves, unsigned, n)
{
	unsigned a, b;

	if (n < 2) {
		machine_work(1000);
		return 1;
	}
	SENNIT_FORK_SPAWN(leaves, other, n - 1);
	b = SENNIT_FORK_CALL(leaves, n - 2);
	a = SENNIT_FORK_SYNC(leaves, other);
	return a + b;
}

static void fork_all(void *result)
{
	*(unsigned *)result = SENNIT_FORK_RUN(leaves, 20);
}

static unsigned fork_join(unsigned workers)
{
	unsigned result = 0;

	begin(workers);
	for (unsigned round = 0; round < 2; round++) {
		lines_count_anew();
		send(fork_all, &result);
		nap(30);
	}
	return result - 1;
}

/* --- mutex, wait-group, event -------------------------------------------- */

static sennit_mutex      mutex;
static sennit_wait_group group;
static sennit_event      gate;

static void lock_often(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < ROUNDS; i++) {
		sennit_mutex_lock(&mutex);
		machine_work(200);
		sennit_mutex_unlock(&mutex);
		machine_work(1000);
	}
}

static unsigned lock(unsigned workers)
{
	begin_spread(workers);
	lines_count_anew();
	for (unsigned i = 0; i < 2 * workers; i++)
		send(lock_often, NULL);
	nap(1000);
	return 2 * workers * ROUNDS;
}

static void be_done(void *unused)
{
	(void)unused;
	machine_work(2000);
	sennit_wait_group_done(&group);
}

static unsigned count_down(unsigned workers)
{
	unsigned times = 32 * workers;

	begin_spread(workers);
	for (unsigned round = 0; round < 2; round++) {
		lines_count_anew();
		sennit_wait_group_init(&group, times);
		for (unsigned i = 0; i < times; i++)
			send(be_done, NULL);
		sennit_wait_group_wait(&group);
		nap(20);
	}
	return times;
}

static void wait_for_gate(void *unused)
{
	(void)unused;
	REQUIRE(!sennit_event_wait(&gate));
}

/* One set releases a fiber of each worker, and wakes each. */
static unsigned release_all(unsigned workers)
{
	begin_spread(workers);
	for (unsigned round = 0; round < 2; round++) {
		sennit_event_init(&gate, SENNIT_EVENT_MANUAL);
		for (unsigned i = 0; i < workers; i++)
			send(wait_for_gate, NULL);
		nap(20);
		lines_count_anew();
		sennit_event_set(&gate);
		nap(20);
	}
	return workers;
}

/* --- end: of a scheduler, for each worker -------------------------------- */

static unsigned end_all(unsigned workers)
{
	begin(workers);
	send(work_a_little, NULL);
	nap(3);
	lines_count_anew();
	end();
	return workers;
}

const struct operation operations[] = {
	{ "wake", wake, 22 },         { "send", send_many, 42 },
	{ "steal", steal, 15 },       { "fork", fork_join, 6.5 },
	{ "mutex", lock, 14 },        { "wait-group", count_down, 44 },
	{ "event", release_all, 21 }, { "end", end_all, 26 },
};

const unsigned operation_count = sizeof(operations) / sizeof(*operations);
