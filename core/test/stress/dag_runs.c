/* SPDX-License-Identifier: Apache-2.0 */
/* dag_runs.c - many runs of random graphs at once, from all kinds of threads,
 * with random failures, cancels and deadlines: no node runs twice or before its
 * predecessors. Without failures, cancels and deadlines each node runs. */
#include "../api/dag_plan.h"
#include "testing/crowd.h"
#include "sennit/dag.h"

enum { PLANS = 8 };

static atomic_uint streams;

struct festival {
	struct world *w;
	struct plan   plans[PLANS];
	unsigned      rounds;
};

static sennit_time some_deadline(uint64_t *random)
{
	if (random_below(random, 4))
		return SENNIT_NEVER;
	return sennit_after(random_below(random, 300) * SENNIT_MICROSECOND);
}

static bool is_whole(const struct play *p, int err)
{
	return !err && !p->fails;
}

static void check(const struct play *p, const struct plan *plan, int err)
{
	const unsigned ran = atomic_load(&p->ran);

	EXPECT(ran <= plan->n);
	EXPECT(!is_whole(p, err) || ran == plan->n);
	EXPECT(err == 0 || err == -EIO || err == -ETIMEDOUT ||
	       err == -ECANCELED);
	EXPECT(err != -EIO || p->fails);
}

static void run_one(struct festival *f, uint64_t *random)
{
	const struct plan *plan = &f->plans[random_below(random, PLANS)];
	sennit_dag_options o = { .size = sizeof(o), .scheduler = f->w->s };
	struct play        p;
	int                err;

	open_play(&p, plan);
	p.yields = random_below(random, 8);
	p.fails = random_below(random, 3) ? 0 : 1 + random_below(random, 50);
	o.flags = random_below(random, 4);
	o.memory = random_below(random, 2)
			   ? must_have(1, sennit_dag_run_size(plan->dag))
			   : NULL;
	err = sennit_dag_run(plan->dag, &p, &o, some_deadline(random));
	check(&p, plan, err);
	free(o.memory);
	close_play(&p);
}

enum { TROUPE = 4 };

static void run_some(struct festival *f, uint64_t *random)
{
	struct play  plays[TROUPE];
	bool         cancel = !random_below(random, 3);
	sennit_group g;
	int          err, all = 0;

	sennit_group_init_on(&g, f->w->s, some_deadline(random), 0);
	for (unsigned i = 0; i < TROUPE; i++) {
		const struct plan *plan = &f->plans[i];

		open_play(&plays[i], plan);
		plays[i].yields = random_below(random, 4);
		err = sennit_dag_spawn(&g, plan->dag, &plays[i], NULL,
				       some_deadline(random));
		EXPECT(err == 0 || err == -ECANCELED);
	}
	if (cancel)
		sennit_group_cancel(&g);
	all = sennit_group_wait(&g);
	for (unsigned i = 0; i < TROUPE; i++) {
		check(&plays[i], &f->plans[i], all);
		close_play(&plays[i]);
	}
}

static void run_plan(void *argument)
{
	struct festival *f = argument;
	uint64_t         random = random_stream(atomic_fetch_add(&streams, 1));

	for (unsigned i = 0; i < f->rounds; i++) {
		if (random_below(&random, 4))
			run_one(f, &random);
		else
			run_some(f, &random);
	}
}

TEST_WITH_WORKERS(no_node_runs_twice_or_too_early)
{
	struct festival f = { .w = w, .rounds = (unsigned)scaled(LOAD(2000)) };
	uint64_t        random = random_stream(atomic_fetch_add(&streams, 1));
	struct crowd    c = { .run = run_plan,
			      .argument = &f,
			      .tasks = 2,
			      .unbound = w->threads > 0 };

	for (unsigned i = 0; i < PLANS; i++)
		draw_at_random(&f.plans[i], 1 + random_below(&random, 150),
			       1 + random_below(&random, 5), &random);
	gather(&c);
	run_plan(&f);
	disperse(&c);
	for (unsigned i = 0; i < PLANS; i++)
		close_plan(&f.plans[i]);
}
