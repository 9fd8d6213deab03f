/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - any bytes as a program of tasks and primitives, which runs under
 * a seed that is part of them: it must end, and nothing may be lost.
 *
 * The first two bytes are the seed. The third gives the numbers of workers and
 * tasks. Each task reads a slice of the rest, one operation after the other. A
 * spawned task gets the next piece of its parent's slice.
 *
 * No program deadlocks by its own fault: locks have ranks, and a task that
 * holds one only takes others of higher rank. No task waits for another task
 * while it holds anything. Waits for channels have a deadline. So if all
 * threads wait, the library has lost a wake, and the deterministic build
 * reports that.
 */
#include "sennit.h"
#include "sennit/deterministic.h"
#include "../require.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { LONGEST = 96, PERMITS = 2, ROOM = 2, MUTEXES = 2 };

enum rank { FREE, FIRST_MUTEX, LAST_MUTEX, RWLOCK, SEMAPHORE, TOKEN, TICKET };

static struct {
	sennit_mutex        mutex[MUTEXES];
	unsigned            guarded[MUTEXES]; /* under its mutex */
	atomic_uint         locked[MUTEXES];
	sennit_rwlock       rwlock;
	unsigned            left, right; /* under the lock */
	sennit_semaphore    permits;
	atomic_uint         parked;
	sennit_event        token; /* auto: only the task that has it holds
				    * it */
	atomic_uint         holders;
	sennit_ticket_queue line;
	unsigned            served; /* written by the task whose ticket is
				     * due */
	atomic_uint         drawn;
	sennit_channel      channel;
	atomic_uint         sent, received;
	sennit_once         once;
	atomic_uint         firsts;
	atomic_uint         begun, ended;
	sennit_scheduler   *s;
} world;

/* A slice of the program, and what its task holds. */
struct actor {
	const uint8_t     *at, *end;
	enum rank          holds;
	sennit_wait_group *done;
};

static void act(struct actor *a);
static void act_all(struct actor *a);

static uint8_t next(struct actor *a)
{
	return a->at < a->end ? *a->at++ : 0;
}

static sennit_time some_deadline(struct actor *a)
{
	const uint8_t kind = next(a);

	if (kind < 32)
		return 0;
	return kind > 128 ? SENNIT_NEVER
			  : sennit_after(kind * SENNIT_MICROSECOND / 4);
}

/* Execute one more operation while holding something of this rank. */
static void hold(struct actor *a, enum rank rank)
{
	const enum rank before = a->holds;

	a->holds = rank;
	act(a);
	a->holds = before;
}

/* --- locks -------------------------------------------------------------- */

static void lock(struct actor *a, unsigned i)
{
	const enum rank rank = FIRST_MUTEX + i;
	unsigned        seen;

	if (a->holds >= rank ||
	    sennit_mutex_lock_until(&world.mutex[i], some_deadline(a)))
		return;
	seen = world.guarded[i];
	atomic_fetch_add(&world.locked[i], 1);
	hold(a, rank);
	REQUIRE(world.guarded[i] == seen);
	world.guarded[i] = seen + 1;
	sennit_mutex_unlock(&world.mutex[i]);
}

static void read_or_write(struct actor *a)
{
	const bool writes = next(a) & 1;

	if (a->holds >= RWLOCK)
		return;
	if (!writes) {
		if (sennit_rwlock_lock_shared_until(&world.rwlock,
						    some_deadline(a)))
			return;
		REQUIRE(world.left == world.right);
		hold(a, RWLOCK);
		REQUIRE(world.left == world.right);
		sennit_rwlock_unlock_shared(&world.rwlock);
	} else if (!sennit_rwlock_lock_until(&world.rwlock, some_deadline(a))) {
		world.left++;
		hold(a, RWLOCK);
		world.right++;
		sennit_rwlock_unlock(&world.rwlock);
	}
}

static void park(struct actor *a)
{
	const uint32_t n = 1 + next(a) % PERMITS;

	if (a->holds >= SEMAPHORE ||
	    sennit_semaphore_take_until(&world.permits, n, some_deadline(a)))
		return;
	REQUIRE(atomic_fetch_add(&world.parked, n) + n <= PERMITS);
	hold(a, SEMAPHORE);
	atomic_fetch_sub(&world.parked, n);
	sennit_semaphore_give(&world.permits, n);
}

static void take_token(struct actor *a)
{
	if (a->holds >= TOKEN ||
	    sennit_event_wait_until(&world.token, some_deadline(a)))
		return;
	REQUIRE(!atomic_fetch_add(&world.holders, 1));
	hold(a, TOKEN);
	atomic_fetch_sub(&world.holders, 1);
	sennit_event_set(&world.token);
}

static void take_turn(struct actor *a)
{
	sennit_ticket t;

	if (a->holds >= TICKET)
		return;
	sennit_ticket_queue_take(&world.line, &t);
	atomic_fetch_add(&world.drawn, 1);
	if (sennit_ticket_wait_until(&t, some_deadline(a)))
		REQUIRE(!sennit_ticket_wait_until(&t, SENNIT_UNCANCELLED));
	world.served++;
	hold(a, TICKET);
	sennit_ticket_done(&t);
}

/* --- channels and events ------------------------------------------------ */

static void send(struct actor *a)
{
	const uint32_t value = next(a);
	const uint64_t span = next(a) * SENNIT_MICROSECOND / 4;

	if (!sennit_channel_send_until(&world.channel, &value,
				       sennit_after(span)))
		atomic_fetch_add(&world.sent, value);
}

static void receive(struct actor *a)
{
	const uint64_t span = next(a) * SENNIT_MICROSECOND / 4;
	uint32_t       value;

	if (!sennit_channel_receive_until(&world.channel, &value,
					  sennit_after(span)))
		atomic_fetch_add(&world.received, value);
}

static int be_first(void *fails)
{
	if (*(const bool *)fails)
		return -EAGAIN;
	atomic_fetch_add(&world.firsts, 1);
	return 0;
}

static void attempt(struct actor *a)
{
	bool fails = next(a) & 1;

	if (!sennit_once_attempt_until(&world.once, be_first, &fails,
				       some_deadline(a)))
		REQUIRE(sennit_once_is_done(&world.once));
}

/* --- tasks -------------------------------------------------------------- */

static void live(void *argument)
{
	struct actor a = *(struct actor *)argument;

	act_all(&a);
	atomic_fetch_add(&world.ended, 1);
	sennit_wait_group_done(a.done);
}

static int live_as_member(void *argument)
{
	struct actor a = *(struct actor *)argument;
	int          err = (next(&a) & 7) ? 0 : -EIO;

	act_all(&a);
	atomic_fetch_add(&world.ended, 1);
	return err;
}

/* The next piece of a's slice goes to another task. */
static struct actor split(struct actor *a, sennit_wait_group *done)
{
	const size_t left = (size_t)(a->end - a->at);
	const size_t length = left ? next(a) % left : 0;
	struct actor part = { a->at, a->at + length, FREE, done };

	a->at += length;
	return part;
}

static void spawn(struct actor *a)
{
	const struct actor part = split(a, a->done);

	sennit_wait_group_add(a->done, 1);
	atomic_fetch_add(&world.begun, 1);
	REQUIRE(!sennit_schedule_copy(live, &part, sizeof(part)));
}

static void fork_and_join(struct actor *a)
{
	const bool        cancels = next(a) & 1;
	sennit_wait_group done = SENNIT_WAIT_GROUP_INIT;
	sennit_group      g;

	if (a->holds)
		return;
	sennit_group_init(&g, some_deadline(a), 0);
	for (unsigned i = 0; i < 2; i++) {
		const struct actor part = split(a, &done);

		atomic_fetch_add(&world.begun, 1);
		if (sennit_group_spawn_copy(&g, live_as_member, &part,
					    sizeof(part)))
			atomic_fetch_sub(&world.begun, 1);
	}
	if (cancels)
		sennit_group_cancel(&g);
	sennit_group_wait(&g);
	/* Tasks that its members spawned are not members. */
	sennit_wait_group_wait(&done);
}

static void act(struct actor *a)
{
	const uint8_t op = next(a);

	switch (op % 16) {
	case 0:
	case 1:
		lock(a, op % 2);
		break;
	case 2:
		read_or_write(a);
		break;
	case 3:
		park(a);
		break;
	case 4:
		take_token(a);
		break;
	case 5:
		take_turn(a);
		break;
	case 6:
		send(a);
		break;
	case 7:
		receive(a);
		break;
	case 8:
		attempt(a);
		break;
	case 9:
		spawn(a);
		break;
	case 10:
		fork_and_join(a);
		break;
	case 11:
		sennit_sleep(next(a) * SENNIT_MICROSECOND / 8);
		break;
	case 12:
		(void)!sennit_scheduler_set_workers(world.s, 1 + next(a) % 3);
		break;
	case 13:
		sennit_yield();
		break;
	default:
		sennit_point();
	}
}

static void act_all(struct actor *a)
{
	while (a->at < a->end)
		act(a);
}

/* --- the program -------------------------------------------------------- */

static void check(void)
{
	for (unsigned i = 0; i < MUTEXES; i++)
		REQUIRE(world.guarded[i] == atomic_load(&world.locked[i]));
	REQUIRE(world.left == world.right);
	REQUIRE(sennit_semaphore_count(&world.permits) == PERMITS);
	REQUIRE(sennit_event_is_set(&world.token));
	REQUIRE(world.served == atomic_load(&world.drawn));
	REQUIRE(atomic_load(&world.firsts) <= 1);
	REQUIRE(atomic_load(&world.begun) == atomic_load(&world.ended));
	for (uint32_t value;
	     !sennit_channel_receive_until(&world.channel, &value, 0);)
		atomic_fetch_add(&world.received, value);
	REQUIRE(atomic_load(&world.sent) == atomic_load(&world.received));
	sennit_channel_destroy(&world.channel);
}

static void scenario(void *argument)
{
	struct actor      a = *(struct actor *)argument;
	const uint8_t     shape = next(&a);
	sennit_wait_group done = SENNIT_WAIT_GROUP_INIT;

	memset(&world, 0, sizeof(world));
	a.done = &done;
	sennit_event_init(&world.token, SENNIT_EVENT_AUTO, true);
	sennit_semaphore_init(&world.permits, PERMITS);
	REQUIRE(!sennit_channel_init(&world.channel, sizeof(uint32_t),
				     shape % (ROOM + 1), NULL));
	REQUIRE(!sennit_scheduler_create(
		&world.s,
		SENNIT_CONFIG(.workers = 1 + shape / 4 % 3, .max_workers = 3)));
	REQUIRE(!sennit_bind(world.s));
	for (unsigned tasks = shape / 16 % 4; tasks; tasks--)
		spawn(&a);
	act_all(&a);
	sennit_wait_group_wait(&done);
	sennit_unbind();
	REQUIRE(!sennit_scheduler_shutdown(world.s, SENNIT_NEVER));
	check();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct actor a = { bytes + 2, bytes + size, FREE, NULL };

	if (size < 3 || size > LONGEST)
		return 0;
	if (sennit_explore((uint64_t)bytes[0] << 8 | bytes[1], 1, scenario, &a))
		abort(); /* not a deterministic build */
	return 0;
}
