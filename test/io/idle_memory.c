/* SPDX-License-Identifier: Apache-2.0 */
/* idle_memory.c - a fiber that waits for a connection's bytes takes one page
 * for its stack, also when its worker makes further stacks below it, which is
 * done for many at a time. Only release builds promise it: the frames of others
 * are larger.
 */
#include "operations.h"

#include <sys/mman.h>

enum { FIBERS = 450, BYTES = 1024, FEW = 7, SIZES = 5 };

struct idle {
	int   fds[2];
	char *page; /* of its stack, the highest */
};

static struct idle fibers[FIBERS];

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static void wait_for_bytes(void *argument)
{
	struct idle *x = argument;
	char         bytes[BYTES];
	uintptr_t    here = (uintptr_t)__builtin_frame_address(0);

	x->page = (char *)(here - here % page_size());
	EXPECT(sennit_recv(x->fds[0], bytes, BYTES, 0, SENNIT_NEVER) == 0);
}

static bool is_resident(char *page)
{
	unsigned char there;

	must(!mincore(page, page_size(), &there), "mincore");
	return there & 1;
}

static void begin_all(void *unused)
{
	(void)unused;
	for (int i = 0; i < FIBERS; i++)
		must_schedule_here(wait_for_bytes, &fibers[i]);
}

/* Each begins when the one before waits, and never is there nothing to do: the
 * worker would sleep on the stack of the last one. A few take more: one makes
 * the worker's poller, on the last one the worker sleeps, and each that needs
 * the first of a new mapping of stacks asks the allocator, which may be the
 * program's; each mapping holds twice as many as the one before, here five
 * times. */
static void expect_one_page_each(sennit_scheduler *s)
{
	unsigned more = 0;

	must_schedule(begin_all, NULL);
	assert_soon(io_waits(s) == FIBERS);
	for (int i = 0; i < FIBERS; i++)
		more += is_resident(fibers[i].page - page_size());
	if (more)
		fprintf(stderr, "%u of %d take a second page\n", more, FIBERS);
	assert_true(more <= FEW);
}

/* Where on its page a fiber begins depends on where the stack lies, and whether
 * something still fits below it on where it begins: several sizes, so that many
 * of the places occur. */
TEST_WITH_ONE(a_fiber_that_waits_takes_one_page)
{
	for (size_t size = 0; size < SIZES; size++) {
		sennit_scheduler *s = move_to(
			SENNIT_CONFIG(.workers = 1,
				      .stack_size = 64 * 1024 +
						    size * page_size()));

		for (int i = 0; i < FIBERS; i++)
			open_sockets(fibers[i].fds);
		expect_one_page_each(s);
		for (int i = 0; i < FIBERS; i++)
			close(fibers[i].fds[1]);
		assert_soon(io_waits(s) == 0);
		for (int i = 0; i < FIBERS; i++)
			close(fibers[i].fds[0]);
		move_back(w, s);
	}
}

static int skip_elsewhere(void)
{
#if !defined(NDEBUG) || !defined(__x86_64__)
	printf("skipped: not a release build for x86-64\n");
	return 77;
#endif
	return 0;
}

BEFORE_ALL(skip_elsewhere);
USES_BACKEND;
