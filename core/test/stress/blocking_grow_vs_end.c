/* SPDX-License-Identifier: Apache-2.0 */
/* blocking_grow_vs_end.c - threads for blocking calls are added, because calls
 * wait for each other, while these calls end and anyone may release the last
 * reference to their scheduler. Each call runs once, each scheduler ends once.
 */
#include "testing/told_limit.h"
#include "testing/with_workers.h"
#include "testing/random.h"

/* Of so many threads, QUICK start at once; and then what is added. */
enum { ALLOWED = 32, QUICK = 8, MOST = 16 };

struct life {
	sennit_event      met;
	unsigned          must; /* so many calls must be there at once */
	atomic_uint       here, made, ended;
	sennit_scheduler *s;
};

static void *meet(void *argument)
{
	struct life *l = argument;

	if (atomic_fetch_add(&l->here, 1) + 1 == l->must)
		sennit_event_set(&l->met);
	EXPECT(!sennit_event_wait(&l->met));
	atomic_fetch_add(&l->made, 1);
	return l;
}

static void call_meet(void *argument)
{
	EXPECT(sennit_blocking_call(meet, argument) == argument);
}

static void note_end(void *context)
{
	struct life *l = context;

	atomic_fetch_add(&l->ended, 1);
}

static void end_by_any(struct life *l, bool waits)
{
	if (waits) {
		end_scheduler(l->s);
	} else {
		sennit_scheduler_release(l->s);
		assert_soon(atomic_load(&l->ended));
	}
	assert_int_equal(atomic_load(&l->ended), 1);
}

/* The calls are as many as may have threads, or some more or less. */
static void live_once(const struct world *w, struct life *l, uint64_t *random)
{
	const unsigned calls = QUICK + random_below(random, MOST);
	const unsigned most = calls < MOST ? calls : MOST;

	memset(l, 0, sizeof(*l));
	sennit_event_init(&l->met, SENNIT_EVENT_MANUAL);
	l->must = QUICK + random_below(random, most - QUICK + 1);
	l->s = start_with(SENNIT_CONFIG(.workers = w->workers,
					.blocking_idle_ms = 1,
					.on_shutdown = note_end,
					.on_shutdown_context = l));
	EXPECT(sennit_thread_bind(l->s) == 0);
	for (unsigned i = 0; i < calls; i++)
		must_schedule(call_meet, l);
	if (random_below(random, 2))
		usleep(random_below(random, 12000));
	sennit_thread_unbind();
	end_by_any(l, random_below(random, 2));
	assert_int_equal(atomic_load(&l->made), calls);
}

TEST_WITH_COUNTS(each_life_ends_once)
{
	static struct life l; /* static, because late threads read it */
	uint64_t           random = random_stream(78);

	atomic_store(&most_threads, ALLOWED);
	for (uint64_t i = scaled(LOAD(400) / 8);
	     i > 0 && !atomic_load(&broken_claims); i--)
		live_once(w, &l, &random);
}
