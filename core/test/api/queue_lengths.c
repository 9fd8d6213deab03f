/* SPDX-License-Identifier: Apache-2.0 */
/* queue_lengths.c - the number of tasks that have not started, for each queue
 * in which they can be, in each place where it is shown. */
#include "find_metric.h"
#include "sennit/report.h"
#include "sennit/workers.h"

#include <sched.h>

/* --- what is shown -------------------------------------------------------- */

struct lengths {
	uint64_t views, report, metrics, background;
	bool     exact;
};

static void add_view(void *lengths, const sennit_worker_view *view)
{
	struct lengths *l = lengths;

	l->views += view->queued;
	l->exact = l->exact && view->exact;
}

static void add_entry(void *lengths, const sennit_report_entry *e)
{
	struct lengths *l = lengths;

	if (e->state == SENNIT_REPORT_QUEUED)
		l->report += e->count;
}

static struct lengths look(sennit_scheduler *s)
{
	struct lengths l = { .exact = true };

	sennit_workers_visit(s, add_view, &l);
	sennit_report_visit(s, add_entry, &l);
	l.metrics = value_of(s, "sennit_tasks_queued");
	l.background = value_of(s, "sennit_background_tasks_queued");
	return l;
}

/* --- queues --------------------------------------------------------------- */

/* A task that holds the only thread, while n others are queued. */
struct stage {
	sennit_scheduler  *s;
	const struct kind *kind;
	unsigned           n;
	atomic_bool        holds, over;
	atomic_uint        ran;
	sennit_group       group;
	sennit_wait_group  held;
};

static void count_one(void *counter)
{
	atomic_fetch_add((atomic_uint *)counter, 1);
}

static int count_member(void *counter)
{
	count_one(*(void **)counter);
	return 0;
}

static void add_with(struct stage *g, uint32_t flags)
{
	const sennit_task t = { .run = count_one,
				.argument = &g->ran,
				.flags = flags };

	for (unsigned i = 0; i < g->n; i++)
		EXPECT(sennit_schedule_task(&t) == 0);
}

static void add(struct stage *g)
{
	add_with(g, 0);
}

static void add_pinned(struct stage *g)
{
	add_with(g, SENNIT_TASK_SAME_THREAD);
}

static void add_background(struct stage *g)
{
	add_with(g, SENNIT_TASK_BACKGROUND);
}

static void add_many(struct stage *g)
{
	sennit_task *t = calloc(g->n, sizeof(*t));

	for (unsigned i = 0; i < g->n; i++)
		t[i] = (sennit_task){ .run = count_one, .argument = &g->ran };
	EXPECT(sennit_schedule_many(t, g->n) == 0);
	free(t);
}

static void add_from_a_thread(void *stage)
{
	struct stage     *g = stage;
	const sennit_task t = { .run = count_one, .argument = &g->ran };

	for (unsigned i = 0; i < g->n; i++)
		EXPECT(sennit_schedule_task_on(g->s, &t) == 0);
}

static void add_from_outside(struct stage *g)
{
	pthread_join(start_on_thread(add_from_a_thread, g), NULL);
}

static void add_to_worker(struct stage *g)
{
	void *counter = &g->ran;

	for (unsigned i = 0; i < g->n; i++)
		EXPECT(sennit_group_spawn_task(
			       &g->group,
			       SENNIT_MEMBER(.run = count_member,
					     .argument = &counter,
					     .copy_size = sizeof(counter),
					     .flags = SENNIT_MEMBER_ON_WORKER,
					     .worker = 0)) == 0);
}

/* `inside`: by the task that holds the thread. `most`: the largest number that
 * is counted; 0: any. */
static const struct kind {
	const char *name;
	void (*add)(struct stage *g);
	bool     inside, background;
	unsigned most;
} kinds[] = {
	{ "own", add, true, false, 0 },
	{ "own, many", add_many, true, false, 0 },
	{ "own, pinned", add_pinned, true, false, 0 },
	{ "own, background", add_background, true, true, 0 },
	{ "of the bound thread", add, false, false, 63 },
	{ "of the bound thread, many", add_many, false, false, 63 },
	{ "of the bound thread, pinned", add_pinned, false, false, 0 },
	{ "of an unbound thread", add_from_outside, false, false, 63 },
	{ "to this worker alone", add_to_worker, false, false, 63 },
	{ "background", add_background, false, true, 0 },
};

static bool is_shown(const struct stage *g)
{
	const struct kind   *k = g->kind;
	const struct lengths l = look(g->s);
	const bool           all = !k->most || g->n < k->most;
	const unsigned       least = all ? g->n : k->most;
	const unsigned       queued = k->background ? 0 : least;

	if (l.views == queued && l.metrics == queued && l.report == least &&
	    l.background == least - queued && l.exact == all)
		return true;
	fprintf(stderr,
		"%u tasks, %s: views %u, report %u, metrics %u and %u%s\n",
		g->n, k->name, (unsigned)l.views, (unsigned)l.report,
		(unsigned)l.metrics, (unsigned)l.background,
		l.exact ? ", exact" : "");
	return false;
}

static void hold(void *stage)
{
	struct stage *g = stage;

	if (g->kind->inside)
		g->kind->add(g);
	atomic_store(&g->holds, true);
	while (!atomic_load(&g->over))
		sched_yield();
	sennit_wait_group_done(&g->held);
}

static void try(sennit_scheduler *s, const struct kind *k, unsigned n)
{
	struct stage g = { .s = s, .kind = k, .n = n };

	sennit_group_init(&g.group, SENNIT_NEVER, 0);
	sennit_wait_group_init(&g.held, 1);
	must_schedule(hold, &g);
	while (!atomic_load(&g.holds))
		sched_yield();
	if (!k->inside)
		k->add(&g);
	EXPECT(is_shown(&g));
	atomic_store(&g.over, true);
	sennit_wait_group_wait(&g.held);
	EXPECT(sennit_group_wait(&g.group) == 0);
	assert_soon(atomic_load(&g.ran) == n);
	g.n = 0;
	EXPECT(is_shown(&g));
}

static const unsigned numbers[] = { 1, 10, 62, 63, 200, 1000 };

TEST_WITH_ONE(each_task_is_counted_in_whatever_queue_it_is)
{
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
		for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
			try(w->s, &kinds[k], numbers[i]);
}

/* Without workers, the bound thread has them all, and runs none before it
 * waits. The lengths of its background tasks are among its own. */
TEST_WITHOUT(each_task_of_a_bound_thread_is_counted)
{
	for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
		struct kind  mine = kinds[k];
		struct stage g = { .s = w->s, .kind = &mine, .n = 10 };

		if (mine.add == add_from_outside)
			continue; /* it needs workers */
		mine.background = false;
		sennit_group_init(&g.group, SENNIT_NEVER, 0);
		mine.add(&g);
		EXPECT(is_shown(&g));
		EXPECT(sennit_group_wait(&g.group) == 0);
		assert_soon(atomic_load(&g.ran) == 10);
		g.n = 0;
		EXPECT(is_shown(&g));
	}
}
