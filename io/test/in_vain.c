/* SPDX-License-Identifier: Apache-2.0 */
/* in_vain.c - an operation that fails or times out leaks nothing. Each one is
 * repeated very often, with a deadline of 0, with a deadline that has passed,
 * and on an invalid descriptor, on a bound thread's own stack, in a task and on
 * an unbound thread.
 */
#include "operations.h"
#include "streams.h"

#include "testing/unchanged.h"

USES_BACKEND;

#if defined(SN_ASAN) || defined(SN_TSAN)
enum { TIMES = 900 };
#else
enum { TIMES = 6000 };
#endif

static void repeat(const struct operation *o, int fd, unsigned times)
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < times; i++) {
		const unsigned way = i % 3;

		wrong += way == 2 ? o->call(-1, 0) >= 0
				  : o->call(fd, way) != -ETIMEDOUT;
	}
	if (wrong)
		print_error("%s: %u times another result\n", o->name, wrong);
	EXPECT(!wrong);
}

static void run_all(void *unused)
{
	struct counts before;

	(void)unused;
	for (size_t i = 0; i < OPERATIONS; i++) {
		const struct operation *o = &operations[i];
		int                     fds[2];

		o->open(fds);
		repeat(o, fds[0], 100);
		before = counts_now();
		repeat(o, fds[0], TIMES);
		expect_unchanged(o->name, &before);
		close_both(fds);
	}
}

TEST_IN_WORLDS(an_operation_in_vain_keeps_nothing,
	       WITHOUT(an_operation_in_vain_keeps_nothing, open_count,
		       close_count),
	       IN_WORLD(an_operation_in_vain_keeps_nothing, "_w2", open_count,
			close_count, 2))
{
	sennit_scheduler *s = start_with(
		SENNIT_CONFIG(.workers = w->workers, .allocator = &counting));

	assert_int_equal(sennit_thread_bind(s), 0);
	in_each_place(run_all, NULL);
	sennit_thread_unbind();
	end_scheduler(s);
	assert_int_equal(atomic_load(&tally.live), 0);
}
