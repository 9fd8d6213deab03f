/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog.c - each condition causes its line. Tests wait until it arrives. */
#include "sennit/watchdog.h"
#include "marks.h"

#include "heard.h"
#include "testing/words.h"

#include <errno.h>

/* TSan delays signals, so no running thread is sampled. */
#if defined(SN_TSAN)
#define MAY_SAMPLE false
#else
#define MAY_SAMPLE true
#endif

/* A limit for blocking calls. */
#define CALLS(limit)                                                           \
	.waits =                                                               \
		&(sennit_watchdog_wait){ .size = sizeof(sennit_watchdog_wait), \
					 .kinds = SENNIT_WATCHDOG_KIND(        \
						 SENNIT_WAITS_FOR_CALL),       \
					 .ms = (limit) },                      \
	.wait_count = 1

/* Report whether the line has a backtrace after `words` and a colon:
 * `file+0x1`, `function+0x1` or, in a static program, `0x1`. Without libdw it
 * is one frame. */
static bool has_trace(struct heard *h, const char *words)
{
	const char *at;

	pthread_mutex_lock(&h->lock);
	at = strstr(h->text, words);
	at = at ? strstr(at, ": ") : NULL;
	at = at ? strstr(at, "0x") : NULL;
	at = at && HAS_FRAMES ? strstr(at, " < ") : at;
	pthread_mutex_unlock(&h->lock);
	return at;
}

/* --- a scheduler of one worker ------------------------------------------ */

struct scene {
	sennit_scheduler *s;
	struct heard     *heard;
	atomic_bool       go;
	atomic_bool       running;
	sennit_event      event;
	sennit_wait_group done;
};

static void open_scene(struct scene *c, int tasks)
{
	memset(c, 0, sizeof(*c));
	c->s = start_with(SENNIT_CONFIG(.workers = 1, .max_workers = 1));
	c->heard = open_heard();
	sennit_event_init(&c->event, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&c->done, (uint32_t)tasks);
}

static void close_scene(struct scene *c)
{
	end_scheduler(c->s);
	close_heard(c->heard);
}

static void put(struct scene *c, sennit_task_fn *run)
{
	const sennit_task task = { .run = run, .argument = c };

	assert_int_equal(sennit_schedule_task_on(c->s, &task), 0);
}

static void keep_worker(void *argument)
{
	struct scene *c = argument;

	sennit_task_set_name("keeper\n");
	atomic_store(&c->running, true);
	while (!atomic_load(&c->go))
		sched_yield();
	sennit_wait_group_done(&c->done);
}

static void come_later(void *argument)
{
	struct scene *c = argument;

	sennit_wait_group_done(&c->done);
}

static void end_with_one_line(struct scene *c, sennit_watchdog *w)
{
	atomic_store(&c->go, true);
	sennit_wait_group_wait(&c->done);
	sennit_watchdog_stop(w);
	assert_int_equal(c->heard->lines, 1);
	close_scene(c);
}

/* On a busy machine a thread may not get the CPU in time to answer. Then the
 * line has no backtrace, so try again. */
static void until_traced(bool (*name)(void))
{
	int tries = 20;

	while (!name())
		assert_true(--tries);
}

static bool name_a_task_that_keeps_others_waiting(void)
{
	struct scene     c;
	sennit_watchdog *w;
	bool             traced;

	open_scene(&c, 2);
	w = watch(c.s,
		  (sennit_watchdog_options){
			  .size = sizeof(sennit_watchdog_options),
			  .task_ms = 20 },
		  c.heard);
	put(&c, keep_worker);
	put(&c, come_later);
	await_words(c.heard, "ms while others are ready");
	assert_true(was_heard(c.heard, ": keeper\\n ("));
	assert_true(was_heard(c.heard, "sennit watchdog: worker 0, thread "));
	traced = has_trace(c.heard, "others are ready") || !MAY_SAMPLE;
	end_with_one_line(&c, w);
	return traced;
}

TEST(a_task_that_keeps_others_waiting_is_named)
{
	until_traced(name_a_task_that_keeps_others_waiting);
}

static void wait_for_event(void *argument)
{
	struct scene *c = argument;

	sennit_task_set_name("waiter");
	EXPECT(!sennit_event_wait(&c->event));
	sennit_wait_group_done(&c->done);
}

static void keep_woken_waiting(void *argument)
{
	struct scene *c = argument;

	sennit_event_set(&c->event);
	keep_worker(c);
}

TEST(a_ready_fiber_without_a_turn_is_named)
{
	struct scene     c;
	sennit_watchdog *w;

	open_scene(&c, 2);
	w = watch(c.s,
		  (sennit_watchdog_options){
			  .size = sizeof(sennit_watchdog_options),
			  .ready_ms = 20 },
		  c.heard);
	put(&c, wait_for_event);
	put(&c, keep_woken_waiting);
	await_words(c.heard, ": waiter (");
	assert_true(was_heard(c.heard, " is ready for "));
	assert_true(has_trace(c.heard, " is ready for "));
	end_with_one_line(&c, w);
}

static void *block(void *argument)
{
	struct scene *c = argument;

	while (!atomic_load(&c->go))
		sched_yield();
	return NULL;
}

static void call(void *argument)
{
	struct scene *c = argument;

	sennit_task_set_name("caller");
	(void)sennit_blocking_call(block, c);
	sennit_wait_group_done(&c->done);
}

static bool name_a_long_blocking_call(void)
{
	struct scene     c;
	sennit_watchdog *w;
	bool             traced;

	open_scene(&c, 1);
	w = watch(c.s,
		  (sennit_watchdog_options){
			  .size = sizeof(sennit_watchdog_options), CALLS(20) },
		  c.heard);
	put(&c, call);
	await_words(c.heard, ": caller (");
	assert_true(was_heard(c.heard, " ms for a blocking call of "));
	/* The worker has nothing else to do, so it sleeps on the stack. */
	traced = has_trace(c.heard, "a blocking call of ") || !MAY_SAMPLE;
	end_with_one_line(&c, w);
	return traced;
}

TEST(a_long_blocking_call_is_named)
{
	until_traced(name_a_long_blocking_call);
}

/* --- the output, and no output ------------------------------------------ */

TEST(a_line_goes_to_the_descriptor)
{
	struct scene     c;
	sennit_watchdog *w = NULL;
	char             text[4096];
	int              out, in = open_pipe(&out);

	open_scene(&c, 1);
	assert_int_equal(
		sennit_watchdog_start(
			&w, c.s,
			&(sennit_watchdog_options){
				.size = sizeof(sennit_watchdog_options),
				CALLS(20),
				.fd = in }),
		0);
	put(&c, call);
	/* blocks until the line is there */
	assert_int_equal(read(out, text, 1), 1);
	atomic_store(&c.go, true);
	sennit_wait_group_wait(&c.done);
	sennit_watchdog_stop(w);
	close(in);
	read_words(out, text, sizeof(text));
	assert_non_null(strstr(text, "ennit watchdog: "));
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	close_scene(&c);
}

TEST(without_a_limit_nothing_is_started)
{
	sennit_watchdog *w = NULL;
	struct scene     c;

	open_scene(&c, 1);
	assert_int_equal(
		sennit_watchdog_start(
			&w, c.s,
			&(sennit_watchdog_options){
				.size = sizeof(sennit_watchdog_options) }),
		-EINVAL);
	assert_null(w);
	close_scene(&c);
}

TEST(watchdog_keeps_its_scheduler)
{
	struct scene     c;
	sennit_watchdog *w;

	open_scene(&c, 1);
	w = watch(
		c.s,
		(sennit_watchdog_options){
			.size = sizeof(sennit_watchdog_options), .task_ms = 1 },
		c.heard);
	assert_int_equal(sennit_scheduler_shutdown(c.s, 0), -ETIMEDOUT);
	sennit_watchdog_stop(w);
	close_scene(&c);
}

/* Nothing lasts: many short tasks, waits and calls. The limits are longer than
 * the whole test. */
static void short_wait(void *argument)
{
	struct scene *c = argument;

	for (int i = 0; i < 50; i++)
		sennit_yield();
	sennit_wait_group_done(&c->done);
}

TEST(traffic_below_the_limits_causes_no_line)
{
	struct scene     c;
	sennit_watchdog *w;

	open_scene(&c, 200);
	w = watch(c.s,
		  (sennit_watchdog_options){
			  .size = sizeof(sennit_watchdog_options),
			  .task_ms = 1000000,
			  .ready_ms = 1000000,
			  CALLS(4) },
		  c.heard);
	for (int i = 0; i < 200; i++)
		put(&c, short_wait);
	sennit_wait_group_wait(&c.done);
	sennit_watchdog_stop(w);
	assert_int_equal(c.heard->lines, 0);
	close_scene(&c);
}
