/* SPDX-License-Identifier: Apache-2.0 */
/* same_thread.c - same-thread tasks run oldest first: with each call and from
 * each thread that may schedule them, in every order that a scheduler with
 * workers may have. So a chain of tasks, each of which waits for the one
 * before, needs only a few stacks.
 */
#include "testing/with_workers.h"

#include "sennit/domain.h"
#include "sennit/group.h"

/* FEW: see assert_few_stacks. */
enum { LINKS = LOAD(1000), FEW = 3 };

struct chain {
	sennit_scheduler *s;
	sennit_event      event[LINKS + 1]; /* one is set by each task */
	sennit_wait_group done;
	unsigned          begun;
	bool              broken; /* a task ran before its turn: the tasks do
				   * not wait any more */
};

struct link {
	struct chain *chain;
	unsigned      number;
};

static void run_link(void *link)
{
	const struct link *l = link;
	struct chain      *c = l->chain;

	c->broken |= c->begun++ != l->number;
	if (!c->broken)
		EXPECT(!sennit_event_wait(&c->event[l->number]));
	sennit_event_set(&c->event[l->number + 1]);
	sennit_wait_group_done(&c->done);
}

static sennit_task task_of(const struct link *l)
{
	return (sennit_task){ .run = run_link,
			      .argument = (void *)(uintptr_t)l,
			      .copy_size = sizeof(*l),
			      .flags = SENNIT_TASK_SAME_THREAD };
}

/* --- ways to schedule ----------------------------------------------------- */

static void singly(struct chain *c)
{
	for (unsigned i = 0; i < LINKS; i++) {
		struct link       l = { c, i };
		const sennit_task t = task_of(&l);

		EXPECT(!sennit_schedule_task(&t));
	}
}

static void in_a_domain(struct chain *c)
{
	sennit_domain *d = NULL;

	EXPECT(!sennit_domain_create(&d, c->s, NULL, NULL));
	for (unsigned i = 0; i < LINKS; i++) {
		struct link       l = { c, i };
		const sennit_task t = task_of(&l);

		EXPECT(!sennit_domain_schedule_task(d, &t));
	}
	sennit_domain_release(d);
}

/* Halves, so that one batch comes behind another. */
static void in_batches(struct chain *c)
{
	static struct link links[LINKS];
	static sennit_task tasks[LINKS];

	for (unsigned i = 0; i < LINKS; i++) {
		links[i] = (struct link){ c, i };
		tasks[i] = task_of(&links[i]);
	}
	EXPECT(!sennit_schedule_many(tasks, LINKS / 2));
	EXPECT(!sennit_schedule_many_on(c->s, tasks + LINKS / 2,
					LINKS - LINKS / 2));
}

static int run_member(void *link)
{
	run_link(link);
	return 0;
}

static sennit_group group; /* one is open at a time */

static void as_members(struct chain *c)
{
	sennit_group_init(&group, SENNIT_NEVER, 0);
	for (unsigned i = 0; i < LINKS; i++) {
		struct link l = { c, i };

		EXPECT(!sennit_group_spawn_task(
			&group,
			SENNIT_MEMBER(.run = run_member, .argument = &l,
				      .copy_size = sizeof(l),
				      .flags = SENNIT_MEMBER_SAME_THREAD)));
	}
	EXPECT(!sennit_group_wait(&group));
}

typedef void way(struct chain *c);

static way *const ways[] = { singly, in_a_domain, in_batches, as_members };

/* --- ways to run ---------------------------------------------------------- */

static void begin_chain(struct chain *c, sennit_scheduler *s)
{
	*c = (struct chain){ .s = s };
	for (unsigned i = 0; i <= LINKS; i++)
		sennit_event_init(&c->event[i],
				  SENNIT_EVENT_MANUAL |
					  (!i ? SENNIT_EVENT_SET : 0));
	sennit_wait_group_init(&c->done, LINKS);
}

static void end_chain(struct chain *c)
{
	EXPECT(!c->broken && c->begun == LINKS);
}

static void await_the_last(struct chain *c, way *schedule)
{
	begin_chain(c, c->s);
	schedule(c);
	EXPECT(!sennit_event_wait(&c->event[LINKS]));
	sennit_wait_group_wait(&c->done);
	end_chain(c);
}

/* The tasks are ready before their thread looks at its timers and its mail. */
static void sleep_meanwhile(struct chain *c, way *schedule)
{
	begin_chain(c, c->s);
	schedule(c);
	sennit_sleep(SENNIT_MICROSECOND);
	sennit_wait_group_wait(&c->done);
	end_chain(c);
}

typedef void wait_for_tasks(struct chain *c, way *schedule);

struct attempt {
	struct chain   *chain;
	way            *schedule;
	wait_for_tasks *wait;
};

static void run_attempt(void *attempt)
{
	const struct attempt *a = attempt;

	a->wait(a->chain, a->schedule);
}

static void unbind_meanwhile(struct chain *c, way *schedule)
{
	begin_chain(c, c->s);
	schedule(c);
	sennit_thread_unbind();
	end_chain(c);
	EXPECT(!sennit_thread_bind(c->s));
}

/* --- all of them ---------------------------------------------------------- */

/* One for each worker, and on the thread that makes them: the maker's, the
 * links', and one at most that is in the depot. */
static void assert_few_stacks(const struct world *w, sennit_scheduler *s)
{
	assert_in_range(stats_of(s).stacks, 0, w->threads + FEW);
}

static void play(struct world *w, const sennit_config *config, way *schedule)
{
	static struct chain chain;
	sennit_scheduler   *s = move_to(config);

	chain.s = s;
	await_the_last(&chain, schedule);
	sleep_meanwhile(&chain, schedule);
	unbind_meanwhile(&chain, schedule);
	in_a_task(run_attempt,
		  &(struct attempt){ &chain, schedule, await_the_last });
	in_a_task(run_attempt,
		  &(struct attempt){ &chain, schedule, sleep_meanwhile });
	assert_int_equal(atomic_load(&broken_claims), 0);
	assert_few_stacks(w, s);
	move_back(w, s);
}

static void play_with(struct world *w, uint32_t order, uint32_t max_fibers)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		play(w,
		     SENNIT_CONFIG(.workers = w->workers, .order = order,
				   .max_fibers = max_fibers),
		     ways[i]);
}

TEST_WITH_WORKERS(the_oldest_comes_first_by_default)
{
	play_with(w, SENNIT_ORDER_DEFAULT, 0);
}

TEST_WITH_WORKERS(so_it_does_by_order_oldest)
{
	play_with(w, SENNIT_ORDER_OLDEST, 0);
}

/* Without workers all tasks of the thread are same-thread tasks: its order is
 * theirs. */
TEST_WITH_THREADS(so_it_does_by_order_newest)
{
	play_with(w, SENNIT_ORDER_NEWEST, 0);
}

TEST_WITH_WORKERS(a_chain_ends_however_few_stacks_there_are)
{
	play_with(w, SENNIT_ORDER_DEFAULT, w->threads + FEW);
}

TEST_WITH_THREADS(a_chain_ends_by_order_newest_too)
{
	play_with(w, SENNIT_ORDER_NEWEST, w->threads + FEW);
}
