/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_vs_load.c - stacks are visited while fibers run, wait and end on all
 * workers. A backtrace is never that of another moment or another fiber. */
#include "testing/with_workers.h"
#include "marks.h"

#include "sennit/stacks.h"

MARK(marks_play)

#define PAIRS  24u
#define VISITS (LOAD(401u) / 10)

static atomic_bool over;
static atomic_uint begun;

struct pair {
	sennit_event      there, back;
	bool              slow; /* waits long enough to be seen each time */
	sennit_wait_group done;
};

static struct pair pairs[PAIRS];

/* Each wait is at the player's own depth, so the number of these frames is
 * known for each stack of a suspended player. */
MARKED(marks_play)
static void play_at(unsigned depth, bool slow, sennit_event *wait,
		    sennit_event *set)
{
	if (depth) {
		play_at(depth - 1, slow, wait, set);
	} else {
		EXPECT(!sennit_event_wait(wait));
		if (slow)
			sennit_sleep(SENNIT_MILLISECOND);
		sennit_event_set(set);
	}
	NOT_LAST();
}

/* Between its waits the stack is used to another depth, with other frames. */
__attribute__((noinline)) static unsigned waste(unsigned depth)
{
	volatile char frame[200];

	for (size_t i = 0; i < sizeof(frame); i++)
		frame[i] = (char)depth;
	return depth ? waste(depth - 1) + (unsigned)frame[0] : 0;
}

static void play(struct pair *p, unsigned depth, sennit_event *wait,
		 sennit_event *set)
{
	atomic_fetch_add(&begun, 1);
	while (!atomic_load(&over)) {
		play_at(depth, p->slow, wait, set);
		waste(depth + 2);
	}
	sennit_event_set(set);
	sennit_wait_group_done(&p->done);
}

/* The depth is known from the task's function. */
#define PLAYERS(depth_)                               \
	static void there_##depth_(void *pair)        \
	{                                             \
		struct pair *p = pair;                \
                                                      \
		play(p, depth_, &p->there, &p->back); \
	}                                             \
	static void back_##depth_(void *pair)         \
	{                                             \
		struct pair *p = pair;                \
                                                      \
		play(p, depth_, &p->back, &p->there); \
	}

PLAYERS(0)
PLAYERS(1)
PLAYERS(2)
PLAYERS(5)

static const struct {
	sennit_task_fn *there, *back;
	unsigned        depth;
} players[] = {
	{ there_0, back_0, 0 },
	{ there_1, back_1, 1 },
	{ there_2, back_2, 2 },
	{ there_5, back_5, 5 },
};

struct seen {
	unsigned suspended;
	unsigned wrong;
};

static void look(void *context, const sennit_stack *s)
{
	struct seen *seen = context;

	if (s->source != SENNIT_STACK_SUSPENDED)
		return;
	for (size_t i = 0; i < 4; i++) {
		if (s->fiber->task != players[i].there &&
		    s->fiber->task != players[i].back)
			continue;
		seen->suspended++;
		seen->wrong += HAS_FRAMES &&
			       count_marks_play(s) != players[i].depth + 1;
	}
}

/* Tasks that begin and end on stacks of all sizes of load. */
static void pass_by(void *unused)
{
	(void)unused;
	waste(3);
}

static void start_players(struct world *w)
{
	atomic_store(&over, false);
	atomic_store(&begun, 0);
	for (unsigned i = 0; i < PAIRS; i++) {
		struct pair *p = &pairs[i];

		sennit_event_init(&p->there,
				  SENNIT_EVENT_AUTO | SENNIT_EVENT_SET);
		sennit_event_init(&p->back, SENNIT_EVENT_AUTO);
		sennit_wait_group_init(&p->done, 2);
		p->slow = i >= PAIRS / 2;
		assert_int_equal(enqueue(w->s, players[i % 4].there, p), 0);
		assert_int_equal(enqueue(w->s, players[i % 4].back, p), 0);
	}
}

/* A visit leaves out fibers that run too often, which may be nearly all if the
 * visitor is slow. So repeat it as often as necessary. */
TEST_WITH_THREADS(stacks_are_whole_while_fibers_run)
{
	struct seen       seen = { .suspended = 0 };
	const sennit_time late = sennit_after(GIVE_UP);

	start_players(w);
	assert_soon(atomic_load(&begun) == 2 * PAIRS);
	for (unsigned i = 0;
	     i < VISITS || (seen.suspended < VISITS && sennit_now() < late);
	     i++) {
		for (unsigned k = 0; k < 8; k++)
			assert_int_equal(enqueue(w->s, pass_by, NULL), 0);
		assert_int_equal(
			sennit_stacks_visit(i % 2 ? w->s : NULL, look, &seen),
			0);
	}
	atomic_store(&over, true);
	for (unsigned i = 0; i < PAIRS; i++)
		sennit_wait_group_wait(&pairs[i].done);
	print_message("%u stacks\n", seen.suspended);
	assert_int_equal(seen.wrong, 0);
	assert_true(seen.suspended >= VISITS);
}

/* --- schedulers that start and end -------------------------------------- */

static void *come_and_go(void *unused)
{
	(void)unused;
	while (!atomic_load(&over)) {
		sennit_scheduler *s = NULL;

		EXPECT(sennit_scheduler_create(
			       &s, SENNIT_CONFIG(.workers = 1)) == 0);
		EXPECT(enqueue(s, pass_by, NULL) == 0);
		EXPECT(sennit_scheduler_shutdown(s, sennit_after(GIVE_UP)) ==
		       0);
	}
	return NULL;
}

static void count_stack(void *count, const sennit_stack *s)
{
	(void)s;
	++*(unsigned *)count;
}

TEST_WITH_ONE(a_scheduler_may_end_during_a_visit)
{
	pthread_t t;
	unsigned  count = 0;

	atomic_store(&over, false);
	t = must_start_thread(come_and_go, NULL);
	for (unsigned i = 0; i < 4 * VISITS; i++)
		assert_int_equal(sennit_stacks_visit(NULL, count_stack, &count),
				 0);
	atomic_store(&over, true);
	pthread_join(t, NULL);
}
