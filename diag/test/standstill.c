/* SPDX-License-Identifier: Apache-2.0 */
/* standstill.c - programs that stand still by construction, on one, two, four
 * and eight workers. The watchdog reports each once, with what each worker
 * does, and reports nothing for programs that do not stand still. */
#include "testing/in_turn.h"
#include "testing/proc_self.h"
#include "heard.h"

#include <errno.h>

enum { MOST = 8 };

static const uint32_t counts[] = { 1, 2, 4, MOST };
enum { COUNTS = sizeof(counts) / sizeof(counts[0]) };

struct stage {
	sennit_scheduler *s;
	struct heard     *heard;
	uint32_t          workers;
	atomic_uint       inside; /* number of tasks that are stuck now */
	atomic_bool       go;
	int               pipe[2];
	sennit_wait_group done;
	sennit_event      event;
	sennit_mutex      mutex, second;
	sennit_event      first_held, second_held;
};

static void open_stage_with(struct stage *c, const sennit_config *config,
			    uint32_t tasks)
{
	memset(c, 0, sizeof(*c));
	c->s = start_with(config);
	c->workers = config->workers;
	c->heard = open_heard();
	assert_int_equal(pipe(c->pipe), 0);
	sennit_wait_group_init(&c->done, tasks);
	sennit_event_init(&c->event, SENNIT_EVENT_MANUAL);
	sennit_event_init(&c->first_held, SENNIT_EVENT_MANUAL);
	sennit_event_init(&c->second_held, SENNIT_EVENT_MANUAL);
}

static void open_stage(struct stage *c, uint32_t workers, uint32_t tasks)
{
	open_stage_with(c, SENNIT_CONFIG(.workers = workers), tasks);
}

/* Let all tasks continue and end. */
static void close_stage(struct stage *c)
{
	atomic_store(&c->go, true);
	close(c->pipe[1]);
	sennit_event_set(&c->event);
	sennit_wait_group_wait(&c->done);
	end_scheduler(c->s);
	close(c->pipe[0]);
	close_heard(c->heard);
}

static void put(struct stage *c, sennit_task_fn *run)
{
	const sennit_task task = { .run = run, .argument = c };

	assert_int_equal(sennit_schedule_task_on(c->s, &task), 0);
}

static void await_inside(struct stage *c, unsigned tasks)
{
	sennit_time spent = 0, begin;

	do
		begin = sennit_now();
	while (atomic_load(&c->inside) < tasks && count_pause(&spent, begin));
	assert_true(atomic_load(&c->inside) >= tasks);
}

static void spin(void *argument)
{
	struct stage *c = argument;

	atomic_fetch_add(&c->inside, 1);
	while (!atomic_load(&c->go))
		continue;
	sennit_wait_group_done(&c->done);
}

/* Blocks its thread, which a fiber should not do. */
static void read_pipe(void *argument)
{
	struct stage *c = argument;
	char          byte;

	atomic_fetch_add(&c->inside, 1);
	while (read(c->pipe[0], &byte, 1) < 0)
		EXPECT(errno == EINTR);
	sennit_wait_group_done(&c->done);
}

static void wait_for_event(void *argument)
{
	struct stage *c = argument;

	atomic_fetch_add(&c->inside, 1);
	EXPECT(!sennit_event_wait(&c->event));
	sennit_wait_group_done(&c->done);
}

static void sleep_long(void *argument)
{
	struct stage *c = argument;

	atomic_fetch_add(&c->inside, 1);
	EXPECT(!sennit_event_wait_until(&c->event, sennit_after(GIVE_UP * 10)));
	sennit_wait_group_done(&c->done);
}

static unsigned times_heard(struct heard *h, const char *words)
{
	unsigned n = 0;

	pthread_mutex_lock(&h->lock);
	for (const char *at = h->text; (at = strstr(at, words)); at++)
		n++;
	pthread_mutex_unlock(&h->lock);
	return n;
}

/* --- standstills ---------------------------------------------------------- */

static const sennit_watchdog_options standstill = { .size = sizeof(standstill),
						    .standstill_ms = 40 };

/* One task of each worker is stuck: `odd` on odd workers, `even` on the others.
 * Returns whether as many as `reads` were seen in read(2). On a busy machine a
 * thread may get no CPU to call it. */
static bool stand_still(uint32_t workers, sennit_task_fn *even,
			sennit_task_fn *odd, unsigned reads)
{
	struct stage     c;
	sennit_watchdog *w;
	char             words[64];
	bool             right;

	open_stage(&c, workers, workers + 1);
	for (uint32_t i = 0; i < workers; i++)
		put(&c, i % 2 ? odd : even);
	await_inside(&c, workers);
	put(&c, wait_for_event); /* no worker is free for it */
	w = watch(c.s, standstill, c.heard);
	snprintf(words, sizeof(words), "standstill: each of the %u workers ",
		 workers);
	await_words(c.heard, words);
	usleep(200000); /* five times the limit: no second finding comes */
	sennit_watchdog_stop(w);
	assert_int_equal(c.heard->lines, 1);
	assert_int_equal(times_heard(c.heard, "\n  worker "), workers);
	assert_int_equal(times_heard(c.heard, ", fiber "), workers);
	assert_int_equal(times_heard(c.heard, " % of a CPU"), workers);
	right = times_heard(c.heard, "is in system call read, ") == reads &&
		times_heard(c.heard, " runs, with ") == workers - reads;
	close_stage(&c);
	return right;
}

static void must_stand_still(uint32_t workers, sennit_task_fn *even,
			     sennit_task_fn *odd, unsigned reads)
{
	int tries = 20;

	while (!stand_still(workers, even, odd, reads))
		assert_true(--tries);
}

TEST(all_workers_that_spin_are_a_standstill)
{
	for (int i = 0; i < COUNTS; i++)
		must_stand_still(counts[i], spin, spin, 0);
}

/* The kernel reports the system call numbers of its own processor, not of the
 * emulated one. */
static void skip_if_emulated(void)
{
	if (under_emulator())
		skip();
}

TEST(all_workers_in_system_calls_are_a_standstill)
{
	skip_if_emulated();
	for (int i = 0; i < COUNTS; i++)
		must_stand_still(counts[i], read_pipe, read_pipe, counts[i]);
}

TEST(workers_that_spin_and_workers_that_block_are_a_standstill)
{
	skip_if_emulated();
	for (int i = 1; i < COUNTS; i++)
		must_stand_still(counts[i], read_pipe, spin, counts[i] / 2);
}

/* --- blocking calls that are stuck ---------------------------------------- */

static void *hold_thread(void *argument)
{
	struct stage *c = argument;

	EXPECT(!sennit_event_wait(&c->event));
	return NULL;
}

static void call_hold(void *argument)
{
	struct stage *c = argument;

	atomic_fetch_add(&c->inside, 1);
	sennit_blocking_call(hold_thread, c);
	sennit_wait_group_done(&c->done);
}

TEST(blocking_calls_that_find_no_thread_are_a_standstill)
{
	struct stage     c;
	sennit_watchdog *w;

	open_stage_with(
		&c, SENNIT_CONFIG(.workers = 2, .max_blocking_threads = 2), 3);
	for (int i = 0; i < 3; i++)
		put(&c, call_hold);
	await_inside(&c, 3);
	w = watch(c.s, standstill, c.heard);
	await_words(c.heard, "standstill: blocking calls that wait: 1; each of "
			     "the 2 threads is in a call, and none has ended "
			     "for ");
	usleep(200000);
	sennit_watchdog_stop(w);
	assert_int_equal(c.heard->lines, 1);
	close_stage(&c);
}

TEST(blocking_calls_that_have_threads_are_none)
{
	struct stage     c;
	sennit_watchdog *w;

	open_stage_with(
		&c, SENNIT_CONFIG(.workers = 2, .max_blocking_threads = 3), 3);
	for (int i = 0; i < 3; i++)
		put(&c, call_hold);
	await_inside(&c, 3);
	w = watch(c.s, standstill, c.heard);
	usleep(200000);
	sennit_watchdog_stop(w);
	assert_int_equal(c.heard->lines, 0);
	close_stage(&c);
}

/* --- no standstill -------------------------------------------------------- */

/* All limits, and short ones. */
static const sennit_watchdog_wait all_waits = { .size = sizeof(all_waits),
						.kinds = UINT32_MAX,
						.ms = 20 };
static const sennit_watchdog_wait default_waits = {
	.size = sizeof(default_waits), .ms = 20
};

static void expect_silence(struct stage *c, sennit_watchdog_options o)
{
	sennit_watchdog *w = watch(c->s, o, c->heard);

	usleep(300000);
	sennit_watchdog_stop(w);
	if (c->heard->lines)
		fprintf(stderr, "heard: %s\n", c->heard->text);
	assert_int_equal(c->heard->lines, 0);
}

TEST(one_worker_that_is_free_is_no_standstill)
{
	for (int i = 1; i < COUNTS; i++) {
		struct stage c;

		open_stage(&c, counts[i], counts[i]);
		for (uint32_t k = 1; k < counts[i]; k++)
			put(&c, k % 2 ? read_pipe : spin);
		await_inside(&c, counts[i] - 1);
		put(&c, wait_for_event);
		await_inside(&c, counts[i]);
		expect_silence(&c, standstill);
		close_stage(&c);
	}
}

TEST(fibers_that_only_wait_are_no_standstill_and_no_deadlock)
{
	for (int i = 0; i < COUNTS; i++) {
		struct stage c;

		open_stage(&c, counts[i], 40);
		for (int k = 0; k < 20; k++) {
			put(&c, wait_for_event);
			put(&c, sleep_long);
		}
		await_inside(&c, 40);
		expect_silence(&c,
			       (sennit_watchdog_options){
				       .size = sizeof(sennit_watchdog_options),
				       .task_ms = 20,
				       .standstill_ms = 20,
				       .deadlock_ms = 20 });
		close_stage(&c);
	}
}

static void sleep_then_end(void *argument)
{
	struct stage *c = argument;

	atomic_fetch_add(&c->inside, 1);
	while (!atomic_load(&c->go))
		sennit_sleep(300 * SENNIT_MILLISECOND);
	sennit_wait_group_done(&c->done);
}

TEST(sleep_is_no_long_wait_unless_it_is_named)
{
	struct stage     c;
	sennit_watchdog *w;

	open_stage(&c, 2, 2);
	put(&c, sleep_then_end);
	put(&c, sleep_then_end);
	await_inside(&c, 2);
	expect_silence(&c, (sennit_watchdog_options){
				   .size = sizeof(sennit_watchdog_options),
				   .waits = &default_waits,
				   .wait_count = 1 });
	w = watch(c.s,
		  (sennit_watchdog_options){
			  .size = sizeof(sennit_watchdog_options),
			  .waits = &all_waits,
			  .wait_count = 1 },
		  c.heard);
	await_words(c.heard, " ms for the end of its sleep");
	sennit_watchdog_stop(w);
	close_stage(&c);
}

TEST(a_scheduler_without_workers_does_not_stand_still)
{
	struct stage c;

	open_stage(&c, SENNIT_WORKERS_NONE, 0);
	expect_silence(&c, standstill);
	close_stage(&c);
}

/* --- deadlocks ------------------------------------------------------------ */

/* Members whose groups end their waits. */
static int lock_both(struct stage *c, sennit_mutex *mine, sennit_event *held,
		     sennit_event *other, sennit_mutex *wanted)
{
	int err = lock_in_turn(mine, held, other, wanted);

	sennit_wait_group_done(&c->done);
	return err;
}

static int lock_in_order(void *argument)
{
	struct stage *c = argument;

	return lock_both(c, &c->mutex, &c->first_held, &c->second_held,
			 &c->second);
}

static int lock_in_other_order(void *argument)
{
	struct stage *c = argument;

	return lock_both(c, &c->second, &c->second_held, &c->first_held,
			 &c->mutex);
}

/* Run the member until the event is set. */
static void run_member(struct stage *c, sennit_member_fn *member)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	EXPECT(!sennit_group_spawn(&g, member, c));
	EXPECT(!sennit_event_wait(&c->event));
	sennit_group_cancel(&g);
	(void)!sennit_group_wait(&g);
	sennit_wait_group_done(&c->done);
}

static void run_in_order(void *argument)
{
	run_member(argument, lock_in_order);
}

static void run_in_other_order(void *argument)
{
	run_member(argument, lock_in_other_order);
}

/* The second member runs in `other`. */
static void must_be_a_deadlock(struct stage *c, sennit_scheduler *other)
{
	const sennit_task second = { .run = run_in_other_order, .argument = c };
	sennit_watchdog  *w;

	put(c, run_in_order);
	assert_int_equal(sennit_schedule_task_on(other, &second), 0);
	w = watch(c->s,
		  (sennit_watchdog_options){
			  .size = sizeof(sennit_watchdog_options),
			  .deadlock_ms = 40 },
		  c->heard);
	await_words(c->heard, "deadlock of 2 fibers for ");
	usleep(200000);
	sennit_watchdog_stop(w);
	assert_int_equal(c->heard->lines, 1);
	assert_int_equal(times_heard(c->heard, " waits for mutex "), 2);
	assert_int_equal(times_heard(c->heard, ", held by fiber "), 2);
}

TEST(a_deadlock_is_told_once)
{
	for (int i = 0; i < COUNTS; i++) {
		struct stage c;

		open_stage(&c, counts[i], 4);
		must_be_a_deadlock(&c, c.s);
		close_stage(&c);
	}
}

TEST(a_deadlock_through_two_schedulers_is_told_once)
{
	sennit_scheduler *other =
		start_with(SENNIT_CONFIG(.workers = 1, .name = "other"));
	struct stage c;

	open_stage(&c, 2, 4);
	must_be_a_deadlock(&c, other);
	assert_int_equal(times_heard(c.heard, "\n  other worker 0, "), 1);
	close_stage(&c);
	end_scheduler(other);
}

/* --- waits ---------------------------------------------------------------- */

static void hold_and_wait(void *argument)
{
	struct stage *c = argument;

	sennit_task_set_name("holder");
	sennit_mutex_lock(&c->mutex);
	sennit_event_set(&c->first_held);
	EXPECT(!sennit_event_wait(&c->event));
	sennit_mutex_unlock(&c->mutex);
	sennit_wait_group_done(&c->done);
}

static void want_mutex(void *argument)
{
	struct stage *c = argument;

	sennit_task_set_name("wants it");
	EXPECT(!sennit_event_wait(&c->first_held));
	sennit_mutex_lock(&c->mutex);
	sennit_mutex_unlock(&c->mutex);
	sennit_wait_group_done(&c->done);
}

static void open_with_waiters(struct stage *c, uint32_t workers)
{
	open_stage(c, workers, 6);
	put(c, hold_and_wait);
	for (int i = 0; i < 5; i++)
		put(c, want_mutex);
}

TEST(waits_for_a_lock_are_told_with_its_holder)
{
	static const sennit_watchdog_wait locks = {
		.size = sizeof(locks), .kinds = SENNIT_WATCHDOG_LOCKS, .ms = 40
	};

	for (int i = 0; i < COUNTS; i++) {
		struct stage     c;
		sennit_watchdog *w;

		open_with_waiters(&c, counts[i]);
		w = watch(c.s,
			  (sennit_watchdog_options){
				  .size = sizeof(sennit_watchdog_options),
				  .waits = &locks,
				  .wait_count = 1 },
			  c.heard);
		await_words(c.heard, "\n  it waits for worker ");
		usleep(200000);
		sennit_watchdog_stop(w);
		assert_int_equal(c.heard->lines, 1);
		assert_true(was_heard(c.heard, ": wants it ("));
		assert_true(was_heard(c.heard, " ms for mutex 0x"));
		assert_true(was_heard(c.heard, ": holder ("));
		assert_true(was_heard(c.heard, ", which waits for event 0x"));
		close_stage(&c);
	}
}

TEST(a_limit_by_name_is_for_that_task)
{
	static const sennit_watchdog_wait waits[] = {
		{ .size = sizeof(sennit_watchdog_wait),
		  .name = "holder",
		  .ms = 40 },
	};
	struct stage     c;
	sennit_watchdog *w;

	open_with_waiters(&c, 2);
	w = watch(c.s,
		  (sennit_watchdog_options){
			  .size = sizeof(sennit_watchdog_options),
			  .waits = waits,
			  .wait_count = 1 },
		  c.heard);
	await_words(c.heard, ": holder (");
	usleep(200000);
	sennit_watchdog_stop(w);
	assert_int_equal(c.heard->lines, 1);
	assert_true(was_heard(c.heard, " ms for event 0x"));
	close_stage(&c);
}

/* A thread outside the library holds the lock. */
TEST(a_holder_that_is_not_bound_is_said)
{
	static const sennit_watchdog_wait all = { .size = sizeof(all),
						  .ms = 40 };
	struct stage                      c;
	sennit_watchdog                  *w;

	open_stage(&c, 1, 1);
	sennit_mutex_lock(&c.mutex);
	sennit_event_set(&c.first_held);
	put(&c, want_mutex);
	w = watch(c.s,
		  (sennit_watchdog_options){
			  .size = sizeof(sennit_watchdog_options),
			  .waits = &all,
			  .wait_count = 1 },
		  c.heard);
	await_words(c.heard, "\n  it waits for a thread that is not bound");
	sennit_watchdog_stop(w);
	assert_int_equal(c.heard->lines, 1);
	sennit_mutex_unlock(&c.mutex);
	close_stage(&c);
}

/* --- bounds --------------------------------------------------------------- */

TEST(a_finding_is_bounded)
{
	struct stage     c;
	sennit_watchdog *w;

	open_stage(&c, 20, 20);
	for (int i = 0; i < 20; i++)
		put(&c, read_pipe);
	await_inside(&c, 20);
	w = watch(c.s, standstill, c.heard);
	await_words(c.heard, "standstill: each of the 20 workers ");
	sennit_watchdog_stop(w);
	assert_true(strlen(c.heard->text) <= SENNIT_WATCHDOG_TEXT);
	assert_true(times_heard(c.heard, "\n  worker ") <= 16);
	assert_true(was_heard(c.heard, "\n  and 4 more") ||
		    was_heard(c.heard, " ..."));
	close_stage(&c);
}
