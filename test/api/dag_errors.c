/* SPDX-License-Identifier: Apache-2.0 */
/* dag_errors.c - nodes that fail, runs that are cancelled or late, and runs as
 * members of groups. */
#include "dag_plan.h"
#include "../ward.h"

/* The data of a run. */
struct scene {
	sennit_event  never; /* never set */
	sennit_event  begun;
	sennit_group *outer;
	atomic_uint   marks;
	int           seen; /* result seen by wait_in_vain */
};

static void open_scene(struct scene *s)
{
	*s = (struct scene){ .seen = 0 };
	sennit_event_init(&s->never, SENNIT_EVENT_MANUAL, false);
	sennit_event_init(&s->begun, SENNIT_EVENT_MANUAL, false);
}

static int mark(void *data, void *argument)
{
	atomic_fetch_or(&((struct scene *)data)->marks,
			(unsigned)(uintptr_t)argument);
	return 0;
}

static int give_up(void *data, void *argument)
{
	(void)mark(data, argument);
	return -EIO;
}

static int wait_in_vain(void *data, void *argument)
{
	struct scene *s = data;

	(void)mark(data, argument);
	sennit_event_set(&s->begun);
	s->seen = sennit_event_wait_until(&s->never, sennit_after(GIVE_UP));
	return s->seen;
}

static int fail_late(void *data, void *argument)
{
	struct scene *s = data;

	sennit_event_wait(&s->begun);
	return give_up(data, argument);
}

static int cancel_late(void *data, void *argument)
{
	struct scene *s = data;

	sennit_event_wait(&s->begun);
	(void)mark(data, argument);
	sennit_group_cancel(s->outer);
	return 0;
}

/* Nodes 0, 1, 2 with these functions and the order given by `after`. Each node
 * sets bit 1 << its number. */
struct cast {
	sennit_dag_fn *run;
	int            after[2]; /* node numbers; negative: none */
};

static sennit_dag *rehearse(const struct cast *cast, unsigned n)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	sennit_dag        *d = NULL;
	uint32_t           node;

	for (uintptr_t i = 0; i < n; i++) {
		void *bit = (void *)((uintptr_t)1 << i);

		assert_int_equal(sennit_dag_builder_add(&b, cast[i].run, bit,
							NULL, &node),
				 0);
		for (int k = 0; k < 2; k++)
			if (cast[i].after[k] >= 0)
				assert_int_equal(
					sennit_dag_builder_order(
						&b, (uint32_t)cast[i].after[k],
						node),
					0);
	}
	assert_int_equal(sennit_dag_build(&d, &b, NULL, 0), 0);
	sennit_dag_builder_destroy(&b);
	return d;
}

/* --- errors ------------------------------------------------------------- */

static void what_comes_after_a_failure_does_not_run(void **state)
{
	static const struct cast cast[] = {
		{ mark, { -1, -1 } },
		{ give_up, { 0, -1 } },
		{ mark, { 1, -1 } },
		{ mark, { 2, 0 } },
	};
	sennit_dag  *d = rehearse(cast, 4);
	struct scene s;

	(void)state;
	open_scene(&s);
	assert_int_equal(sennit_dag_run(d, &s, NULL, SENNIT_NEVER), -EIO);
	assert_int_equal(atomic_load(&s.marks), 1 | 2);
	sennit_dag_destroy(d);
}

static void a_failure_ends_the_waits_of_others(void **state)
{
	static const struct cast cast[] = {
		{ wait_in_vain, { -1, -1 } },
		{ fail_late, { -1, -1 } },
		{ mark, { 0, -1 } },
	};
	sennit_dag  *d = rehearse(cast, 3);
	struct scene s;

	(void)state;
	open_scene(&s);
	assert_int_equal(sennit_dag_run(d, &s, NULL, SENNIT_NEVER), -EIO);
	assert_int_equal(s.seen, -ECANCELED);
	assert_int_equal(atomic_load(&s.marks), 1 | 2);
	sennit_dag_destroy(d);
}

/*	0 -> 1 (fails) -> 2 -> 3,  0 -> 4 -> 5,  3, 5 -> 6 */
static void told_to_keep_going_the_others_run(void **state)
{
	static const struct cast cast[] = {
		{ mark, { -1, -1 } }, { give_up, { 0, -1 } },
		{ mark, { 1, -1 } },  { mark, { 2, -1 } },
		{ mark, { 0, -1 } },  { mark, { 4, -1 } },
		{ mark, { 3, 5 } },
	};
	const sennit_dag_options o = { .flags = SENNIT_GROUP_KEEP_GOING };
	sennit_dag              *d = rehearse(cast, 7);
	struct scene             s;

	(void)state;
	open_scene(&s);
	assert_int_equal(sennit_dag_run(d, &s, &o, SENNIT_NEVER), -EIO);
	assert_int_equal(atomic_load(&s.marks), 1 | 2 | 16 | 32);
	sennit_dag_destroy(d);
}

/* --- deadlines ---------------------------------------------------------- */

static void a_run_that_is_late_begins_nothing(void **state)
{
	static const struct cast cast[] = { { mark, { -1, -1 } } };
	sennit_dag              *d = rehearse(cast, 1);
	struct scene             s;

	(void)state;
	open_scene(&s);
	assert_int_equal(sennit_dag_run(d, &s, NULL, 0), -ETIMEDOUT);
	assert_int_equal(sennit_dag_run(d, &s, NULL, 1), -ETIMEDOUT);
	assert_int_equal(atomic_load(&s.marks), 0);
	assert_int_equal(sennit_dag_run(d, &s, NULL, sennit_after(GIVE_UP)), 0);
	assert_int_equal(atomic_load(&s.marks), 1);
	sennit_dag_destroy(d);
}

static void the_deadline_ends_waits_of_nodes(void **state)
{
	static const struct cast cast[] = {
		{ wait_in_vain, { -1, -1 } },
		{ mark, { 0, -1 } },
	};
	const sennit_time soon = sennit_after(3 * SENNIT_MILLISECOND);
	sennit_dag       *d = rehearse(cast, 2);
	struct scene      s;

	(void)state;
	open_scene(&s);
	assert_int_equal(sennit_dag_run(d, &s, NULL, soon), -ETIMEDOUT);
	assert_true(sennit_now() >= soon);
	assert_true(!(atomic_load(&s.marks) & 2));
	sennit_dag_destroy(d);
}

/* --- inside groups ------------------------------------------------------ */

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

static void a_run_in_a_cancelled_group_begins_nothing(void **state)
{
	static const struct cast cast[] = { { mark, { -1, -1 } } };
	struct try               t = { .dag = rehearse(cast, 1) };
	sennit_group             g;

	(void)state;
	open_scene(&t.scene);
	t.scene.outer = &g;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(sennit_group_spawn(&g, run_in_cancelled, &t), 0);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	assert_int_equal(t.result, -ECANCELED);
	assert_int_equal(atomic_load(&t.scene.marks), 0);
	sennit_dag_destroy(t.dag);
}

static void cancelling_a_group_reaches_the_runs_inside(void **state)
{
	static const struct cast cast[] = {
		{ wait_in_vain, { -1, -1 } },
		{ cancel_late, { -1, -1 } },
		{ mark, { 1, -1 } },
	};
	sennit_dag  *d = rehearse(cast, 3);
	struct scene s;
	sennit_group g;

	(void)state;
	open_scene(&s);
	s.outer = &g;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(sennit_dag_spawn(&g, d, &s, NULL, SENNIT_NEVER), 0);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	assert_int_equal(s.seen, -ECANCELED);
	assert_int_equal(atomic_load(&s.marks), 1 | 2);
	sennit_dag_destroy(d);
}

static void the_groups_deadline_is_the_runs(void **state)
{
	static const struct cast cast[] = { { wait_in_vain, { -1, -1 } } };
	sennit_dag              *d = rehearse(cast, 1);
	struct scene             s;
	sennit_group             g;

	(void)state;
	open_scene(&s);
	sennit_group_init(&g, sennit_after(3 * SENNIT_MILLISECOND), 0);
	assert_int_equal(sennit_dag_spawn(&g, d, &s, NULL, SENNIT_NEVER), 0);
	assert_int_equal(sennit_group_wait(&g), -ETIMEDOUT);
	sennit_dag_destroy(d);
}

static void a_failed_run_is_a_failed_member(void **state)
{
	static const struct cast good[] = { { wait_in_vain, { -1, -1 } } };
	static const struct cast bad[] = { { fail_late, { -1, -1 } } };
	sennit_dag              *waits = rehearse(good, 1);
	sennit_dag              *fails = rehearse(bad, 1);
	struct scene             s;
	sennit_group             g;

	(void)state;
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

static void a_spawn_into_a_cancelled_group_is_refused(void **state)
{
	static const struct cast cast[] = { { mark, { -1, -1 } } };
	sennit_dag              *d = rehearse(cast, 1);
	struct scene             s;
	sennit_group             g;

	(void)state;
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

static void many_runs_are_members_of_one_group(void **state)
{
	uint64_t           random = random_stream(1);
	sennit_dag_options o = { .flags = SENNIT_GROUP_OWN_STACKS };
	struct plan        plan;
	struct play        plays[RUNS];
	sennit_group       g;

	(void)state;
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

/* --- no memory for tasks ------------------------------------------------ */

static struct ward ward;

static int dry_up(void *data, void *argument)
{
	(void)data;
	(void)argument;
	atomic_store(&ward.dry, true);
	return 0;
}

struct drought {
	sennit_dag  *dag;
	struct scene scene;
};

static void run_dry(void *argument)
{
	struct drought *d = argument;

	EXPECT(sennit_dag_run(d->dag, d, NULL, SENNIT_NEVER) == 0);
	atomic_store(&ward.dry, false);
}

static int count(void *data, void *argument)
{
	struct drought *d = data;

	(void)argument;
	atomic_fetch_add(&d->scene.marks, 1);
	return 0;
}

enum { WIDTH = 3000 };

/* One node, then WIDTH nodes with one successor each, then one node. */
static sennit_dag *make_wide(void)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	sennit_dag        *d = NULL;
	uint32_t           first, node, next, last;

	EXPECT(!sennit_dag_builder_add(&b, dry_up, NULL, NULL, &first));
	EXPECT(!sennit_dag_builder_add(&b, count, NULL, NULL, &last));
	for (unsigned i = 0; i < WIDTH; i++) {
		EXPECT(!sennit_dag_builder_add(&b, count, NULL, NULL, &node));
		EXPECT(!sennit_dag_builder_add(&b, count, NULL, NULL, &next));
		EXPECT(!sennit_dag_builder_order(&b, first, node));
		EXPECT(!sennit_dag_builder_order(&b, node, next));
		EXPECT(!sennit_dag_builder_order(&b, next, last));
	}
	EXPECT(!sennit_dag_build(&d, &b, NULL, 0));
	sennit_dag_builder_destroy(&b);
	return d;
}

static void without_memory_for_tasks_all_nodes_run(void **state)
{
	const struct world    *w = *state;
	const sennit_allocator a = WARD(&ward);
	struct drought         d = { .dag = make_wide() };
	sennit_scheduler      *s = start_with(
		     SENNIT_CONFIG(.workers = w->workers, .allocator = &a));

	assert_int_equal(sennit_bind(s), 0);
	if (w->threads)
		in_a_task(run_dry, &d);
	else
		run_dry(&d);
	sennit_unbind();
	end_scheduler(s);
	assert_int_equal(atomic_load(&d.scene.marks), 2 * WIDTH + 1);
	sennit_dag_destroy(d.dag);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORKERS(what_comes_after_a_failure_does_not_run),
		WITH_WORKERS(a_failure_ends_the_waits_of_others),
		WITH_WORKERS(told_to_keep_going_the_others_run),
		WITH_WORKERS(a_run_that_is_late_begins_nothing),
		WITH_WORKERS(the_deadline_ends_waits_of_nodes),
		WITH_WORKERS(a_run_in_a_cancelled_group_begins_nothing),
		WITH_WORKERS(cancelling_a_group_reaches_the_runs_inside),
		WITH_WORKERS(the_groups_deadline_is_the_runs),
		WITH_WORKERS(a_failed_run_is_a_failed_member),
		WITH_WORKERS(a_spawn_into_a_cancelled_group_is_refused),
		WITH_WORKERS(many_runs_are_members_of_one_group),
		WITH_COUNTS(without_memory_for_tasks_all_nodes_run),
	};

	(void)random_stream(0); /* chooses the seed while there is only one
				 * thread */
	return random_report(cmocka_run_group_tests_name("api/dag_errors",
							 tests, NULL, NULL));
}
