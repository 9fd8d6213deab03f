/* SPDX-License-Identifier: Apache-2.0 */
/* many_fibers.c - very many fibers blocked at once, with default settings. With
 * cheap guards all stacks are guarded and cost a little more than a page each.
 * Without cheap guards as many are guarded as the process may have mappings
 * for, and no stack fails if the others may have canaries.
 *
 * SENNIT_TEST_FIBERS gives the number of fibers. A million take 4.2 GB and a
 * minute.
 */
#include "testing/with_workers.h"
#include "testing/proc_self.h"

#include "os/os.h"
#include "sched/state.h"

#if defined(SN_TSAN)
enum { USUAL = 2000 };
#elif defined(SN_ASAN)
enum { USUAL = 20000 };
#else
#define USUAL TORTURED(20000, 100000)
#endif

/* Mappings of other things in a process: threads, malloc arenas, slabs. */
enum { OTHER_MAPPINGS = 200 };

/* ThreadSanitizer adds mappings for each fiber. */
static void assert_mappings_below(size_t limit)
{
#ifdef SN_TSAN
#else
	assert_true(mappings_now() < limit + OTHER_MAPPINGS);
#endif
}

static struct {
	uint32_t          count;
	sennit_event      gate;
	sennit_wait_group arriving, leaving;
} crowd;

static uint32_t wanted(void)
{
	const char *text = getenv("SENNIT_TEST_FIBERS");

	return text ? (uint32_t)strtoul(text, NULL, 10) : (uint32_t)USUAL;
}

static void block(void *argument)
{
	volatile unsigned mine = (unsigned)(uintptr_t)argument;

	sennit_wait_group_done(&crowd.arriving);
	EXPECT(!sennit_event_wait(&crowd.gate));
	EXPECT(mine == (unsigned)(uintptr_t)argument);
	sennit_wait_group_done(&crowd.leaving);
}

static void send_all(void *unused)
{
	for (uint32_t i = 0; i < crowd.count; i++)
		must_schedule(block, (void *)(uintptr_t)i);
}

static void block_all(uint32_t count)
{
	crowd.count = count;
	sennit_event_init(&crowd.gate, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&crowd.arriving, count);
	sennit_wait_group_init(&crowd.leaving, count);
	in_a_task(send_all, NULL);
	sennit_wait_group_wait(&crowd.arriving);
}

static void release_all(void)
{
	sennit_event_set(&crowd.gate);
	sennit_wait_group_wait(&crowd.leaving);
}

/* The test takes as long as it needs, so alarm() is off. */
static sennit_scheduler *start_crowd(const struct world *w,
				     enum sennit_guards  guards)
{
	sennit_scheduler *s = start_with(
		SENNIT_CONFIG(.workers = w->workers, .guards = guards));

	alarm(0);
	assert_int_equal(sennit_thread_bind(s), 0);
	return s;
}

static void end_crowd(sennit_scheduler *s)
{
	sennit_thread_unbind();
	end_scheduler(s);
}

TEST_IN_WORLDS(all_are_guarded_where_guards_are_cheap,
	       IN_WORLD(all_are_guarded_where_guards_are_cheap, "_w2",
			open_count, close_count, 2))
{
	const uint32_t    count = wanted();
	unsigned          mappings = mappings_now();
	sennit_scheduler *s;
	sennit_stats      stats;

	if (os_guard_kind() != OS_GUARD_CHEAP) {
		print_message("no cheap guards here\n");
		skip();
	}
	s = start_crowd(w, SENNIT_GUARDS_REQUIRED);
	block_all(count);
	assert_soon(fibers_of(s) >= count); /* the last one may be about to
					     * block */
	stats = stats_of(s);
	assert_true(stats.stacks >= count);
	assert_int_equal(stats.stacks_unguarded, 0);
	/* A slab of a thousand stacks may need one mapping; most are merged. */
	assert_mappings_below(mappings + stats.stacks / 500);
	release_all();
	end_crowd(s);
}

/* Before Linux 6.13 a guarded stack needs two mappings. */
TEST_IN_WORLDS(elsewhere_guards_stay_within_the_limit,
	       IN_WORLD(elsewhere_guards_stay_within_the_limit, "_w2",
			open_count, close_count, 2))
{
	const uint32_t    count = wanted();
	const size_t      guards = os_mapping_limit() / 8;
	unsigned          mappings = mappings_now();
	sennit_scheduler *s = start_crowd(w, SENNIT_GUARDS_OPTIONAL);
	sennit_stats      stats;
	uint64_t          unguarded;

	s->stacks.slabs.guards.kind =
		OS_GUARD_MAPPING; /* before most stacks are
						  * made */
	block_all(count);
	assert_soon(fibers_of(s) >= count); /* the last one may be about to
					     * block */
	stats = stats_of(s);
	if (count > guards + 1024)
		assert_in_range(stats.stacks - stats.stacks_unguarded,
				guards / 2, guards + 1024);
	else
		assert_int_equal(stats.stacks_unguarded, 0);
	assert_mappings_below(mappings + 2 * guards + stats.stacks / 500);
	release_all();
	unguarded = stats_of(s).stacks_unguarded;
	sennit_scheduler_trim(s); /* which keeps the guards */
	assert_soon(!stats_of(s).trims_due);
	assert_int_equal(stats_of(s).stacks_unguarded, unguarded);
	end_crowd(s);
	assert_soon(mappings_now() < mappings + OTHER_MAPPINGS);
}
