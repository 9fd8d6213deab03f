/* SPDX-License-Identifier: Apache-2.0 */
/* dag_groups.c - runs of a DAG as members of groups: cancels, deadlines and
 * errors pass from one to the other. */
#include "dag_plan.h"
#include "sennit/dag.h"

static int cancel_late(void *data, void *argument)
{
	struct scene *s = data;

	EXPECT(!sennit_event_wait(&s->begun));
	(void)mark(data, argument);
	sennit_group_cancel(s->outer);
	return 0;
}

struct
try {
	sennit_dag  *dag;
	struct scene scene;
	int          result;
};

static int run_in_cancelled(void *argument)
{
	struct try *t = argument;

	sennit_group_cancel(t->scene.outer);
	t->result = sennit_dag_run(t->dag, &t->scene, NULL, SENNIT_NEVER);
	return 0;
}

TEST_WITH_WORKERS(a_run_in_a_cancelled_group_begins_nothing)
{
	static const struct cast cast[] = { { mark, { -1, -1 } } };
	struct try               t = { .dag = rehearse(cast, 1) };
	sennit_group             g;

	open_scene(&t.scene);
	t.scene.outer = &g;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(sennit_group_spawn(&g, run_in_cancelled, &t), 0);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	assert_int_equal(t.result, -ECANCELED);
	assert_int_equal(atomic_load(&t.scene.marks), 0);
	sennit_dag_destroy(t.dag);
}

TEST_WITH_WORKERS(cancelling_a_group_reaches_the_runs_inside)
{
	static const struct cast cast[] = {
		{ wait_in_vain, { -1, -1 } },
		{ cancel_late, { -1, -1 } },
		{ mark, { 1, -1 } },
	};
	sennit_dag  *d = rehearse(cast, 3);
	struct scene s;
	sennit_group g;

	open_scene(&s);
	s.outer = &g;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(sennit_dag_spawn(&g, d, &s, NULL, SENNIT_NEVER), 0);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	assert_int_equal(s.seen, -ECANCELED);
	assert_int_equal(atomic_load(&s.marks), 1 | 2);
	sennit_dag_destroy(d);
}

TEST_WITH_WORKERS(the_groups_deadline_is_the_runs)
{
	static const struct cast cast[] = { { wait_in_vain, { -1, -1 } } };
	sennit_dag              *d = rehearse(cast, 1);
	struct scene             s;
	sennit_group             g;

	open_scene(&s);
	sennit_group_init(&g, sennit_after(3 * SENNIT_MILLISECOND), 0);
	assert_int_equal(sennit_dag_spawn(&g, d, &s, NULL, SENNIT_NEVER), 0);
	assert_int_equal(sennit_group_wait(&g), -ETIMEDOUT);
	sennit_dag_destroy(d);
}

TEST_WITH_WORKERS(a_failed_run_is_a_failed_member)
{
	static const struct cast good[] = { { wait_in_vain, { -1, -1 } } };
	static const struct cast bad[] = { { fail_late, { -1, -1 } } };
	sennit_dag              *waits = rehearse(good, 1);
	sennit_dag              *fails = rehearse(bad, 1);
	struct scene             s;
	sennit_group             g;

	open_scene(&s);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(sennit_dag_spawn(&g, waits, &s, NULL, SENNIT_NEVER),
			 0);
	assert_int_equal(sennit_dag_spawn(&g, fails, &s, NULL, SENNIT_NEVER),
			 0);
	assert_int_equal(sennit_group_wait(&g), -EIO);
	assert_int_equal(s.seen, -ECANCELED);
	sennit_dag_destroy(waits);
	sennit_dag_destroy(fails);
}

TEST_WITH_WORKERS(a_spawn_into_a_cancelled_group_is_refused)
{
	static const struct cast cast[] = { { mark, { -1, -1 } } };
	sennit_dag              *d = rehearse(cast, 1);
	struct scene             s;
	sennit_group             g;

	open_scene(&s);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	sennit_group_cancel(&g);
	assert_int_equal(sennit_dag_spawn(&g, d, &s, NULL, SENNIT_NEVER),
			 -ECANCELED);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	assert_int_equal(atomic_load(&s.marks), 0);
	sennit_dag_destroy(d);
}

enum { RUNS = 20 };

TEST_WITH_WORKERS(many_runs_are_members_of_one_group)
{
	uint64_t           random = random_stream(1);
	sennit_dag_options o = { .size = sizeof(o),
				 .flags = SENNIT_GROUP_OWN_STACKS };
	struct plan        plan;
	struct play        plays[RUNS];
	sennit_group       g;

	draw_at_random(&plan, 200, 3, &random);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (unsigned i = 0; i < RUNS; i++) {
		open_play(&plays[i], &plan);
		plays[i].yields = i;
		assert_int_equal(sennit_dag_spawn(&g, plan.dag, &plays[i],
						  i % 2 ? &o : NULL,
						  SENNIT_NEVER),
				 0);
	}
	memset(&o, 0xff, sizeof(o)); /* the options have been read */
	assert_int_equal(sennit_group_wait(&g), 0);
	for (unsigned i = 0; i < RUNS; i++) {
		assert_int_equal(atomic_load(&plays[i].ran), 200);
		close_play(&plays[i]);
	}
	close_plan(&plan);
}
