/* SPDX-License-Identifier: Apache-2.0 */
/* steal_order.c - the order of victims on made-up machines. */
#include "park/topology.h"

#include "testing/test.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 1024 };

static struct topology_slot seats[MOST];
static uint32_t             workers;

/* A machine with `nodes` nodes of `caches` caches of `cores` cores of `threads`
 * threads. Worker i runs on CPU i. CPUs are numbered across the nodes, as
 * firmware often does. */
static void build(uint32_t nodes, uint32_t caches, uint32_t cores,
		  uint32_t threads)
{
	workers = nodes * caches * cores * threads;
	for (uint32_t i = 0; i < workers; i++) {
		uint32_t node = i % nodes;
		uint32_t core = i / nodes / threads;

		seats[i].place =
			(sennit_cpu_place){ .node = node,
					    .cache = node * 1000 + core / cores,
					    .core = node * 1000 + core };
	}
	sn_steal_order_sort(seats, workers);
}

static void scatter(uint32_t n)
{
	workers = n;
	memset(seats, 0xff, sizeof(seats));
	sn_steal_order_sort(seats, n);
}

static sennit_cpu_place place_of(uint32_t worker)
{
	uint32_t i = 0;

	while (seats[i].worker != worker)
		i++;
	return seats[i].place;
}

static struct steal_rings circles_of(uint32_t worker)
{
	struct steal_rings c;
	uint32_t           i = 0;

	while (seats[i].worker != worker)
		i++;
	sn_steal_order_rings(&c, seats, workers, i);
	return c;
}

static uint32_t size_of(const struct steal_rings *c, uint32_t k)
{
	return c->of[k].end - c->of[k].begin;
}

/* --- rings -------------------------------------------------------------- */

TEST(two_nodes_of_eight_are_two_circles)
{
	build(2, 1, 8, 1);
	for (uint32_t i = 0; i < 16; i++) {
		struct steal_rings c = circles_of(i);

		assert_int_equal(c.count, 2);
		assert_int_equal(size_of(&c, 0), 8);
		assert_int_equal(size_of(&c, 1), 16);
		for (uint32_t k = c.of[0].begin; k < c.of[0].end; k++)
			assert_int_equal(seats[k].place.node, i % 2);
	}
}

TEST(threads_caches_and_nodes_lie_inside_each_other)
{
	struct steal_rings c;

	build(2, 4, 4, 2);
	c = circles_of(13);
	assert_int_equal(c.count, 4);
	assert_int_equal(size_of(&c, 0), 2);
	assert_int_equal(size_of(&c, 1), 8);
	assert_int_equal(size_of(&c, 2), 32);
	assert_int_equal(size_of(&c, 3), 64);
}

TEST(who_may_run_anywhere_has_one_circle)
{
	struct steal_rings c;

	scatter(64);
	c = circles_of(7);
	assert_int_equal(c.count, 1);
	assert_int_equal(size_of(&c, 0), 64);
}

/* --- rounds ------------------------------------------------------------- */

static uint32_t round_of(struct steal_tour *t, const struct steal_rings *c,
			 uint32_t extent, uint32_t out[STEAL_ORDER_TRIES])
{
	uint32_t n = sn_steal_order_round(t, c, seats, extent, out);

	assert_in_range(n, 0, STEAL_ORDER_TRIES);
	for (uint32_t i = 0; i < n; i++) {
		assert_in_range(out[i], 0, extent - 1);
		assert_int_not_equal(out[i], seats[c->seat].worker);
		for (uint32_t k = 0; k < i; k++)
			assert_int_not_equal(out[i], out[k]);
	}
	return n;
}

TEST(neighbours_come_first)
{
	uint32_t           victims[STEAL_ORDER_TRIES];
	struct steal_rings c;
	struct steal_tour  t;

	build(2, 1, 8, 1);
	c = circles_of(5);
	for (uint32_t random = 0; random < 100; random++) {
		sn_steal_order_begin(&t, &c, random);
		assert_int_equal(round_of(&t, &c, 16, victims), 8);
		for (uint32_t i = 0; i < 8; i++)
			assert_int_equal(place_of(victims[i]).node,
					 i < 4 ? 1 : 0);
	}
}

TEST(the_nearest_come_before_the_near)
{
	uint32_t           victims[STEAL_ORDER_TRIES];
	struct steal_rings c;
	struct steal_tour  t;

	build(4, 4, 8, 2);
	c = circles_of(100);
	sn_steal_order_begin(&t, &c, 12345);
	assert_int_equal(round_of(&t, &c, 256, victims), 8);
	/* One try goes to the other thread of the core. Of the seven left, four
	 * go to the cache; of the three left, two go to the node; the last goes
	 * anywhere. */
	assert_int_equal(place_of(victims[0]).core, place_of(100).core);
	for (uint32_t i = 1; i < 5; i++)
		assert_int_equal(place_of(victims[i]).cache,
				 place_of(100).cache);
	for (uint32_t i = 5; i < 7; i++)
		assert_int_equal(place_of(victims[i]).node, place_of(100).node);
	assert_int_not_equal(place_of(victims[7]).node, place_of(100).node);
}

/* The number of rounds until every other worker has been visited. */
static uint32_t rounds_to_all(uint32_t worker, uint32_t extent, uint32_t random)
{
	bool               seen[MOST] = { false };
	uint32_t           victims[STEAL_ORDER_TRIES];
	uint32_t           left = extent - 1;
	uint32_t           rounds = 0;
	struct steal_rings c = circles_of(worker);
	struct steal_tour  t;

	for (sn_steal_order_begin(&t, &c, random); left && rounds < 10000;
	     rounds++) {
		uint32_t n = round_of(&t, &c, extent, victims);

		for (uint32_t i = 0; i < n; i++) {
			left -= !seen[victims[i]];
			seen[victims[i]] = true;
		}
	}
	return rounds;
}

TEST(who_searches_on_visits_everybody)
{
	for (uint32_t i = 0; i < 16; i++) {
		build(2, 1, 8, 1);
		assert_in_range(rounds_to_all(i, 16, i), 1, 2);
		build(2, 4, 4, 2); /* one try in eight goes to the far half */
		assert_in_range(rounds_to_all(i, 64, i), 1, 32);
		build(4, 4, 8, 2);
		assert_in_range(rounds_to_all(i, 256, i), 1, 192);
		scatter(256);
		assert_in_range(rounds_to_all(i, 256, i), 32, 32);
		scatter(64);
		assert_in_range(rounds_to_all(i, 64, i), 8, 8);
	}
}

TEST(workers_that_are_not_there_are_passed_by)
{
	scatter(MOST);
	for (uint32_t i = 0; i < 12; i++)
		assert_in_range(rounds_to_all(i, 12, 77 * i), 2, 40);
	build(2, 4, 4, 2);
	for (uint32_t i = 0; i < 12; i++)
		assert_in_range(rounds_to_all(i, 12, 77 * i), 1, 40);
}

TEST(searches_begin_at_different_victims)
{
	uint32_t           first[2][STEAL_ORDER_TRIES];
	struct steal_rings c;
	struct steal_tour  t;

	scatter(256);
	c = circles_of(3);
	for (uint32_t i = 0; i < 2; i++) {
		sn_steal_order_begin(&t, &c, 1000 * i + 1);
		round_of(&t, &c, 256, first[i]);
	}
	assert_memory_not_equal(first[0], first[1], sizeof(first[0]));
}

TEST(one_worker_has_nobody_to_visit)
{
	uint32_t           victims[STEAL_ORDER_TRIES];
	struct steal_rings c;
	struct steal_tour  t;

	scatter(1);
	c = circles_of(0);
	sn_steal_order_begin(&t, &c, 5);
	assert_int_equal(round_of(&t, &c, 1, victims), 0);
}
