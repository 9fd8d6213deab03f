/* SPDX-License-Identifier: Apache-2.0 */
/* worker_states.c - two workers beside the first in each pair of states, and
 * two of the things that start workers after each other: then as many tasks run
 * at once as there are workers, and what was sent to a worker has run there.
 * core/test/explore/worker_states.c has random histories in many orders. */
#include "testing/with_workers.h"

#include <errno.h>

enum { MOST = 3 };

enum state { NOT_STARTED, OPEN, CLOSED, CALLED_BACK, RETIRED, STATES };

enum way { TASKS, NUMBER, TO_SECOND, TO_THIRD, GUESTS_GO, WAYS };

struct life {
	sennit_scheduler *s;
	sennit_group      staying, sent;
	sennit_event      go;
	atomic_uint       guests, came; /* of those groups */
	unsigned          sends;
};

static bool holds_guest(enum state state)
{
	return state == OPEN || state == CLOSED || state == CALLED_BACK;
}

static bool was_closed(enum state state)
{
	return state == CLOSED || state == CALLED_BACK;
}

/* Workers start and open in order, and close from the last on. */
static bool is_possible(enum sennit_start start, enum state second,
			enum state third)
{
	if (start == SENNIT_START_NOW &&
	    (second == NOT_STARTED || third == NOT_STARTED))
		return false;
	if (second == NOT_STARTED && third != NOT_STARTED)
		return false;
	if (second == CLOSED)
		return third == CLOSED || third == NOT_STARTED;
	if (second == CALLED_BACK)
		return third == NOT_STARTED || was_closed(third);
	return true;
}

/* --- tasks that hold their threads -------------------------------------- */

struct meeting {
	atomic_uint       there, expected;
	sennit_wait_group done;
};

static void hold_thread(void *argument)
{
	struct meeting   *m = argument;
	const sennit_time give_up = sennit_after(GIVE_UP);

	atomic_fetch_add(&m->there, 1);
	while (atomic_load(&m->there) < atomic_load(&m->expected) &&
	       sennit_now() < give_up)
		sched_yield();
	sennit_wait_group_done(&m->done);
}

static void expect_at_once(sennit_scheduler *s, unsigned count)
{
	struct meeting    m = { .expected = count };
	const sennit_task t = { .run = hold_thread, .argument = &m };

	sennit_wait_group_init(&m.done, count);
	for (unsigned i = 0; i < count; i++)
		EXPECT(!sennit_schedule_task_on(s, &t));
	sennit_wait_group_wait(&m.done);
	assert_int_equal(atomic_load(&m.there), count);
}

/* --- to a worker -------------------------------------------------------- */

static int stay(void *argument)
{
	struct life *l = *(struct life **)argument;

	atomic_fetch_add(&l->guests, 1);
	return sennit_event_wait(&l->go);
}

static int come(void *argument)
{
	struct life *l = *(struct life **)argument;

	atomic_fetch_add(&l->came, 1);
	return 0;
}

/* Returns whether there is such a worker. */
static bool send(struct life *l, uint32_t worker)
{
	const int err = sennit_group_spawn_task(
		&l->sent, SENNIT_MEMBER(.run = come, .argument = &l,
					.copy_size = sizeof(l),
					.flags = SENNIT_MEMBER_ON_WORKER,
					.worker = worker));

	assert_true(!err || err == -ENOENT);
	assert_int_equal(!err, worker < sennit_scheduler_workers(l->s));
	l->sends += !err;
	return !err;
}

static void send_and_await(struct life *l, uint32_t worker)
{
	assert_true(send(l, worker));
	assert_soon(atomic_load(&l->came) == l->sends);
}

static void leave_guest(struct life *l, uint32_t worker)
{
	const unsigned before = atomic_load(&l->guests);

	assert_int_equal(sennit_group_spawn_task(
				 &l->staying,
				 SENNIT_MEMBER(.run = stay, .argument = &l,
					       .copy_size = sizeof(l),
					       .flags = SENNIT_MEMBER_ON_WORKER,
					       .worker = worker)),
			 0);
	assert_soon(atomic_load(&l->guests) == before + 1);
}

static void set_workers(struct life *l, uint32_t count)
{
	assert_int_equal(sennit_scheduler_set_workers(l->s, count), 0);
}

/* --- a life ------------------------------------------------------------- */

static void begin_life(struct life *l, enum sennit_start start)
{
	*l = (struct life){ .s = start_with(SENNIT_CONFIG(.workers = MOST,
							  .max_workers = MOST,
							  .start = start,
							  .retire_ms = 1)) };
	sennit_event_init(&l->go, SENNIT_EVENT_MANUAL);
	sennit_group_init_on(&l->staying, l->s, SENNIT_NEVER, 0);
	sennit_group_init_on(&l->sent, l->s, SENNIT_NEVER, 0);
}

static void end_life(struct life *l)
{
	assert_int_equal(sennit_group_wait(&l->sent), 0);
	assert_int_equal(atomic_load(&l->came), l->sends);
	sennit_event_set(&l->go);
	assert_int_equal(sennit_group_wait(&l->staying), 0);
	end_scheduler(l->s);
}

/* The first worker keeps its thread by a guest, so all others retire that have
 * none. */
static void start_workers(struct life *l, enum state second, enum state third)
{
	unsigned guests = 1;

	leave_guest(l, 0);
	if (holds_guest(third))
		leave_guest(l, 2);
	else if (third == RETIRED)
		send_and_await(l, 2);
	if (holds_guest(second))
		leave_guest(l, 1);
	else if (second == RETIRED)
		send_and_await(l, 1);
	guests += holds_guest(second) + holds_guest(third);
	assert_soon(stats_of(l->s).threads == guests);
}

static void close_workers(struct life *l, enum state second, enum state third)
{
	if (was_closed(second))
		set_workers(l, 1);
	else if (was_closed(third))
		set_workers(l, 2);
	if (second == CALLED_BACK) {
		set_workers(l, 2);
		send_and_await(l, 1);
	}
	if (third == CALLED_BACK) {
		set_workers(l, 3);
		send_and_await(l, 2);
	}
}

static void start_by(struct life *l, enum way way)
{
	switch (way) {
	case TASKS:
		expect_at_once(l->s, sennit_scheduler_workers(l->s));
		break;
	case NUMBER:
		set_workers(l, MOST);
		break;
	case TO_SECOND:
		send(l, 1);
		break;
	case TO_THIRD:
		send(l, 2);
		break;
	default:
		sennit_event_set(&l->go);
		break;
	}
}

static void live(enum sennit_start start, enum state second, enum state third,
		 enum way first_way, enum way second_way)
{
	struct life l;

	begin_life(&l, start);
	start_workers(&l, second, third);
	close_workers(&l, second, third);
	start_by(&l, first_way);
	start_by(&l, second_way);
	expect_at_once(l.s, sennit_scheduler_workers(l.s));
	set_workers(&l, MOST);
	expect_at_once(l.s, MOST);
	end_life(&l);
}

static void live_all(enum sennit_start start, enum state second,
		     enum state third)
{
	for (enum way first = 0; first < WAYS; first++)
		for (enum way then = 0; then < WAYS; then++)
			live(start, second, third, first, then);
}

static void try_each(enum sennit_start start)
{
	for (enum state second = 0; second < STATES; second++)
		for (enum state third = 0; third < STATES; third++)
			if (is_possible(start, second, third))
				live_all(start, second, third);
}

TEST_ALONE(workers_of_a_late_start_come_from_each_state)
{
	try_each(SENNIT_START_LAZY);
}

TEST_ALONE(workers_of_a_start_at_once_come_from_each_state)
{
	try_each(SENNIT_START_NOW);
}
