/* SPDX-License-Identifier: Apache-2.0 */
/* deque_owner_vs_thieves.c - one owner, and three thieves that steal, ask and
 * force: each task must be taken exactly once, with everything that its pusher
 * wrote. Without the barrier in a forced take, or the fence in pop, tasks are
 * taken twice. */
#include "base/memory.h"
#include "base/torture.h"
#include "queue/deque.h"
#include "os/os.h"

#include "testing/random.h"

#include <pthread.h>
#include "testing/test.h"

enum { THIEVES = 3, BATCH = 8 };
#define TASKS TORTURED(100000u, 2000000u)

struct item {
	uint64_t check; /* plain: published by the deque */
	a_u32    taken;
};

struct match {
	struct deque deque;
	struct item *items;
	uint32_t     count;
	a_u32        ready; /* number of running thieves */
	a_u32        over;
	a_u32        wrong; /* tasks with a wrong check, or taken twice */
	a_u32        stolen;
	a_u32        forced;
};

static void take(struct match *m, struct task t)
{
	struct item *i = t.argument;

	if (i->check != (t.meta ^ UINT64_C(0x5e441)) ||
	    a_add_rlx(&i->taken, 1) != 0)
		a_add_rlx(&m->wrong, 1);
}

/* --- a thief ------------------------------------------------------------ */

struct thief {
	struct match *match;
	uint64_t      random;
	pthread_t     thread;
};

static void *rob(void *argument)
{
	struct thief *me = argument;
	struct match *m = me->match;
	struct task   t[BATCH];

	a_add_rlx(&m->ready, 1);
	while (!a_load_rlx(&m->over)) {
		uint32_t got = sn_deque_steal(
			&m->deque, t, 1 + random_below(&me->random, BATCH));

		for (uint32_t i = 0; i < got; i++)
			take(m, t[i]);
		a_add_rlx(&m->stolen, got);
		if (got)
			continue;
		switch (random_below(&me->random, 16)) {
		case 0:
			if (sn_deque_force(&m->deque))
				a_add_rlx(&m->forced, 1);
			break;
		case 1:
			os_thread_yield();
			break;
		case 2:
			sn_deque_ask(&m->deque);
			break;
		default:
			a_pause();
		}
	}
	return NULL;
}

/* --- the owner ---------------------------------------------------------- */

/* The owner's behaviour towards thieves. The generous owner publishes and takes
 * back all the time. So thieves that have read a slot often find it changed. */
enum mood { DEAF, POLITE, GENEROUS, MOODS };

/* Push up to `pushes` new tasks. After each, do what the mood says. */
static uint32_t push_burst(struct match *m, uint32_t next, uint32_t pushes,
			   enum mood mood)
{
	for (; pushes && next < m->count; pushes--, next++) {
		struct task t = { .argument = &m->items[next], .meta = next };

		m->items[next].check = next ^ UINT64_C(0x5e441);
		if (sn_deque_push(&m->deque, t))
			abort();
		if (mood == GENEROUS ||
		    (mood == POLITE && sn_deque_is_asked(&m->deque)))
			sn_deque_publish(&m->deque);
	}
	return next;
}

static void pop_burst(struct match *m, uint32_t pops)
{
	struct task t;

	while (pops-- && sn_deque_pop(&m->deque, &t))
		take(m, t);
}

/* Many short rounds with few tasks, and sometimes a long row. */
static void own(struct match *m, uint64_t random)
{
	uint32_t    next = 0;
	struct task t;

	while (next < m->count) {
		enum mood mood = random_below(&random, MOODS);
		bool      is_long = random_below(&random, 256) == 0;

		for (uint32_t n = 64; n; n--) {
			next = push_burst(m, next, 1 + random_below(&random, 3),
					  mood);
			pop_burst(m, 1 + random_below(&random, 4));
		}
		if (is_long) {
			next = push_burst(m, next, random_below(&random, 3000),
					  mood);
			pop_burst(m, random_below(&random, 3000));
		}
		if (random_below(&random, 32) == 0)
			os_thread_yield();
		if (random_below(&random, 8) == 0 &&
		    sn_deque_pop_oldest(&m->deque, &t))
			take(m, t);
	}
	pop_burst(m, UINT32_MAX);
}

static void play(bool asymmetric, uint32_t count, uint64_t round)
{
	uint64_t     seed = random_stream(round * (THIEVES + 1));
	struct match m = { .count = count };
	struct thief thieves[THIEVES];
	uint32_t     missing = 0;

	m.items = test_calloc(count, sizeof(*m.items));
	assert_int_equal(
		sn_deque_init(&m.deque, &sn_memory_libc, 2, asymmetric), 0);
	for (uint32_t i = 0; i < THIEVES; i++) {
		thieves[i].match = &m;
		thieves[i].random =
			random_stream(round * (THIEVES + 1) + i + 1);
		assert_int_equal(pthread_create(&thieves[i].thread, NULL, rob,
						&thieves[i]),
				 0);
	}
	while (a_load_rlx(&m.ready) < THIEVES)
		os_thread_yield();
	own(&m, seed);
	a_store_rlx(&m.over, 1);
	for (uint32_t i = 0; i < THIEVES; i++)
		pthread_join(thieves[i].thread, NULL);
	for (uint32_t i = 0; i < count; i++)
		missing += a_load_rlx(&m.items[i].taken) == 0;
	print_message("%u tasks: %u stolen, %u forced takes, %u wrong, "
		      "%u missing\n",
		      count, a_load_rlx(&m.stolen), a_load_rlx(&m.forced),
		      a_load_rlx(&m.wrong), missing);
	assert_int_equal(a_load_rlx(&m.wrong), 0);
	assert_int_equal(missing, 0);
	assert_false(sn_deque_has_tasks(&m.deque));
	sn_deque_free(&m.deque);
	test_free(m.items);
}

TEST(with_the_barrier_each_task_is_taken_once)
{
	if (!os_process_barrier_init())
		skip(); /* the system has no process barrier */
	for (uint64_t round = scaled(8); round; round--)
		play(true, TASKS, round);
}

TEST(with_fences_each_task_is_taken_once)
{
	for (uint64_t round = scaled(8); round; round--)
		play(false, TASKS, round);
}
