/* SPDX-License-Identifier: Apache-2.0 */
/* waits.c - the waits whose cache lines are counted. */
#include "lines.h"
#include "testing/require.h"

#include "sennit.h"

#include <errno.h>

#define FIBERS  1024u /* so many that what they share hardly counts */
#define ROUNDS  8u
#define COUNTED 2u /* the round; all is warm, and each waits again */

/* What a round waits for is not that of the next one, and is made ready for it
 * by the wake of the one before. */
static sennit_event      events[2], never;
static sennit_wait_group groups[2];
static sennit_semaphore  semaphore;
static sennit_mutex      mutexes[2], mutex;
static sennit_cond       cond;
static sennit_rwlock     rwlocks[2];
static sennit_barrier    barrier;
static sennit_channel    channel = SENNIT_CHANNEL_INIT(sizeof(int));
static sennit_future     futures[2];

static void make_all(void)
{
	sennit_event_init(&events[0], SENNIT_EVENT_MANUAL);
	sennit_event_init(&events[1], SENNIT_EVENT_MANUAL);
	sennit_event_init(&never, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&groups[0], 1);
	sennit_semaphore_init(&semaphore, 0);
	sennit_mutex_init(&mutex);
	sennit_mutex_lock(&mutexes[0]);
	sennit_rwlock_lock(&rwlocks[0]);
	sennit_barrier_init(&barrier, FIBERS + 1);
}

static void nap(void)
{
	REQUIRE(sennit_event_wait_until(
			&never, sennit_after(20 * SENNIT_MILLISECOND)) ==
		-ETIMEDOUT);
}

/* --- the waits ----------------------------------------------------------- */

static void wait_event(unsigned i)
{
	REQUIRE(!sennit_event_wait(&events[i]));
}

static void wait_event_until(unsigned i)
{
	REQUIRE(!sennit_event_wait_until(&events[i],
					 sennit_after(SENNIT_SECOND)));
}

static void set_event(unsigned i)
{
	sennit_event_clear(&events[!i]);
	sennit_event_set(&events[i]);
}

static void wait_group(unsigned i)
{
	sennit_wait_group_wait(&groups[i]);
}

static void end_group(unsigned i)
{
	sennit_wait_group_add(&groups[!i], 1);
	sennit_wait_group_done(&groups[i]);
}

static void take(unsigned i)
{
	(void)i;
	REQUIRE(!sennit_semaphore_acquire(&semaphore, 1));
}

static void give(unsigned i)
{
	(void)i;
	sennit_semaphore_release(&semaphore, FIBERS);
}

static void lock(unsigned i)
{
	sennit_mutex_lock(&mutexes[i]);
	sennit_mutex_unlock(&mutexes[i]);
}

static void unlock(unsigned i)
{
	sennit_mutex_lock(&mutexes[!i]);
	sennit_mutex_unlock(&mutexes[i]);
}

static void wait_cond(unsigned i)
{
	(void)i;
	sennit_mutex_lock(&mutex);
	REQUIRE(!sennit_cond_wait(&cond, &mutex));
	sennit_mutex_unlock(&mutex);
}

static void notify(unsigned i)
{
	(void)i;
	sennit_cond_notify_all(&cond);
}

static void share(unsigned i)
{
	sennit_rwlock_lock_shared(&rwlocks[i]);
	sennit_rwlock_unlock_shared(&rwlocks[i]);
}

static void admit(unsigned i)
{
	sennit_rwlock_lock(&rwlocks[!i]);
	sennit_rwlock_unlock(&rwlocks[i]);
}

static void meet(unsigned i)
{
	(void)i;
	(void)sennit_barrier_wait(&barrier);
}

static void receive(unsigned i)
{
	int value;

	(void)i;
	REQUIRE(!sennit_channel_receive(&channel, &value));
}

static void send_all(unsigned i)
{
	const int value = 1;

	(void)i;
	for (unsigned n = 0; n < FIBERS; n++)
		REQUIRE(!sennit_channel_send(&channel, &value));
}

static void wait_future(unsigned i)
{
	REQUIRE(!sennit_future_wait(&futures[i]));
}

static void set_future(unsigned i)
{
	sennit_future_init(&futures[!i]);
	sennit_future_set(&futures[i], NULL);
}

static void sleep_a_little(unsigned i)
{
	(void)i;
	REQUIRE(!sennit_sleep(18 * SENNIT_MILLISECOND));
}

static void let_sleep(unsigned i)
{
	(void)i;
}

const struct wait waits[] = {
	{ "event", wait_event, set_event, 4.2 },
	{ "event until", wait_event_until, set_event, 6.2 },
	{ "wait-group", wait_group, end_group, 3.2 },
	{ "semaphore", take, give, 3.2 },
	{ "mutex", lock, unlock, 10.2 },
	{ "cond", wait_cond, notify, 6.2 },
	{ "rwlock", share, admit, 5.2 },
	{ "barrier", meet, meet, 3.2 },
	{ "channel", receive, send_all, 6 },
	{ "future", wait_future, set_future, 3.2 },
	{ "sleep", sleep_a_little, let_sleep, 4.2 },
};

const unsigned wait_count = sizeof(waits) / sizeof(*waits);

/* --- counting ------------------------------------------------------------ */

static void wait_each_round(void *wait)
{
	const struct wait *const *w = wait;

	for (unsigned round = 0; round < ROUNDS; round++)
		(*w)->wait(round % 2);
}

double wait_lines(const struct wait *w)
{
	const sennit_task t = { .run = wait_each_round, .argument = &w };
	sennit_scheduler *s;
	uint64_t          lines = 0;

	make_all();
	REQUIRE(!sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 1)));
	for (unsigned i = 0; i < FIBERS; i++)
		REQUIRE(!sennit_schedule_task_on(s, &t));
	nap();
	for (unsigned round = 0; round < ROUNDS; round++) {
		lines_count_anew();
		w->wake(round % 2);
		nap();
		if (round == COUNTED)
			lines = lines_counted().touched;
	}
	REQUIRE(!sennit_scheduler_shutdown(s, SENNIT_NEVER));
	return (double)lines / FIBERS;
}
