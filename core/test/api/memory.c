/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - all memory comes from the given allocator and goes back to it,
 * even if any allocation fails. */
#include "testing/with_workers.h"
#include "testing/counting_allocator.h"

#include "base/torture.h"

#include <errno.h>

static void assert_nothing_left(struct counting_allocator *w)
{
	assert_int_equal(atomic_load(&w->live), 0);
	assert_true(atomic_load(&w->bytes) == 0);
}

static int create(sennit_scheduler **s, uint32_t workers,
		  struct counting_allocator *w)
{
	const sennit_allocator a = COUNTING_ALLOCATOR(w);

	return sennit_scheduler_create(
		s, SENNIT_CONFIG(.workers = workers, .allocator = &a,
				 .name = "a-name-worth-copying",
				 .trace_events = 16));
}

/* --- no failure --------------------------------------------------------- */

struct load {
	atomic_uint       ran;
	sennit_wait_group done;
};

struct cargo {
	struct load *load;
	char         weight[500];
};

static void carry(void *argument)
{
	struct load *l = ((struct cargo *)argument)->load;

	sennit_sleep(1);
	atomic_fetch_add(&l->ran, 1);
}

static void schedule_cargo(const struct cargo *c, size_t size)
{
	EXPECT(sennit_schedule_copy(carry, c, size) == 0);
}

TEST_WITH_COUNTS(all_of_it_goes_back)
{
	struct counting_allocator memory = { .failing = 0 };
	struct load               l = { .ran = 0 };
	struct cargo              c = { .load = &l };
	sennit_scheduler         *s;

	assert_int_equal(create(&s, w->workers, &memory), 0);
	assert_int_equal(sennit_thread_bind(s), 0);
	for (unsigned i = 0; i < 1000; i++)
		schedule_cargo(&c, i % 2 ? sizeof(c) : 16);
	sennit_thread_unbind();
	end_scheduler(s);
	assert_int_equal(atomic_load(&l.ran), 1000);
	assert_true(atomic_load(&memory.calls) > 0);
	assert_nothing_left(&memory);
}

/* --- each failure ------------------------------------------------------- */

static unsigned schedule_some(struct load *l)
{
	struct cargo c = { .load = l };
	unsigned     accepted = 0, i;

	for (i = 0; i < 200; i++) {
		const int err = sennit_schedule_copy(carry, &c,
						     i % 4 ? 16 : sizeof(c));

		EXPECT(err == 0 || err == -ENOMEM);
		accepted += err == 0;
	}
	return accepted;
}

/* Create, bind, schedule, end, with the k-th allocation failing. Returns
 * whether there was a k-th allocation. */
static bool survive_failure_of(unsigned k, uint32_t workers)
{
	struct counting_allocator w = { .failing = k };
	struct load               l = { .ran = 0 };
	sennit_scheduler         *s = NULL;
	unsigned                  accepted = 0;
	int                       err = create(&s, workers, &w);

	if (err) {
		assert_int_equal(err, -ENOMEM);
		assert_null(s);
	} else {
		err = sennit_thread_bind(s);
		assert_true(err == 0 || err == -ENOMEM);
		if (!err) {
			accepted = schedule_some(&l);
			sennit_thread_unbind();
		}
		end_scheduler(s);
	}
	assert_int_equal(atomic_load(&l.ran), accepted);
	assert_nothing_left(&w);
	return atomic_load(&w.calls) >= k;
}

TEST_WITH_COUNTS(a_failure_at_any_moment_leaves_nothing_behind)
{
	unsigned k = 1;

	while (k < 400 && survive_failure_of(k, w->workers))
		k++;
	assert_in_range(k, 2, 399); /* few tasks need few allocations */
}

/* --- many tasks by one call --------------------------------------------- */

/* More than the initial capacity of any queue. In a torture build blocks come
 * in threes. */
enum { MOST_BATCH = 300 };
#define BATCH      TORTURED(60u, MOST_BATCH)
#define MOST_CALLS TORTURED(100u, 60u)

struct attempt {
	struct counting_allocator tally;
	struct load               load;
	sennit_scheduler         *s;
	unsigned                  k;
	uint32_t                  flags;
	int                       result;
};

/* The k-th allocation from here on fails. */
static void schedule_batch(void *argument)
{
	struct attempt *a = argument;
	struct cargo    c = { .load = &a->load };
	sennit_task     tasks[MOST_BATCH];

	for (unsigned i = 0; i < BATCH; i++)
		tasks[i] = (sennit_task){ .run = carry,
					  .argument = &c,
					  .copy_size = i % 50 ? 16 : sizeof(c),
					  .flags = a->flags };
	atomic_store(&a->tally.failing, atomic_load(&a->tally.calls) + a->k);
	a->result = sennit_schedule_many_on(a->s, tasks, BATCH);
	atomic_store(&a->tally.failing, 0);
}

/* Whether the batch got all the memory it needed. */
static bool batch_survives(const struct world *world, unsigned k,
			   void (*place)(sennit_task_fn *, void *),
			   uint32_t flags)
{
	struct attempt a = { .k = k, .flags = flags };

	assert_int_equal(create(&a.s, world->workers, &a.tally), 0);
	assert_int_equal(sennit_thread_bind(a.s), 0);
	place(schedule_batch, &a);
	sennit_thread_unbind();
	end_scheduler(a.s);
	assert_true(a.result == 0 || a.result == -ENOMEM);
	assert_int_equal(atomic_load(&a.load.ran), a.result ? 0 : BATCH);
	assert_nothing_left(&a.tally);
	return !a.result;
}

static void fail_each(const struct world *world,
		      void (*place)(sennit_task_fn *, void *), uint32_t flags)
{
	unsigned k = 1;

	while (k < MOST_CALLS && !batch_survives(world, k, place, flags))
		k++;
	assert_in_range(k, 2, MOST_CALLS - 1);
}

static void here(sennit_task_fn *run, void *argument)
{
	run(argument);
}

TEST_WITH_COUNTS(a_batch_is_accepted_whole_or_not_at_all)
{
	fail_each(w, here, 0);
	fail_each(w, here, SENNIT_TASK_SAME_THREAD);
	fail_each(w, here, SENNIT_TASK_BACKGROUND);
	fail_each(w, in_a_task, 0);
	fail_each(w, in_a_task, SENNIT_TASK_SAME_THREAD);
	if (w->threads)
		fail_each(w, in_a_thread, 0);
}

/* --- what is queued ----------------------------------------------------- */

static void set_event(void *event)
{
	sennit_event_set(event);
}

/* The k-th allocation after the task is queued fails. */
static void start_without(const struct world *world, uint32_t flags, unsigned k)
{
	struct counting_allocator memory = { .failing = 0 };
	sennit_event              ran = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	const sennit_task         task = { .run = set_event,
					   .argument = &ran,
					   .flags = flags };
	sennit_scheduler         *s;

	assert_int_equal(create(&s, world->workers, &memory), 0);
	assert_int_equal(sennit_thread_bind(s), 0);
	assert_int_equal(sennit_schedule_task(&task), 0);
	atomic_store(&memory.failing, atomic_load(&memory.calls) + k);
	assert_int_equal(sennit_event_wait(&ran), 0);
	sennit_thread_unbind();
	end_scheduler(s);
	assert_nothing_left(&memory);
}

TEST_WITH_COUNTS(a_queued_task_starts_whatever_allocation_fails)
{
	for (unsigned k = 1; k < 6; k++) {
		start_without(w, 0, k);
		start_without(w, SENNIT_TASK_SAME_THREAD, k);
		start_without(w, SENNIT_TASK_BACKGROUND, k);
	}
}

/* --- small copies ------------------------------------------------------- */

static void note(void *argument)
{
	sennit_wait_group_done(*(sennit_wait_group **)argument);
}

TEST_WITH_COUNTS(copies_of_48_bytes_need_no_allocation_once_warm)
{
	struct counting_allocator memory = { .failing = 0 };
	sennit_wait_group         done = SENNIT_WAIT_GROUP_INIT;
	sennit_wait_group        *argument[SENNIT_COPY_SMALL / sizeof(void *)];
	sennit_scheduler         *s;
	unsigned                  before = 0, i;

	argument[0] = &done;
	for (i = 1; i < SENNIT_COPY_SMALL / sizeof(void *); i++)
		argument[i] = NULL;
	assert_int_equal(create(&s, w->workers, &memory), 0);
	assert_int_equal(sennit_thread_bind(s), 0);
	for (i = 0; i < 2000; i++) {
		if (i == 1000)
			before = atomic_load(&memory.calls);
		sennit_wait_group_add(&done, 1);
		EXPECT(sennit_schedule_copy(note, argument,
					    SENNIT_COPY_SMALL) == 0);
		sennit_wait_group_wait(&done);
	}
	assert_true(atomic_load(&memory.calls) - before < 100);
	sennit_thread_unbind();
	end_scheduler(s);
	assert_nothing_left(&memory);
}
