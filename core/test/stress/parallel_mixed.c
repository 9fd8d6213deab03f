/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_mixed.c - randomly nested loops, reductions, scans and sorts. Some
 * fail, wait, exceed a deadline or are cancelled. Their return values must be
 * right. */
#include "testing/with_workers.h"
#include "testing/random.h"

#include <errno.h>

enum { DEPTH = 2, MOST = 600 };

static atomic_uint  streams;
static atomic_ulong whole, broken_off;

/* One call, as its pieces see it. */
struct round {
	atomic_size_t done;    /* number of indices */
	atomic_size_t fail_in; /* number of pieces until one fails */
	unsigned      depth;
	int           error; /* of the failing piece */
};

static int play(unsigned depth, uint64_t *random);

static bool may_be_broken_off(int err)
{
	return err == -ECANCELED || err == -ETIMEDOUT || err == -EIO;
}

/* Additional actions of a piece. */
static int act(struct round *r)
{
	uint64_t random = random_stream(atomic_fetch_add(&streams, 1));

	if (atomic_fetch_sub(&r->fail_in, 1) == 1)
		return r->error;
	switch (random_below(&random, 16)) {
	case 0:
		sennit_yield();
		return 0;
	case 1:
		return sennit_sleep_until(sennit_after(
			random_below(&random, 50) * SENNIT_MICROSECOND));
	case 2:
		return r->depth ? play(r->depth - 1, &random) : 0;
	default:
		return 0;
	}
}

static int run(void *context, size_t begin, size_t end)
{
	struct round *r = context;
	int           err = act(r);

	if (!err)
		atomic_fetch_add(&r->done, end - begin);
	return err;
}

static int add(void *context, void *accumulator, size_t begin, size_t end)
{
	uint64_t *sum = accumulator;

	for (size_t i = begin; i < end; i++)
		*sum += i;
	return act(context);
}

static void add_sums(void *context, void *left, const void *right)
{
	*(uint64_t *)left += *(const uint64_t *)right;
}

static const sennit_scan sums = { .reduction = { .accumulator_size =
							 sizeof(uint64_t),
						 .accumulate = add,
						 .combine = add_sums },
				  .put_out = add };

static void note(int err)
{
	EXPECT(!err || may_be_broken_off(err));
	atomic_fetch_add(err ? &broken_off : &whole, 1);
}

static int loop(struct round *r, size_t n, const sennit_parallel_options *o,
		sennit_time deadline)
{
	int err = sennit_parallel_for(0, n, run, r, o, deadline);

	EXPECT(err ? atomic_load(&r->done) <= n : atomic_load(&r->done) == n);
	return err;
}

static int sum_up(struct round *r, size_t n, const sennit_parallel_options *o,
		  sennit_time deadline, bool scan)
{
	uint64_t sum = 1;
	int      err;

	err = scan ? sennit_parallel_scan(0, n, &sums, r, &sum, o, deadline)
		   : sennit_parallel_reduce(0, n, &sums.reduction, r, &sum, o,
					    deadline);
	EXPECT(sum == (err ? 1 : n ? n * (n - 1) / 2 : 0));
	return err;
}

/* Numbers, each of which occurs once. */
struct deck {
	uint32_t      cards[MOST];
	struct round *round;
};

static int compare(const void *left, const void *right, void *context)
{
	uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;

	if (l % 64 == 0)
		(void)act(context);
	return (l > r) - (l < r);
}

static int sort(struct round *r, size_t n, const sennit_parallel_options *o,
		sennit_time deadline, uint64_t *random)
{
	uint32_t cards[MOST];
	bool     seen[MOST] = { false };
	int      err;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = random_below(random, i + 1);

		cards[i] = cards[k];
		cards[k] = i;
	}
	err = sennit_parallel_sort(cards, n, sizeof(cards[0]), compare, r, NULL,
				   o, deadline);
	for (uint32_t i = 0; i < n; i++) {
		EXPECT(err || cards[i] == i);
		EXPECT(cards[i] < n && !seen[cards[i]]);
		seen[cards[i]] = true;
	}
	return err;
}

/* Returns 0, even if the call failed or was cancelled on its own, unless the
 * surrounding call must stop, too. */
static int play(unsigned depth, uint64_t *random)
{
	sennit_parallel_options o = { .size = sizeof(o),
				      .grain = random_below(random, 40) };
	const size_t            n = random_below(random, MOST);
	struct round            r = { .depth = depth, .error = -EIO };
	sennit_time             deadline = SENNIT_NEVER;
	int                     err;

	o.flags = random_below(random, 2) * SENNIT_PARALLEL_DETERMINISTIC;
	if (!random_below(random, 8))
		deadline = sennit_after(random_below(random, 300) *
					SENNIT_MICROSECOND);
	atomic_init(&r.fail_in, random_below(random, 100));
	switch (random_below(random, 4)) {
	case 0:
		err = loop(&r, n, &o, deadline);
		break;
	case 1:
		err = sum_up(&r, n, &o, deadline, false);
		break;
	case 2:
		err = sum_up(&r, n, &o, deadline, true);
		break;
	default:
		err = sort(&r, n, &o, deadline, random);
	}
	note(err);
	return sennit_check_cancelled();
}

struct game {
	sennit_group g;
	uint64_t     random;
};

static int play_a_while(void *argument)
{
	struct game *game = argument;

	for (int i = 0; i < 4; i++)
		if (play(DEPTH, &game->random))
			return 0;
	return 0;
}

static void play_games(struct world *w, uint64_t games)
{
	struct game game = { .random = random_stream(
				     atomic_fetch_add(&streams, 1)) };

	while (games--) {
		sennit_group_init_on(&game.g, w->s, SENNIT_NEVER, 0);
		EXPECT(sennit_group_spawn(&game.g, play_a_while, &game) == 0);
		if (!(games % 4)) {
			sennit_sleep(games % 100 * SENNIT_MICROSECOND);
			sennit_group_cancel(&game.g);
		}
		sennit_group_wait(&game.g);
	}
}

static void play_in_a_task(void *argument)
{
	play_games(argument, scaled(LOAD(200)));
}

TEST_WITH_WORKERS(what_they_return_is_true)
{
	struct errand e = { .run = play_in_a_task, .argument = w };

	atomic_store(&whole, 0);
	atomic_store(&broken_off, 0);
	sennit_wait_group_init(&e.done, 2);
	must_schedule(run_errand, &e);
	must_schedule(run_errand, &e);
	play_in_a_task(w);
	sennit_wait_group_wait(&e.done);
	assert_true(atomic_load(&whole) > 0);
	assert_true(atomic_load(&broken_off) > 0);
}
