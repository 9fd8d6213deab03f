/* SPDX-License-Identifier: Apache-2.0 */
/* fail_each.c - tasks, waits, workers and blocking calls, while each request to
 * the system fails in turn.
 */
#include "failing.h"

enum { TASKS = LOAD(800), HEAVY = 500 };

/* --- the scenario -------------------------------------------------------- */

static struct {
	sennit_scheduler *s;
	sennit_mutex      lock;
	sennit_event      go;
	unsigned          sum; /* under lock */
} play;

static void add_one(void *unused)
{
	sennit_mutex_lock(&play.lock);
	play.sum++;
	sennit_mutex_unlock(&play.lock);
	ran_one();
}

static void wait_for_go(void *unused)
{
	EXPECT(!sennit_event_wait(&play.go));
	ran_one();
}

static void wait_in_vain(void *unused)
{
	(void)!sennit_event_wait_until(&play.go, sennit_after(1000));
	ran_one();
}

static void carry(void *weight)
{
	const unsigned char *bytes = weight;

	for (unsigned i = 0; i < HEAVY; i++)
		EXPECT(bytes[i] == (unsigned char)i);
	ran_one();
}

static void spawn_some(void *unused)
{
	unsigned char weight[HEAVY];

	for (unsigned i = 0; i < HEAVY; i++)
		weight[i] = (unsigned char)i;
	for (unsigned i = 0; i < TASKS / 4; i++) {
		accept(sennit_schedule(add_one, NULL));
		accept(sennit_schedule(wait_for_go, NULL));
		accept(sennit_schedule(wait_in_vain, NULL));
		accept(sennit_schedule_copy(carry, weight, HEAVY));
	}
	ran_one();
}

static void *call_for(void *unused)
{
	ran_one();
	return NULL;
}

static void call_out(void *unused)
{
	(void)sennit_blocking_call(call_for, NULL);
	ran_one();
}

static void act(sennit_scheduler *s, bool bound)
{
	const sennit_task some = { .run = spawn_some };
	const sennit_task out = { .run = call_out };
	int               err;

	accept(sennit_schedule_task_on(s, &some));
	if (accept(sennit_schedule_task_on(s, &out)))
		accept(0); /* the call itself */
	err = sennit_scheduler_set_workers(s, 3);
	EXPECT(!err || err == -EAGAIN || err == -ENOMEM);
	if (bound) {
		accept(sennit_schedule(add_one, NULL));
		sennit_sleep(SENNIT_MILLISECOND / 10);
	}
	sennit_event_set(&play.go);
	sennit_scheduler_trim(s);
	err = sennit_scheduler_set_workers(s, 1);
	EXPECT(!err);
	err = sennit_scheduler_set_workers(s, 2);
	EXPECT(!err || err == -EAGAIN || err == -ENOMEM);
}

static void perform(void)
{
	sennit_scheduler *s = NULL;
	int               err;

	memset(&play, 0, sizeof(play));
	err = sennit_scheduler_create(
		&s, SENNIT_CONFIG(.workers = 2, .max_workers = 3,
				  .allocator = &failing_allocator,
				  .name = "faults", .trace_events = 16));
	EXPECT(!err || err == -ENOMEM || err == -EAGAIN);
	if (err)
		return;
	err = sennit_thread_bind(s);
	EXPECT(!err || err == -ENOMEM);
	act(s, !err);
	if (!err)
		sennit_thread_unbind();
	EXPECT(!sennit_scheduler_shutdown(s, sennit_after(GIVE_UP)));
}
