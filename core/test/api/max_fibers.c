/* SPDX-License-Identifier: Apache-2.0 */
/* max_fibers.c - back-pressure: beyond the limit tasks wait unstarted, and
 * nothing fails. */
#include "testing/with_workers.h"

enum { LIMIT = 100, MANY = LOAD(100000) };

static sennit_scheduler *start_limited(const struct world *w, uint32_t limit)
{
	sennit_scheduler *s = start_with(
		SENNIT_CONFIG(.workers = w->workers, .max_fibers = limit));

	assert_int_equal(sennit_thread_bind(s), 0);
	return s;
}

static void end_limited(sennit_scheduler *s)
{
	sennit_thread_unbind();
	end_scheduler(s);
}

static uint64_t stacks_of(sennit_scheduler *s)
{
	sennit_stats stats = { .size = sizeof(stats) };

	sennit_scheduler_get_stats(s, &stats);
	return stats.stacks;
}

/* --- a crowd ------------------------------------------------------------ */

struct crowd {
	sennit_scheduler *s;
	uint32_t          limit;
	sennit_event      gate;
	sennit_wait_group left;
	atomic_uint       started;
};

static void wait_at_the_gate(void *argument)
{
	struct crowd *c = argument;

	atomic_fetch_add(&c->started, 1);
	EXPECT(!sennit_event_wait(&c->gate));
	sennit_wait_group_done(&c->left);
}

static void sleep_a_little(void *argument)
{
	struct crowd *c = argument;

	atomic_fetch_add(&c->started, 1);
	sennit_sleep(10 * SENNIT_MICROSECOND);
	sennit_wait_group_done(&c->left);
}

static void gather(struct crowd *c, unsigned count, sennit_task_fn *run)
{
	sennit_wait_group_init(&c->left, count);
	for (unsigned i = 0; i < count; i++)
		must_schedule(run, c);
}

/* Once the maximum number of tasks waits, no more are started. */
static void open_when_full(void *argument)
{
	struct crowd *c = argument;

	EXPECT_SOON(atomic_load(&c->started) == c->limit);
	EXPECT(fibers_of(c->s) >= c->limit / 2);
	EXPECT(stacks_of(c->s) == c->limit);
	EXPECT(atomic_load(&c->started) == c->limit);
	sennit_event_set(&c->gate);
}

TEST_WITH_COUNTS(tasks_beyond_the_limit_wait_unstarted)
{
	struct crowd c = { .limit = LIMIT };

	c.s = start_limited(w, LIMIT);
	sennit_event_init(&c.gate, SENNIT_EVENT_MANUAL);
	gather(&c, MANY, wait_at_the_gate);
	in_a_thread(open_when_full, &c);
	sennit_wait_group_wait(&c.left);
	assert_int_equal(atomic_load(&c.started), MANY);
	assert_true(stacks_of(c.s) <= LIMIT);
	end_limited(c.s);
}

static void sleep_with_few_stacks(const struct world *w, uint32_t limit,
				  unsigned tasks)
{
	struct crowd c = { .limit = limit };

	c.s = start_limited(w, limit);
	gather(&c, tasks, sleep_a_little);
	sennit_wait_group_wait(&c.left);
	assert_int_equal(atomic_load(&c.started), tasks);
	assert_true(stacks_of(c.s) <= limit);
	end_limited(c.s);
}

TEST_WITH_COUNTS(all_that_block_end_with_few_stacks)
{
	sleep_with_few_stacks(w, LIMIT, MANY / 5);
}

/* Each worker has only its own stack, so a task that blocks blocks its
 * thread. */
TEST_WITH_COUNTS(one_stack_for_each_worker_is_enough)
{
	sleep_with_few_stacks(w, w->threads + 1, MANY / 500);
}

/* --- waiting for tasks that have not started ---------------------------- */

enum { DEPTH = 64 };

/* Link i starts link i + 1, then waits until that link has ended. */
struct chain {
	sennit_event ended[DEPTH + 1];
	uint32_t     depth;
	atomic_uint  started;
};

static struct chain chain;

static void link_up(void *argument)
{
	sennit_event *mine = argument;
	unsigned      i = (unsigned)(mine - chain.ended);

	atomic_fetch_add(&chain.started, 1);
	if (i + 1 < chain.depth) {
		must_schedule(link_up, mine + 1);
		EXPECT(!sennit_event_wait(mine + 1));
	}
	sennit_event_set(mine);
}

static void begin_chain(uint32_t depth)
{
	atomic_store(&chain.started, 0);
	chain.depth = depth;
	for (unsigned i = 0; i < depth; i++)
		sennit_event_init(&chain.ended[i], SENNIT_EVENT_MANUAL);
	must_schedule(link_up, chain.ended);
}

/* Each worker keeps a stack, except the one that runs the last link. */
TEST_WITH_COUNTS(waits_as_deep_as_the_limit_end)
{
	uint32_t          threads = w->threads ? w->threads : 1;
	sennit_scheduler *s = start_limited(w, DEPTH + threads - 1);

	begin_chain(DEPTH);
	EXPECT(!sennit_event_wait(&chain.ended[0]));
	assert_int_equal(atomic_load(&chain.started), DEPTH);
	end_limited(s);
}

/* Write the report of *s to text. */
static void read_report(sennit_scheduler *s, char *text, size_t size)
{
	FILE  *f = tmpfile();
	size_t length;

	sennit_report_print(s, fileno(f));
	rewind(f);
	length = fread(text, 1, size - 1, f);
	text[length] = 0;
	fclose(f);
}

/* Exactly as many links as the limit have begun. The last one waits for a task
 * that cannot start, and the report gives the reason. Then end the waits from
 * here. */
static void look_and_cut(void *argument)
{
	sennit_scheduler *s = argument;
	static char       text[1 << 16];
	const char       *said = "tasks start when one is free (max_fibers)\n";

	EXPECT_SOON((read_report(s, text, sizeof(text)), strstr(text, said)));
	/* The previous report may have read the fibers before the last stack
	 * was taken. */
	read_report(s, text, sizeof(text));
	EXPECT(strstr(text, "link_up") || strstr(text, "waits for event"));
	EXPECT(atomic_load(&chain.started) < DEPTH);
	for (unsigned i = DEPTH; i-- > 0;)
		sennit_event_set(&chain.ended[i]);
}

TEST_WITH_COUNTS(deeper_waits_stand_still_and_are_reported)
{
	sennit_scheduler *s = start_limited(w, DEPTH / 2);

	begin_chain(DEPTH);
	in_a_thread(look_and_cut, s);
	assert_soon(atomic_load(&chain.started) == DEPTH);
	EXPECT(!sennit_event_wait(&chain.ended[0]));
	end_limited(s);
}

/* --- joins -------------------------------------------------------------- */

struct node {
	unsigned    depth;
	unsigned    leaves;
	sennit_time each; /* how long a leaf takes */
};

static void compute(sennit_time duration)
{
	const sennit_time end = sennit_now() + duration;

	while (duration && sennit_now() < end)
		;
}

/* The waiting worker runs members as calls, which need no stack. Members that
 * another worker has stolen may need one. */
static int count_leaves(void *argument)
{
	struct node *n = argument;
	struct node  child[2] = { { n->depth - 1, 0, n->each },
				  { n->depth - 1, 0, n->each } };
	sennit_group g;
	int          i, err = 0;

	if (!n->depth) {
		compute(n->each);
		n->leaves = 1;
		return 0;
	}
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (i = 0; i < 2 && !err; i++)
		err = sennit_group_spawn(&g, count_leaves, &child[i]);
	EXPECT(sennit_group_wait(&g) == 0 && !err);
	n->leaves = child[0].leaves + child[1].leaves;
	return 0;
}

static void count_all_leaves(void *argument)
{
	EXPECT(count_leaves(argument) == 0);
}

static void join_with_few_stacks(struct world *w, struct node root)
{
	sennit_scheduler *s = start_limited(w, w->threads + 1);
	const unsigned    leaves = 1u << root.depth;

	in_a_task(count_all_leaves, &root);
	assert_int_equal(root.leaves, leaves);
	end_limited(s);
}

TEST_IN_WORLDS(joins_of_one_worker_need_no_stacks,
	       IN_WORLD(joins_of_one_worker_need_no_stacks, "_w1", open_count,
			close_count, 1))
{
	join_with_few_stacks(w, (struct node){ .depth = 12 });
}

/* Meanwhile the oldest tasks are due for a turn. */
TEST_IN_WORLDS(nor_do_those_of_long_tasks,
	       IN_WORLD(nor_do_those_of_long_tasks, "_w1", open_count,
			close_count, 1))
{
	join_with_few_stacks(
		w,
		(struct node){ .depth = 9, .each = 100 * SENNIT_MICROSECOND });
}

/* --- bound threads ------------------------------------------------------ */

enum { ERRANDS = LOAD(2000) };

struct guest {
	sennit_scheduler *s;
	sennit_event     *done; /* for both threads, in turn */
};

static void sleep_and_tell(void *left)
{
	sennit_sleep(10 * SENNIT_MICROSECOND);
	sennit_wait_group_done(left);
}

/* Run same-thread tasks on this thread while the other thread does the same. */
static void run_own_errands(void)
{
	sennit_wait_group left;

	sennit_wait_group_init(&left, ERRANDS);
	for (unsigned i = 0; i < ERRANDS; i++)
		must_schedule_here(sleep_and_tell, &left);
	sennit_wait_group_wait(&left);
}

static void *visit(void *argument)
{
	struct guest *g = argument;

	EXPECT(sennit_thread_bind(g->s) == 0);
	run_own_errands();
	EXPECT(!sennit_event_wait(g->done));
	sennit_thread_unbind();
	return NULL;
}

/* The first thread that finishes waits for the other, and leaves it all stacks
 * except one. */
TEST_WITH_COUNTS(bound_threads_share_the_limit)
{
	uint32_t     limit = w->threads + 3;
	sennit_event done = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	struct guest g = { .done = &done };
	pthread_t    t[2];

	g.s = start_limited(w, limit);
	for (int i = 0; i < 2; i++)
		t[i] = must_start_thread(visit, &g);
	run_own_errands();
	sennit_event_set(&done);
	assert_true(stacks_of(g.s) <= limit);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	end_limited(g.s);
}

/* --- stacks that a thread does not use yet ------------------------------ */

static void wait_and_count_stacks(void *argument)
{
	struct crowd  *c = argument;
	const unsigned started = atomic_fetch_add(&c->started, 1) + 1;

	EXPECT(stacks_of(c->s) <= started + 1);
	EXPECT(!sennit_event_wait(&c->gate));
	sennit_wait_group_done(&c->left);
}

/* Without a limit a thread that has many takes several at once. Here others may
 * need them while it computes. */
TEST_ALONE(no_stack_is_taken_before_its_task_starts)
{
	struct crowd c = { .limit = LIMIT };

	c.s = start_limited(w, LIMIT);
	sennit_event_init(&c.gate, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&c.left, LIMIT / 2);
	for (unsigned i = 0; i < LIMIT / 2; i++)
		must_schedule_here(wait_and_count_stacks, &c);
	EXPECT_SOON(atomic_load(&c.started) == LIMIT / 2);
	sennit_event_set(&c.gate);
	sennit_wait_group_wait(&c.left);
	end_limited(c.s);
}
