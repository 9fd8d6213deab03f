/* SPDX-License-Identifier: Apache-2.0 */
/* placement.c - on which thread a task runs, and in which order. */
#include "testing/with_workers.h"

/* --- records ------------------------------------------------------------ */

/* What a test's tasks record. */
struct log {
	sennit_wait_group done;
	atomic_uint       next;
	unsigned          order[64];
	pthread_t         thread[64];
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
	sennit_wait_group_done(&e->log->done);
}

static void schedule_entries(struct log *log, unsigned first, unsigned end)
{
	struct entry e = { .log = log };

	for (e.number = first; e.number < end; e.number++) {
		sennit_wait_group_add(&log->done, 1);
		EXPECT(sennit_schedule_copy(write_entry, &e, sizeof(e)) == 0);
	}
}

static void schedule_ten_and_wait(void *argument)
{
	struct log *log = argument;

	schedule_entries(log, 0, 10);
	sennit_wait_group_wait(&log->done);
}

static void assert_oldest_first(const struct log *log, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(log->order[i], i);
}

static bool is_newest_first(const struct log *log, unsigned count)
{
	unsigned i = 0;

	while (i < count && log->order[i] == count - 1 - i)
		i++;
	return i == count;
}

/* --- without workers ---------------------------------------------------- */

TEST_WITHOUT(nothing_runs_until_the_thread_blocks)
{
	struct log log = { .next = 0 };

	schedule_entries(&log, 0, 10);
	assert_int_equal(atomic_load(&log.next), 0);
	sennit_wait_group_wait(&log.done);
	assert_int_equal(atomic_load(&log.next), 10);
	assert_true(pthread_equal(log.thread[9], pthread_self()));
}

TEST_WITHOUT(nothing_runs_until_the_thread_unbinds)
{
	struct log log = { .next = 0 };

	schedule_entries(&log, 0, 10);
	assert_int_equal(atomic_load(&log.next), 0);
	sennit_thread_unbind();
	assert_int_equal(atomic_load(&log.next), 10);
	assert_oldest_first(&log, 10);
	assert_int_equal(sennit_thread_bind(w->s), 0);
}

TEST_WITHOUT(tasks_run_first_in_first_out)
{
	struct log log = { .next = 0 };

	schedule_ten_and_wait(&log);
	assert_oldest_first(&log, 10);
}

static void schedule_entry_four(void *argument)
{
	schedule_entries(argument, 4, 5);
}

TEST_WITHOUT(a_nested_task_goes_to_the_back)
{
	struct log log = { .next = 0 };

	sennit_wait_group_init(&log.done, 0);
	must_schedule(schedule_entry_four, &log);
	schedule_entries(&log, 0, 4);
	sennit_wait_group_wait(&log.done);
	assert_soon(atomic_load(&log.next) == 5);
	assert_oldest_first(&log, 5);
}

TEST_WITHOUT(order_newest_reverses_it)
{
	sennit_scheduler *s;
	struct log        log = { .next = 0 };

	s = move_to(SENNIT_CONFIG(.workers = w->workers,
				  .order = SENNIT_ORDER_NEWEST));
	schedule_ten_and_wait(&log);
	assert_true(is_newest_first(&log, 10));
	move_back(w, s);
}

/* --- with workers ------------------------------------------------------- */

TEST_WITH_ONE(a_worker_runs_its_newest_task_first)
{
	bool newest_first = false;

	/* An old task has its turn on a machine that is slow at the moment. */
	for (unsigned round = 0; round < 1000 && !newest_first; round++) {
		struct log log = { .next = 0 };

		in_a_task(schedule_ten_and_wait, &log);
		newest_first = is_newest_first(&log, 10);
	}
	assert_true(newest_first);
}

TEST_WITH_ONE(order_oldest_runs_its_oldest_first)
{
	sennit_scheduler *s;
	struct log        log = { .next = 0 };

	s = move_to(SENNIT_CONFIG(.workers = w->workers,
				  .order = SENNIT_ORDER_OLDEST));
	in_a_task(schedule_ten_and_wait, &log);
	assert_oldest_first(&log, 10);
	move_back(w, s);
}

/* --- from outside, to a busy worker ------------------------------------- */

struct jam {
	struct log  log;
	atomic_bool busy, go;
};

static void hold_the_worker(void *argument)
{
	struct jam *j = argument;

	atomic_store(&j->busy, true);
	while (!atomic_load(&j->go))
		sched_yield();
	sennit_wait_group_done(&j->log.done);
}

/* Ten tasks from outside, which the worker then finds all at once. */
static void assert_runs_oldest_first(void)
{
	struct jam j = { .busy = false };

	sennit_wait_group_init(&j.log.done, 1);
	must_schedule(hold_the_worker, &j);
	assert_soon(atomic_load(&j.busy));
	schedule_entries(&j.log, 0, 10);
	atomic_store(&j.go, true);
	sennit_wait_group_wait(&j.log.done);
	assert_oldest_first(&j.log, 10);
}

TEST_WITH_ONE(tasks_sent_to_a_worker_run_oldest_first)
{
	assert_runs_oldest_first();
}

TEST_WITH_ONE(tasks_sent_to_a_worker_run_so_by_order_oldest_too)
{
	sennit_scheduler *s;

	s = move_to(SENNIT_CONFIG(.workers = w->workers,
				  .order = SENNIT_ORDER_OLDEST));
	assert_runs_oldest_first();
	move_back(w, s);
}

struct threads_seen {
	pthread_t         main;
	atomic_uint       on_main;
	atomic_uint       ran;
	atomic_ulong      seen[16];
	atomic_uint       too_many;
	sennit_wait_group done;
};

static void note_thread(void *argument)
{
	struct threads_seen *t = argument;
	const unsigned long  self = (unsigned long)pthread_self();
	unsigned             i;

	if (pthread_equal(pthread_self(), t->main))
		atomic_fetch_add(&t->on_main, 1);
	for (i = 0; i < 16; i++) {
		unsigned long was = 0;

		if (atomic_compare_exchange_strong(&t->seen[i], &was, self) ||
		    was == self)
			break;
	}
	if (i == 16)
		atomic_fetch_add(&t->too_many, 1);
	atomic_fetch_add(&t->ran, 1);
	sennit_wait_group_done(&t->done);
}

static unsigned count_threads(const struct threads_seen *t)
{
	unsigned i;

	for (i = 0; i < 16 && atomic_load(&t->seen[i]); i++)
		;
	return atomic_load(&t->too_many) ? UINT32_MAX : i;
}

TEST_WITH_THREADS(only_worker_threads_run_tasks)
{
	struct threads_seen t = { .main = pthread_self() };

	sennit_wait_group_init(&t.done, 1000);
	for (unsigned i = 0; i < 1000; i++) {
		must_schedule(note_thread, &t);
		if (i % 10 == 0)
			sennit_yield();
	}
	sennit_wait_group_wait(&t.done);
	assert_int_equal(atomic_load(&t.on_main), 0);
	assert_in_range(count_threads(&t), 1, w->threads);
}

/* --- same thread -------------------------------------------------------- */

struct homesick {
	sennit_wait_group done;
	pthread_t         home;
};

static void expect_home(void *argument)
{
	struct homesick *h = argument;

	EXPECT(pthread_equal(pthread_self(), h->home));
	sennit_wait_group_done(&h->done);
}

/* No worker may steal these, even if others are idle. */
static void schedule_at_home(void *argument)
{
	struct homesick *h = argument;

	h->home = pthread_self();
	sennit_wait_group_init(&h->done, 500);
	for (unsigned i = 0; i < 500; i++) {
		must_schedule_here(expect_home, h);
		if (i % 50 == 0)
			sched_yield();
	}
	sennit_wait_group_wait(&h->done);
}

TEST_WITH_WORKERS(a_same_thread_task_stays_where_it_was_scheduled)
{
	struct homesick h;

	schedule_at_home(&h);
	in_a_task(schedule_at_home, &h);
}

TEST_WITH_WORKERS(a_same_thread_task_may_be_enqueued_by_its_own_task)
{
	struct homesick   h = { .home = pthread_self() };
	const sennit_task t = { .run = expect_home,
				.argument = &h,
				.flags = SENNIT_TASK_SAME_THREAD };

	sennit_wait_group_init(&h.done, 1);
	assert_int_equal(sennit_schedule_task_on(w->s, &t), 0);
	sennit_wait_group_wait(&h.done);
}
