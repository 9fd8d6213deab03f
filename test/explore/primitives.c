/* SPDX-License-Identifier: Apache-2.0 */
/* primitives.c - the promises of every primitive, in many orders. */
#include "explore.h"

/* --- a bounded queue of mutex and condition variables -------------------- */

enum { MAKERS = 2, EACH = 4, ROOM = 2 };

static struct {
	sennit_mutex      lock;
	sennit_cond       not_full, not_empty;
	sennit_wait_group done;
	unsigned          stock[ROOM], count, made, taken, sum;
} shop;

static bool has_room(void *unused)
{
	(void)unused;
	return shop.count < ROOM;
}

static bool has_stock(void *unused)
{
	(void)unused;
	return shop.count > 0;
}

static void make(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < EACH; i++) {
		sennit_mutex_lock(&shop.lock);
		(void)!sennit_cond_wait_for(&shop.not_full, &shop.lock,
					    has_room, NULL, SENNIT_NEVER);
		REQUIRE(shop.count < ROOM);
		shop.stock[shop.count++] = ++shop.made;
		sennit_mutex_unlock(&shop.lock);
		sennit_cond_notify_one(&shop.not_empty);
	}
	sennit_wait_group_done(&shop.done);
}

static void take(void *unused)
{
	(void)unused;
	for (unsigned i = 0; i < EACH; i++) {
		sennit_mutex_lock(&shop.lock);
		(void)!sennit_cond_wait_for(&shop.not_empty, &shop.lock,
					    has_stock, NULL, SENNIT_NEVER);
		REQUIRE(shop.count > 0);
		shop.sum += shop.stock[--shop.count];
		shop.taken++;
		sennit_mutex_unlock(&shop.lock);
		sennit_cond_notify_one(&shop.not_full);
	}
	sennit_wait_group_done(&shop.done);
}

static void trade(void *unused)
{
	enum { ALL = MAKERS * EACH };
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));

	(void)unused;
	memset(&shop, 0, sizeof(shop));
	sennit_wait_group_init(&shop.done, 2 * MAKERS);
	for (unsigned i = 0; i < MAKERS; i++) {
		spawn(make, NULL);
		spawn(take, NULL);
	}
	sennit_wait_group_wait(&shop.done);
	REQUIRE(shop.taken == ALL && shop.sum == ALL * (ALL + 1) / 2);
	end(s);
}

TEST(nothing_is_lost_in_a_queue)
{
	explore(trade, NULL);
}

/* --- an auto event with notifies and deadlines ---------------------------- */

static struct {
	sennit_event      turn;
	sennit_wait_group done;
	unsigned          went, gave_up;
} gate;

static void go_or_give_up(void *unused)
{
	int err = sennit_event_wait_until(&gate.turn,
					  sennit_after(5 * SENNIT_MICROSECOND));

	(void)unused;
	REQUIRE(!err || err == -ETIMEDOUT);
	if (!err)
		__atomic_add_fetch(&gate.went, 1, __ATOMIC_RELAXED);
	else
		__atomic_add_fetch(&gate.gave_up, 1, __ATOMIC_RELAXED);
	sennit_wait_group_done(&gate.done);
}

static void open_once(void *unused)
{
	(void)unused;
	sennit_event_set(&gate.turn);
	sennit_wait_group_done(&gate.done);
}

static void race_a_deadline(void *unused)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));

	(void)unused;
	memset(&gate, 0, sizeof(gate));
	sennit_event_init(&gate.turn, SENNIT_EVENT_AUTO, false);
	sennit_wait_group_init(&gate.done, 4);
	spawn(go_or_give_up, NULL);
	spawn(open_once, NULL);
	spawn(go_or_give_up, NULL);
	spawn(open_once, NULL);
	sennit_wait_group_wait(&gate.done);
	REQUIRE(gate.went + gate.gave_up == 2);
	/* It was set twice. A set that nobody consumed is still there, once. */
	REQUIRE(gate.went == 2 || sennit_event_is_set(&gate.turn) ||
		gate.went == 1);
	REQUIRE(gate.went >= 1 || sennit_event_is_set(&gate.turn));
	end(s);
}

TEST(a_signal_or_a_deadline_never_both)
{
	explore(race_a_deadline, NULL);
}

/* --- a wait group freed by a waiter --------------------------------------- */

static void finish(void *group)
{
	sennit_wait_group_done(group);
}

static void wait_and_free(void *outer)
{
	sennit_wait_group *g = malloc(sizeof(*g));

	REQUIRE(g);
	sennit_wait_group_init(g, 3);
	for (unsigned i = 0; i < 3; i++)
		spawn(finish, g);
	sennit_wait_group_wait(g);
	memset(g, 0xa5, sizeof(*g));
	free(g);
	sennit_wait_group_done(outer);
}

static void free_groups(void *unused)
{
	static sennit_wait_group outer;
	sennit_scheduler        *s = begin_with(SENNIT_CONFIG(.workers = 3));

	(void)unused;
	sennit_wait_group_init(&outer, 3);
	for (unsigned i = 0; i < 3; i++)
		spawn(wait_and_free, &outer);
	sennit_wait_group_wait(&outer);
	end(s);
}

TEST(who_has_waited_may_free)
{
	explore(free_groups, NULL);
}

/* --- the last reference, released from anywhere --------------------------- */

static struct {
	sennit_event go;
	unsigned     ran;
} last;

static void wait_then_count(void *unused)
{
	(void)unused;
	REQUIRE(!sennit_event_wait(&last.go));
	__atomic_add_fetch(&last.ran, 1, __ATOMIC_RELAXED);
}

static void let_go(void *scheduler)
{
	sennit_event_set(&last.go);
	__atomic_add_fetch(&last.ran, 1, __ATOMIC_RELAXED);
	sennit_scheduler_release(scheduler);
}

static void note_end(void *ended)
{
	sennit_event_set(ended);
}

static void end_by_itself(void *unused)
{
	static sennit_event ended;
	sennit_scheduler   *s = NULL;

	(void)unused;
	memset(&last, 0, sizeof(last));
	sennit_event_init(&ended, SENNIT_EVENT_MANUAL, false);
	s = begin_with(SENNIT_CONFIG(.workers = 2, .on_shutdown = note_end,
				     .on_shutdown_context = &ended));
	for (unsigned i = 0; i < 3; i++)
		spawn(wait_then_count, NULL);
	sennit_scheduler_retain(s);
	spawn(let_go, s);
	sennit_scheduler_release(s);
	sennit_unbind();
	REQUIRE(!sennit_event_wait(&ended));
	REQUIRE(last.ran == 4);
}

TEST(a_scheduler_ends_when_all_has_run)
{
	explore(end_by_itself, NULL);
}

/* --- workers that start and retire --------------------------------------- */

static void spawn_more(void *done)
{
	for (unsigned i = 0; i < 2; i++)
		spawn(finish, done);
	sennit_yield();
	sennit_wait_group_done(done);
}

static void add_and_retire(void *unused)
{
	static sennit_wait_group done;
	sennit_scheduler        *s =
		begin_with(SENNIT_CONFIG(.workers = 1, .max_workers = 3));

	(void)unused;
	sennit_wait_group_init(&done, 4 * 3);
	for (uint32_t i = 0; i < 4; i++) {
		spawn(spawn_more, &done);
		REQUIRE(!sennit_scheduler_set_workers(s, 1 + i % 3));
	}
	sennit_wait_group_wait(&done);
	end(s);
}

TEST(no_task_is_lost_as_workers_change)
{
	explore(add_and_retire, NULL);
}
