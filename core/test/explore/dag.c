/* SPDX-License-Identifier: Apache-2.0 */
/* dag.c - runs of a DAG in many orders: concurrent, stolen, cancelled, past
 * their deadline. */
#include "explore.h"
#include "sennit/dag.h"

/*	0 -> 1 -> 3 -> 5
 *	0 -> 2 -> 3,  2 -> 4 -> 5 */
enum { STEPS = 6 };

static const uint32_t edges[][2] = { { 0, 1 }, { 0, 2 }, { 1, 3 }, { 2, 3 },
				     { 2, 4 }, { 3, 5 }, { 4, 5 } };

enum { HOW_MANY = sizeof(edges) / sizeof(edges[0]) };

/* Plain memory: a step must see the writes of the steps before it. */
struct play {
	unsigned begun[STEPS], ended[STEPS];
	unsigned fails; /* the step that fails; STEPS: none */
	unsigned sleeps;
};

static unsigned numbers[STEPS] = { 0, 1, 2, 3, 4, 5 };

static int take_step(void *data, void *argument)
{
	const unsigned step = *(unsigned *)argument;
	struct play   *p = data;

	REQUIRE(!p->begun[step]++);
	for (unsigned i = 0; i < HOW_MANY; i++)
		REQUIRE(edges[i][1] != step || p->ended[edges[i][0]]);
	if (step == p->sleeps) {
		int err = sennit_sleep_until(
			sennit_after(5 * SENNIT_MICROSECOND));

		if (err && err != -ETIMEDOUT)
			return err;
	}
	if (step == p->fails)
		return -EIO;
	p->ended[step] = 1;
	return 0;
}

static sennit_dag *make(void)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	sennit_dag        *d;
	uint32_t           node;

	for (unsigned i = 0; i < STEPS; i++)
		REQUIRE(!sennit_dag_builder_add(&b, take_step, &numbers[i],
						NULL, &node));
	for (unsigned i = 0; i < HOW_MANY; i++)
		REQUIRE(!sennit_dag_builder_order(&b, edges[i][0],
						  edges[i][1]));
	REQUIRE(!sennit_dag_build(&d, &b, NULL, 0));
	sennit_dag_builder_destroy(&b);
	return d;
}

static unsigned count_ended(const struct play *p)
{
	unsigned n = 0;

	for (unsigned i = 0; i < STEPS; i++)
		n += p->ended[i];
	return n;
}

TEST_EXPLORED(two_runs_at_once_are_in_order)
{
	struct play       plays[2] = { { .fails = STEPS, .sleeps = 1 },
				       { .fails = STEPS, .sleeps = 4 } };
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 3));
	sennit_dag       *d = make();
	sennit_group      g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	REQUIRE(!sennit_dag_spawn(&g, d, &plays[0], NULL, SENNIT_NEVER));
	REQUIRE(!sennit_dag_run(d, &plays[1], NULL, SENNIT_NEVER));
	REQUIRE(!sennit_group_wait(&g));
	sennit_dag_destroy(d);
	REQUIRE(count_ended(&plays[0]) == STEPS);
	REQUIRE(count_ended(&plays[1]) == STEPS);
	end(s);
}

TEST_EXPLORED(runs_that_break_off_begin_nothing_more)
{
	struct play       failing = { .fails = 2, .sleeps = 1 };
	struct play       broken = { .fails = STEPS, .sleeps = 2 };
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 2));
	sennit_dag       *d = make();
	sennit_group      g;
	int               err;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	REQUIRE(!sennit_dag_spawn(&g, d, &broken, NULL,
				  sennit_after(8 * SENNIT_MICROSECOND)));
	REQUIRE(sennit_dag_run(d, &failing, NULL, SENNIT_NEVER) == -EIO);
	sennit_group_cancel(&g);
	err = sennit_group_wait(&g);
	sennit_dag_destroy(d);
	REQUIRE(err == -ECANCELED || err == -ETIMEDOUT);
	REQUIRE(!failing.begun[3] && !failing.begun[4] && !failing.begun[5]);
	end(s);
}
