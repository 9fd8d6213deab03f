/* SPDX-License-Identifier: Apache-2.0 */
/* mixed_primitives.c - fibers, bound threads and unbound threads use the same
 * mutex, condition variable, event and wait group, with random deadlines. What
 * went in must come out. */
#include "testing/crowd.h"
#include "testing/random.h"
#include "deadlines.h"

/* A bounded queue of numbers, and a token in an auto event. */
struct bazaar {
	sennit_scheduler *s;
	sennit_mutex      lock;
	sennit_cond       changed;
	sennit_event      turn; /* auto: the task that has it owns `turns` */
	atomic_uint       next;
	unsigned          rounds;
	unsigned          stock;        /* under lock, at most 4 */
	uint64_t          added, taken; /* under lock */
	uint64_t          turns;        /* written by the task that has the
					 * token */
	atomic_uint       all_turns;
};

static bool has_room(void *argument)
{
	return ((struct bazaar *)argument)->stock < 4;
}

static bool has_stock(void *argument)
{
	return ((struct bazaar *)argument)->stock > 0;
}

/* Add until the deadline, or while there is room without waiting. */
static void sell(struct bazaar *b, uint64_t *random)
{
	const sennit_time t = soon(random);

	if (sennit_mutex_lock_until(&b->lock, t))
		return;
	if (!sennit_cond_wait_until_true(&b->changed, &b->lock, has_room, b,
					 t)) {
		EXPECT(b->stock < 4);
		b->stock++;
		b->added++;
		sennit_cond_notify_all(&b->changed);
	}
	sennit_mutex_unlock(&b->lock);
}

static void buy(struct bazaar *b, uint64_t *random)
{
	const sennit_time t = soon(random);

	sennit_mutex_lock(&b->lock);
	if (!sennit_cond_wait_until_true(&b->changed, &b->lock, has_stock, b,
					 t)) {
		EXPECT(b->stock > 0);
		b->stock--;
		b->taken++;
	}
	sennit_mutex_unlock(&b->lock);
	sennit_cond_notify_all(&b->changed);
}

static void take_turn(struct bazaar *b, uint64_t *random)
{
	if (sennit_event_wait_until(&b->turn, soon(random)))
		return;
	b->turns++;
	atomic_fetch_add(&b->all_turns, 1);
	if (!random_below(random, 8))
		sennit_yield();
	sennit_event_set(&b->turn);
}

struct chore {
	sennit_wait_group *done;
	atomic_uint       *ran;
};

static void do_chore(void *argument)
{
	const struct chore *c = argument;

	atomic_fetch_add(c->ran, 1);
	sennit_wait_group_done(c->done);
}

/* For bound threads and tasks: schedule tasks and wait for them. */
static void delegate(struct bazaar *b, uint64_t *random)
{
	const unsigned     n = 1 + random_below(random, 4);
	sennit_wait_group  done;
	atomic_uint        ran = 0;
	const struct chore c = { &done, &ran };

	if (sennit_scheduler_current() != b->s)
		return;
	sennit_wait_group_init(&done, n);
	for (unsigned i = 0; i < n; i++)
		EXPECT(sennit_schedule_copy(do_chore, &c, sizeof(c)) == 0);
	sennit_wait_group_wait(&done);
	EXPECT(atomic_load(&ran) == n);
}

static void trade(void *argument)
{
	struct bazaar *b = argument;
	uint64_t       random = random_stream(atomic_fetch_add(&b->next, 1));

	for (unsigned i = 0; i < b->rounds; i++) {
		switch (random_below(&random, 4)) {
		case 0:
			sell(b, &random);
			break;
		case 1:
			buy(b, &random);
			break;
		case 2:
			take_turn(b, &random);
			break;
		default:
			delegate(b, &random);
		}
	}
}

TEST_WITH_WORKERS(what_goes_in_comes_out)
{
	struct bazaar b = { .s = w->s, .rounds = (unsigned)scaled(LOAD(3000)) };

	sennit_event_init(&b.turn, SENNIT_EVENT_AUTO | SENNIT_EVENT_SET);
	run_crowd((struct crowd){ .s = w->s,
				  .run = trade,
				  .argument = &b,
				  .tasks = 12,
				  .bound = 2,
				  .unbound = 2 });
	assert_int_equal(b.added, b.taken + b.stock);
	assert_int_equal(b.turns, atomic_load(&b.all_turns));
	assert_true(sennit_event_is_set(&b.turn));
	sennit_cond_destroy(&b.changed);
	sennit_mutex_destroy(&b.lock);
	sennit_event_destroy(&b.turn);
}
