/* SPDX-License-Identifier: Apache-2.0 */
/* signal_stack.c - the alternate signal stack of threads that bind. */
#include "testing/with_workers.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>

TEST_WITH_WORKERS(a_bound_threads_signal_stack_stays_its_own)
{
	static char   memory[65536];
	const stack_t mine = { .ss_sp = memory, .ss_size = sizeof(memory) };
	stack_t       before, now;

	sennit_thread_unbind();
	assert_int_equal(sigaltstack(&mine, &before), 0);
	assert_int_equal(sennit_thread_bind(w->s), 0);
	assert_int_equal(sigaltstack(NULL, &now), 0);
	assert_ptr_equal(now.ss_sp, memory);
	sennit_thread_unbind();
	assert_int_equal(sigaltstack(NULL, &now), 0);
	assert_ptr_equal(now.ss_sp, memory);
	assert_int_equal(sigaltstack(&before, NULL), 0);
	assert_int_equal(sennit_thread_bind(w->s), 0);
}

/* One that binds again and again makes no system call for it. */
TEST_WITH_WORKERS(a_thread_keeps_the_signal_stack_that_it_got)
{
	stack_t before, now;

	assert_int_equal(sigaltstack(NULL, &before), 0);
	assert_false(before.ss_flags & SS_DISABLE);
	for (int i = 0; i < 2; i++) {
		sennit_thread_unbind();
		assert_int_equal(sigaltstack(NULL, &now), 0);
		assert_ptr_equal(now.ss_sp, before.ss_sp);
		assert_int_equal(sennit_thread_bind(w->s), 0);
		assert_int_equal(sigaltstack(NULL, &now), 0);
		assert_ptr_equal(now.ss_sp, before.ss_sp);
	}
}

/* Returns the signal stack that it has. */
static void *bind_once(void *world)
{
	stack_t now = { .ss_sp = NULL };

	if (!sennit_thread_bind(((struct world *)world)->s))
		sennit_thread_unbind();
	sigaltstack(NULL, &now);
	return now.ss_sp;
}

/* Without workers, whose stacks could be mapped there. */
TEST_IN_WORLDS(a_thread_gives_it_back_when_it_ends,
	       IN_WORLD(a_thread_gives_it_back_when_it_ends, "_w0", open_world,
			close_world, 0))
{
	void         *page;
	unsigned char is_there;

	pthread_join(must_start_thread(bind_once, w), &page);
	assert_non_null(page);
	assert_int_equal(mincore(page, 1, &is_there), -1);
	assert_int_equal(errno, ENOMEM);
}
