/* SPDX-License-Identifier: Apache-2.0 */
/* trace_write_vs_record.c - a thread starts, stops and writes the recording
 * again and again while workers, bound threads and others record. Each file has
 * the right form, whole events only, and no wait is resumed before its wake.
 */
#include "testing/trace_file.h"
#include "testing/random.h"

#include "sennit.h"
#include "sennit/trace.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include "testing/test.h"

enum { WORKERS = 3, TASKS = 64, BACKLOG = 256 };

static sennit_scheduler *s;
static atomic_bool       over;
static sennit_mutex      mutex;
static const char        name[] = "check";

/* A value whose halves belong together. */
static int64_t whole(uint32_t n)
{
	return (int64_t)((uint64_t)n << 32 | (n ^ 0x5aa5c33cu));
}

static bool is_whole(uint64_t v)
{
	return (uint32_t)(v >> 32) == ((uint32_t)v ^ 0x5aa5c33cu);
}

static void touch(void *number)
{
	sennit_mutex_lock(&mutex);
	sennit_trace_begin(name);
	sennit_trace_value(name, whole((uint32_t)(uintptr_t)number));
	sennit_yield();
	sennit_trace_end();
	sennit_mutex_unlock(&mutex);
}

static int member(void *number)
{
	touch(number);
	return 0;
}

static void round_of_work(void)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (uintptr_t i = 0; i < TASKS; i++)
		if (sennit_group_spawn(&g, member, (void *)i))
			abort();
	if (sennit_group_wait(&g))
		abort();
}

/* Binds again and again, so that rings pass from thread to thread. */
static void *bind_and_work(void *unused)
{
	while (!atomic_load(&over)) {
		if (sennit_thread_bind(s))
			abort();
		round_of_work();
		sennit_thread_unbind();
	}
	return unused;
}

static atomic_uint backlog; /* tasks from outside that have not ended */

static void touch_and_leave(void *number)
{
	touch(number);
	atomic_fetch_sub(&backlog, 1);
}

/* A file has an event for each fiber, so a backlog without a bound would take
 * the writer ever longer. */
static void *enqueue(void *unused)
{
	while (!atomic_load(&over)) {
		const sennit_task task = { .run = touch_and_leave };

		if (atomic_load(&backlog) < BACKLOG) {
			atomic_fetch_add(&backlog, 1);
			if (sennit_schedule_task_on(s, &task))
				abort();
		}
		sched_yield();
	}
	return unused;
}

/* Within one ring: a wait, its wake, its resumption. */
static unsigned check_order(const struct trace_file *f, const struct seen *from)
{
	const struct seen *wait = NULL;
	unsigned           wrong = 0;

	for (const struct seen *x = f->events; x < from; x++)
		if (x->ring == from->ring && x->e.b == from->e.b &&
		    x->e.kind == SENNIT_TRACED_WAIT)
			wait = x;
	wrong += wait && wait->e.fiber != from->e.fiber;
	return wrong;
}

static unsigned check(int fd)
{
	struct trace_file f;
	unsigned          wrong = 0;

	trace_file_read(&f, fd);
	if (f.wrong)
		fprintf(stderr, "the file is wrong: %s\n", f.wrong);
	wrong += f.wrong != NULL;
	for (size_t i = 0; i < f.count; i++) {
		const struct sennit_trace_event *e = &f.events[i].e;

		wrong += e->kind > SENNIT_TRACED_STATE;
		if (e->kind == SENNIT_TRACED_VALUE)
			wrong += !is_whole(e->b) || e->a != (uintptr_t)name;
		if (e->kind == SENNIT_TRACED_RESUME && i % 16 == 0)
			wrong += check_order(&f, &f.events[i]);
	}
	trace_file_free(&f);
	return wrong;
}

static unsigned write_once(void)
{
	FILE    *file = tmpfile();
	unsigned wrong;

	if (!file || sennit_trace_write(s, fileno(file)))
		abort();
	wrong = check(fileno(file));
	fclose(file);
	return wrong;
}

TEST(files_are_right_while_others_record)
{
	const sennit_trace_options small = { .size = sizeof(small),
					     .events = 256 };
	uint64_t                   random = random_stream(0);
	pthread_t                  threads[3];
	unsigned                   wrong = 0;

	assert_int_equal(
		sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = WORKERS)),
		0);
	assert_int_equal(sennit_trace_start(s, &small), 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL,
						i ? bind_and_work : enqueue,
						NULL),
				 0);
	for (uint64_t i = scaled(200); i; i--) {
		if (random_below(&random, 3) == 0)
			sennit_trace_stop(s);
		if (random_below(&random, 2) == 0)
			assert_int_equal(sennit_trace_start(s, &small), 0);
		wrong += write_once();
	}
	atomic_store(&over, true);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	wrong += write_once();
	assert_int_equal(sennit_scheduler_shutdown(s, SENNIT_NEVER), 0);
	assert_int_equal(wrong, 0);
}
