/* SPDX-License-Identifier: Apache-2.0 */
/* threads.c - a thread of the program whose stack was suspended ends, is joined
 * with its value, and leaves the worker of JavaScript in order for the next
 * one. */
#include "testing/test.h"

#include "sennit.h"

#include <pthread.h>

static void nap(void *unused)
{
	(void)unused;
	sennit_sleep(SENNIT_MICROSECOND);
}

struct visit {
	sennit_scheduler *s;
	bool              waits;
};

static void *visit(void *argument)
{
	const struct visit *v = argument;

	if (!v->waits)
		return (void *)v;
	if (sennit_thread_bind(v->s))
		return NULL;
	(void)sennit_schedule(nap, NULL);
	sennit_sleep(SENNIT_MILLISECOND); /* while nap() runs, and sleeps */
	sennit_thread_unbind();
	return (void *)v;
}

/* One after the other: emscripten uses the same worker again. */
TEST(threads_that_waited_end)
{
	struct visit v;
	pthread_t    thread;
	void        *value;

	assert_int_equal(
		sennit_scheduler_create(
			&v.s, SENNIT_CONFIG(.workers = SENNIT_WORKERS_NONE)),
		0);
	for (int i = 0; i < 20; i++) {
		v.waits = i % 3;
		assert_int_equal(pthread_create(&thread, NULL, visit, &v), 0);
		assert_int_equal(pthread_join(thread, &value), 0);
		assert_ptr_equal(value, &v);
	}
	assert_int_equal(sennit_scheduler_shutdown(v.s, SENNIT_NEVER), 0);
}
