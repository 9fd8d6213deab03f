/* SPDX-License-Identifier: Apache-2.0 */
/* task_many.c - tasks scheduled by one call: all of them or none, and in
 * order. */
#include "rendezvous.h"
#include "testing/with_workers.h"

#include <errno.h>

enum { MOST = 1000 };

/* --- what ran, and when ------------------------------------------------- */

struct log {
	sennit_wait_group done;
	atomic_uint       next;
	atomic_uint       ran[MOST];   /* number of runs of each task */
	unsigned          order[MOST]; /* indices in the order of running */
	pthread_t         thread[MOST];
};

struct entry {
	struct log *log;
	unsigned    number;
};

static void write_entry(void *argument)
{
	const struct entry *e = argument;
	const unsigned      i = atomic_fetch_add(&e->log->next, 1);

	e->log->order[i] = e->number;
	e->log->thread[i] = pthread_self();
	atomic_fetch_add(&e->log->ran[e->number], 1);
	sennit_wait_group_done(&e->log->done);
}

/* A batch of `count` tasks, each with its own number. */
struct batch {
	struct log        log;
	sennit_task       tasks[MOST];
	struct entry      entries[MOST];
	unsigned          count;
	sennit_scheduler *s;
};

static struct batch *make_batch(unsigned count, bool copies, uint32_t flags)
{
	struct batch *b = calloc(1, sizeof(*b));

	if (!b)
		abort();
	b->count = count;
	sennit_wait_group_init(&b->log.done, count);
	for (unsigned i = 0; i < count; i++) {
		b->entries[i] = (struct entry){ &b->log, i };
		b->tasks[i] = (sennit_task){ .run = write_entry,
					     .argument = &b->entries[i],
					     .flags = flags };
		if (copies)
			b->tasks[i].copy_size = sizeof(b->entries[i]);
	}
	return b;
}

static void expect_each_ran_once(const struct batch *b)
{
	EXPECT(atomic_load(&b->log.next) == b->count);
	for (unsigned i = 0; i < b->count; i++)
		EXPECT(atomic_load(&b->log.ran[i]) == 1);
}

static void schedule_and_wait(void *argument)
{
	struct batch *b = argument;

	EXPECT(sennit_schedule_many(b->tasks, b->count) == 0);
	sennit_wait_group_wait(&b->log.done);
}

static void enqueue_and_wait(void *argument)
{
	struct batch *b = argument;

	EXPECT(sennit_schedule_many_on(b->s, b->tasks, b->count) == 0);
	sennit_wait_group_wait(&b->log.done);
}

/* --- all of them -------------------------------------------------------- */

typedef void runner(sennit_task_fn *run, void *argument);

static void in_place(sennit_task_fn *run, void *argument)
{
	run(argument);
}

/* Schedule batches of many sizes by `call`, which `place` runs. */
static void expect_all_run(runner *place, sennit_task_fn *call,
			   sennit_scheduler *s, uint32_t flags)
{
	static const unsigned sizes[] = { 0,  1,  2,   3,   31,  32,
					  33, 64, 255, 256, 257, MOST };

	for (unsigned i = 0; i < 2 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct batch *b = make_batch(sizes[i / 2], i % 2, flags);

		b->s = s;
		place(call, b);
		expect_each_ran_once(b);
		free(b);
	}
}

TEST_WITH_WORKERS(every_task_of_a_batch_runs_once)
{
	expect_all_run(in_place, schedule_and_wait, w->s, 0);
	expect_all_run(in_a_task, schedule_and_wait, w->s, 0);
	expect_all_run(in_a_task, enqueue_and_wait, w->s, 0);
}

TEST_WITH_THREADS(so_does_one_from_an_unbound_thread)
{
	expect_all_run(in_a_thread, enqueue_and_wait, w->s, 0);
	expect_all_run(in_a_thread, enqueue_and_wait, w->s,
		       SENNIT_TASK_BACKGROUND);
}

TEST_WITH_WORKERS(so_does_one_of_background_tasks)
{
	expect_all_run(in_place, schedule_and_wait, w->s,
		       SENNIT_TASK_BACKGROUND);
	expect_all_run(in_a_task, schedule_and_wait, w->s,
		       SENNIT_TASK_BACKGROUND);
}

static void in_place_spread(runner *place, sennit_scheduler *s)
{
	expect_all_run(place, schedule_and_wait, s, 0);
	expect_all_run(place, enqueue_and_wait, s, 0);
}

TEST_WITH_THREADS(so_does_one_that_is_spread)
{
	sennit_scheduler *s;

	s = move_to(SENNIT_CONFIG(.workers = w->workers,
				  .placement = SENNIT_PLACEMENT_SPREAD));
	in_place_spread(in_place, s);
	in_place_spread(in_a_task, s);
	move_back(w, s);
}

TEST_WITH_WORKERS(the_array_may_be_reused_at_once)
{
	struct batch *b = make_batch(MOST, true, 0);

	assert_int_equal(sennit_schedule_many(b->tasks, b->count), 0);
	memset(b->tasks, 0xff, sizeof(b->tasks));
	memset(b->entries, 0xff, sizeof(b->entries));
	sennit_wait_group_wait(&b->log.done);
	expect_each_ran_once(b);
	free(b);
}

struct large {
	struct entry entry; /* must be first, for write_entry */
	char         fill[300];
};

TEST_WITH_WORKERS(copies_of_different_sizes_mix)
{
	static struct large large[100];
	struct batch       *b = make_batch(100, true, 0);

	for (unsigned i = 0; i < b->count; i += 3) {
		large[i].entry = b->entries[i];
		b->tasks[i].argument = &large[i];
		b->tasks[i].copy_size = sizeof(large[i]);
	}
	for (unsigned i = 1; i < b->count; i += 3)
		b->tasks[i].copy_size = 0;
	schedule_and_wait(b);
	expect_each_ran_once(b);
	free(b);
}

/* --- order -------------------------------------------------------------- */

static void assert_first_to_last(const struct batch *b)
{
	for (unsigned i = 0; i < b->count; i++)
		assert_int_equal(b->log.order[i], i);
}

static void assert_last_to_first(const struct batch *b)
{
	for (unsigned i = 0; i < b->count; i++)
		assert_int_equal(b->log.order[i], b->count - 1 - i);
}

TEST_WITHOUT(without_workers_the_first_runs_first)
{
	struct batch *b = make_batch(100, false, 0);

	schedule_and_wait(b);
	assert_first_to_last(b);
	free(b);
}

/* A worker takes the newest task, and each millisecond the oldest, so where the
 * batch takes longer than that only the two ends are certain. */
enum { IS_SHORT = SENNIT_MILLISECOND / 2 };

static void assert_from_the_ends(const struct batch *b)
{
	unsigned low = 0, high = b->count;

	for (unsigned i = 0; i < b->count; i++) {
		assert_true(b->log.order[i] == low ||
			    b->log.order[i] == high - 1);
		if (b->log.order[i] == low)
			low++;
		else
			high--;
	}
}

/* Run batches at `place`, most of which are short. */
static void expect_order(runner *place, void (*check)(const struct batch *b))
{
	for (unsigned i = 0; i < 20; i++) {
		struct batch *b = make_batch(100, false, 0);
		sennit_time   took = sennit_now();

		place(schedule_and_wait, b);
		took = sennit_now() - took;
		assert_from_the_ends(b);
		if (took < IS_SHORT)
			check(b);
		free(b);
	}
}

TEST_WITH_ONE(its_worker_runs_the_last_first)
{
	(void)w;
	expect_order(in_a_task, assert_last_to_first);
}

TEST_WITH_ONE(another_worker_runs_the_first_first)
{
	(void)w;
	expect_order(in_place, assert_first_to_last);
}

TEST_WITH_ONE(background_tasks_run_first_to_last)
{
	struct batch *b = make_batch(100, false, SENNIT_TASK_BACKGROUND);

	schedule_and_wait(b);
	assert_first_to_last(b);
	free(b);
}

/* --- help from other workers -------------------------------------------- */

static void hold_rendezvous(void *argument)
{
	struct rendezvous *r = argument;
	sennit_task        tasks[8];

	for (unsigned i = 0; i < r->needed; i++)
		tasks[i] = (sennit_task){ .run = meet, .argument = r };
	prepare_rendezvous(r, r->needed);
	EXPECT(sennit_schedule_many(tasks, r->needed) == 0);
	sennit_wait_group_wait(&r->done);
}

TEST_WITH_THREADS(every_worker_helps_with_a_batch)
{
	struct rendezvous r = { .needed = w->threads };
	unsigned          round;

	for (round = 0; round < 25; round++) {
		hold_rendezvous(&r);
		in_a_task(hold_rendezvous, &r);
	}
}

/* --- the same thread ---------------------------------------------------- */

struct homesick {
	struct batch *batch;
	pthread_t     home;
};

static void schedule_at_home(void *argument)
{
	struct homesick *h = argument;

	h->home = pthread_self();
	schedule_and_wait(h->batch);
}

/* Returns the batch, which the caller must free. */
static struct batch *run_at_home(runner *place)
{
	struct homesick h = { make_batch(200, true, SENNIT_TASK_SAME_THREAD),
			      pthread_self() };

	place(schedule_at_home, &h);
	expect_each_ran_once(h.batch);
	for (unsigned i = 0; i < h.batch->count; i++)
		EXPECT(pthread_equal(h.batch->log.thread[i], h.home));
	return h.batch;
}

TEST_WITH_WORKERS(a_batch_for_the_same_thread_stays_there)
{
	struct batch *b;

	free(run_at_home(in_place));
	b = run_at_home(in_a_task);
	assert_first_to_last(b);
	free(b);
}

/* --- none of them ------------------------------------------------------- */

static void assert_refused(const struct world *w, const struct batch *b)
{
	assert_int_equal(sennit_schedule_many(b->tasks, b->count), -EINVAL);
	assert_int_equal(sennit_schedule_many_on(w->s, b->tasks, b->count),
			 -EINVAL);
}

/* One invalid task at any position makes the call refuse all. */
static void refuse_in_each_way(const struct world *w, uint32_t flags)
{
	static const unsigned places[] = { 0, 1, 49 };

	for (unsigned i = 0; i < 3; i++) {
		struct batch *b = make_batch(50, true, flags);
		sennit_task  *bad = &b->tasks[places[i]];
		sennit_task   good = *bad;

		bad->run = NULL;
		assert_refused(w, b);
		*bad = good;
		bad->reserved_ = 1;
		assert_refused(w, b);
		*bad = good;
		bad->flags = 8 | flags;
		assert_refused(w, b);
		*bad = good;
		bad->flags ^= SENNIT_TASK_SAME_THREAD;
		assert_refused(w, b);
		assert_int_equal(atomic_load(&b->log.next), 0);
		free(b);
	}
}

TEST_WITH_WORKERS(one_task_that_makes_no_sense_refuses_all)
{
	refuse_in_each_way(w, 0);
	refuse_in_each_way(w, SENNIT_TASK_SAME_THREAD);
	refuse_in_each_way(w, SENNIT_TASK_BACKGROUND);
}

TEST_WITH_WORKERS(no_tasks_are_no_error)
{
	assert_int_equal(sennit_schedule_many(NULL, 0), 0);
	assert_int_equal(sennit_schedule_many_on(w->s, NULL, 0), 0);
}
