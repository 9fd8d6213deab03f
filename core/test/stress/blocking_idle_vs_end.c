/* SPDX-License-Identifier: Apache-2.0 */
/* blocking_idle_vs_end.c - blocking threads whose idle time ends while they are
 * given calls, and while their scheduler ends and anyone may release the last
 * reference. Each must end once, and leave nothing behind. */
#include "testing/with_workers.h"
#include "testing/random.h"

enum { TASKS = 8 };

struct life {
	sennit_wait_group done;
	atomic_uint       ended;
	uint64_t          random[TASKS];
	atomic_uint       next;
	sennit_scheduler *s;
};

static void *nap(void *argument)
{
	const uint32_t *us = argument;

	usleep(*us);
	return argument;
}

/* Sometimes for 1 ms, as long as a thread stays idle. */
static void call_and_sleep(void *argument)
{
	struct life *l = argument;
	uint64_t    *random = &l->random[atomic_fetch_add(&l->next, 1)];
	uint32_t     us;

	for (unsigned i = 1 + random_below(random, 4); i > 0; i--) {
		us = random_below(random, 2) ? 0 : random_below(random, 300);
		EXPECT(sennit_blocking_call(nap, &us) == &us);
		if (!random_below(random, 2))
			sennit_sleep(900 * SENNIT_MICROSECOND +
				     random_below(random, 200000));
	}
	sennit_wait_group_done(&l->done);
}

static void note_end(void *context)
{
	struct life *l = context;

	atomic_fetch_add(&l->ended, 1);
}

static void live_bound(struct life *l, uint64_t *random)
{
	EXPECT(sennit_thread_bind(l->s) == 0);
	for (unsigned i = 0; i < TASKS; i++)
		must_schedule(call_and_sleep, l);
	if (random_below(random, 2))
		sennit_wait_group_wait(&l->done);
	sennit_thread_unbind();
}

static void live_once(const struct world *w, struct life *l, uint64_t *random)
{
	memset(l, 0, sizeof(*l));
	for (unsigned i = 0; i < TASKS; i++)
		l->random[i] = random_from(random);
	sennit_wait_group_init(&l->done, TASKS);
	l->s = start_with(
		SENNIT_CONFIG(.workers = w->workers, .max_blocking_threads = 4,
			      .blocking_idle_ms = 1, .on_shutdown = note_end,
			      .on_shutdown_context = l));
	live_bound(l, random);
	if (random_below(random, 2))
		usleep(900 + random_below(random, 200));
	if (random_below(random, 2)) {
		end_scheduler(l->s);
	} else {
		sennit_scheduler_release(l->s);
		assert_soon(atomic_load(&l->ended));
	}
	assert_int_equal(atomic_load(&l->ended), 1);
}

TEST_WITH_COUNTS(each_life_ends_once)
{
	static struct life l; /* static, because late tasks read it */
	uint64_t           random = random_stream(77);
	uint64_t           i;

	for (i = scaled(LOAD(600) / 8); i > 0 && !atomic_load(&broken_claims);
	     i--)
		live_once(w, &l, &random);
}
