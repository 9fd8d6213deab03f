/* SPDX-License-Identifier: Apache-2.0 */
/* group_current.c - a library starts a helper in the name of its caller: a
 * member of the caller's group if there is one, otherwise a plain task. */
#include "calls.h"

#include <stdatomic.h>

static atomic_uint flushed;

static int flush(void *journal)
{
	atomic_fetch_add((atomic_uint *)journal, 1);
	return 0;
}

static void flush_alone(void *journal)
{
	(void)flush(journal);
}

/* The library's call. */
static int flush_later(atomic_uint *journal)
{
	sennit_group *g = sennit_group_current();

	return g ? sennit_group_spawn(g, flush, journal)
		 : sennit_schedule(flush_alone, journal);
}

static int work(void *unused)
{
	(void)unused;
	return flush_later(&flushed);
}

static void show(sennit_scheduler *s)
{
	sennit_group g;

	(void)s;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	CHECK(sennit_group_spawn(&g, work, NULL) == 0);
	CHECK(sennit_group_wait(&g) == 0); /* for the helper, too */
	CHECK(atomic_load(&flushed) == 1);
	CHECK(flush_later(&flushed) == 0);
	while (atomic_load(&flushed) == 1)
		sennit_yield();
}

int main(void)
{
	return run(show);
}
