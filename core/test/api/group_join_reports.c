/* SPDX-License-Identifier: Apache-2.0 */
/* group_join_reports.c - reports of members that run on the stack of the
 * waiting opener. */
#include "members.h"
#include "testing/with_workers.h"

static int count(void *argument)
{
	atomic_fetch_add((atomic_uint *)argument, 1);
	return 0;
}

struct findings {
	const void *_Atomic object;
	sennit_task_fn     *task;
	unsigned            waits; /* entries that wait for the group */
	unsigned            runs;  /* entries that run the task */
};

static void look(void *context, const sennit_report_entry *e)
{
	struct findings *f = context;

	f->waits += e->state == SENNIT_REPORT_BLOCKED &&
		    e->waits_for == SENNIT_WAITS_FOR_GROUP &&
		    e->object == f->object;
	f->runs += e->state == SENNIT_REPORT_RUNNING && e->task == f->task;
}

static sennit_scheduler *reported;

static unsigned runs_of(sennit_task_fn *task)
{
	struct findings f = { .task = task };

	sennit_report_visit(reported, look, &f);
	return f.runs;
}

static int report_self(void *argument)
{
	EXPECT(runs_of((sennit_task_fn *)(void (*)(void))report_self) == 1);
	return count(argument);
}

static void opener_reports(void *argument)
{
	sennit_group g;

	for (int i = 0; i < 100; i++) {
		sennit_group_init(&g, SENNIT_NEVER, 0);
		must_spawn(&g, report_self, argument);
		EXPECT(sennit_group_wait(&g) == 0);
		EXPECT(runs_of(run_errand) == 1);
	}
}

TEST_WITH_ONE(reports_show_the_member_then_the_opener)
{
	atomic_uint ran = 0;

	reported = w->s;
	in_a_task(opener_reports, &ran);
	assert_int_equal(atomic_load(&ran), 100);
}

struct reporter {
	struct findings f;
	sennit_event    release;
};

static int wait_for_release(void *argument)
{
	EXPECT(!sennit_event_wait(&((struct reporter *)argument)->release));
	return 0;
}

static void open_and_be_reported(void *argument)
{
	struct reporter *r = argument;
	sennit_group     g;

	sennit_group_init(&g, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	r->f.object = &g;
	must_spawn(&g, wait_for_release, r);
	EXPECT(sennit_group_wait(&g) == 0);
}

static bool is_reported(struct world *w, struct reporter *r)
{
	sennit_report_visit(w->s, look, &r->f);
	return r->f.waits;
}

TEST_WITH_WORKERS(reports_show_who_waits_for_a_group)
{
	struct reporter r = { .f.waits = 0 };
	struct errand   e = { .run = open_and_be_reported, .argument = &r };

	sennit_wait_group_init(&e.done, 1);
	must_schedule(run_errand, &e);
	EXPECT_SOON(is_reported(w, &r));
	sennit_event_set(&r.release);
	sennit_wait_group_wait(&e.done);
}
