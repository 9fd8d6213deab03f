/* SPDX-License-Identifier: Apache-2.0 */
/* idle_memory.c - a fiber that waits for bytes of a connection uses one page of
 * its stack, also when its worker maps further stacks below it, many at a time.
 * Only release builds guarantee it: the frames of others are larger.
 */
#include "operations.h"

#include <sys/mman.h>

enum { FIBERS = 450, BYTES = 1024, FEW = 7, SIZES = 5 };

struct idle {
	int   fds[2];
	char *page; /* the highest page of its stack */
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

/* Each fiber begins when the previous one waits, and the worker is never idle:
 * it would sleep on the stack of the last fiber. A few fibers need more: the
 * one that creates the worker's poller, the last one, on whose stack the worker
 * sleeps, and each one that needs the first stack of a new mapping and so calls
 * the allocator, which may be the program's. Each mapping has twice as many
 * stacks as the one before, which happens five times here. */
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

/* The offset at which a fiber begins in its page depends on the address of the
 * stack, and on whether other data fits below it in that page. Several stack
 * sizes cover many of the offsets. */
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
