/* SPDX-License-Identifier: Apache-2.0 */
/* resources_end.c - the end of schedulers that share CPUs: a scheduler without
 * work needs no slot to end, and its slots go to the others. */
#include "budget.h"

#include <errno.h>

/* Two schedulers that share one CPU. a has it as long as a task of a is
 * gripped. */
struct pair {
	sennit_resources *r;
	sennit_scheduler *a, *b;
	struct grip       g;
};

static void begin(struct pair *p)
{
	p->r = resources_of(1);
	p->a = start_with(SHARING(p->r, ));
	grip(&p->g, p->a, 1);
	assert_soon(atomic_load(&p->g.there) == 1);
	p->b = start_with(SHARING(p->r, ));
}

TEST_ALONE(one_without_work_ends_while_another_has_all)
{
	struct pair p;

	begin(&p);
	assert_soon(stats_of(p.b).waiting == EACH);
	end_scheduler(p.b);
	assert_int_equal(told_by(p.r).schedulers, 1);
	let_go(&p.g);
	end_scheduler(p.a);
	give_back(p.r);
}

TEST_ALONE(one_with_work_ends_when_it_had_its_turn)
{
	struct pair p;
	atomic_uint ran = 0;

	begin(&p);
	send(p.b, count_run, &ran);
	assert_int_equal(sennit_scheduler_shutdown(
				 p.b, sennit_after(SENNIT_MILLISECOND)),
			 -ETIMEDOUT);
	assert_int_equal(atomic_load(&ran), 0);
	let_go(&p.g);
	end_scheduler(p.b);
	assert_int_equal(atomic_load(&ran), 1);
	end_scheduler(p.a);
	give_back(p.r);
}

TEST_ALONE(the_end_of_the_lender_frees_its_cpus)
{
	struct pair p;
	atomic_uint ran = 0;

	begin(&p);
	send(p.b, count_run, &ran);
	sennit_scheduler_release(p.a);
	assert_int_equal(atomic_load(&ran), 0);
	let_go(&p.g);
	assert_soon(atomic_load(&ran) == 1);
	assert_soon(told_by(p.r).schedulers == 1);
	end_scheduler(p.b);
	give_back(p.r);
}

TEST_ALONE(one_ends_that_has_been_recalled)
{
	sennit_resources *r = resources_of(1);
	sennit_scheduler *a = start_with(SHARING(r, )), *b;
	struct mill       m;
	struct grip       g;

	start_mill(&m, a, turn, 2);
	assert_soon(atomic_load(&m.turns) > 1000);
	b = start_with(SHARING(r, .resources_min = 1));
	grip(&g, b, 1);
	assert_soon(atomic_load(&g.there) == 1);
	atomic_store(&m.stop, true);
	assert_int_equal(
		sennit_scheduler_shutdown(a, sennit_after(SENNIT_MILLISECOND)),
		-ETIMEDOUT);
	let_go(&g);
	end_scheduler(a);
	end_scheduler(b);
	give_back(r);
}

struct closing {
	sennit_scheduler *other;
	sennit_event      done;
};

static void end_other(void *argument)
{
	struct closing *c = argument;

	EXPECT(sennit_scheduler_shutdown(c->other, sennit_after(GIVE_UP)) == 0);
	sennit_event_set(&c->done);
}

TEST_ALONE(a_task_that_ends_another_lends_its_cpu)
{
	sennit_resources *r = resources_of(1);
	sennit_scheduler *a = start_with(SHARING(r, ));
	struct closing    c = { .other = start_with(SHARING(r, )) };
	struct flood      f;

	sennit_event_init(&c.done, SENNIT_EVENT_MANUAL);
	flood(c.other, &f);
	send(a, end_other, &c);
	EXPECT(!sennit_event_wait(&c.done));
	assert_int_equal(atomic_load(&f.ran), BRANCHES * 51);
	end_scheduler(a);
	give_back(r);
}
