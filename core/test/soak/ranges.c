/* SPDX-License-Identifier: Apache-2.0 */
/* ranges.c - scenes with divided work: loops, reductions, scans, sorts, DAGs,
 * fork-join. They may fail, time out or be cancelled anywhere. The work done is
 * counted twice: by the workers that did it, and by the caller. */
#include "soak.h"

#include "sennit/fork_join.h"
#include "sennit/dag.h"

enum { INDICES = 3000, NODES = 40 };

static bool is_of_the_world(int err)
{
	return err == -EIO || err == -ETIMEDOUT || err == -ECANCELED;
}

/* Fill *o, and return a deadline. */
static sennit_time some_options(sennit_parallel_options *o, uint64_t *random)
{
	const sennit_time deadline = some_deadline(random);

	*o = (sennit_parallel_options){ .size = sizeof(*o) };
	if (random_below(random, 2))
		o->grain = 1 + random_below(random, 500);
	return random_below(random, 4) == 0 ? deadline : SENNIT_NEVER;
}

/* --- for ---------------------------------------------------------------- */

struct loop {
	atomic_uint   done;
	atomic_bool   fails; /* makes the next one that checks it fail */
	unsigned char times[INDICES];
};

static int do_piece(void *context, size_t begin, size_t end)
{
	struct loop *l = context;

	for (size_t i = begin; i < end; i++)
		l->times[i]++;
	book_out(indices, end - begin);
	atomic_fetch_add(&l->done, (unsigned)(end - begin));
	if (begin % 64 == 0)
		sennit_yield();
	return atomic_exchange(&l->fails, false) ? -EIO : 0;
}

static void loop_over(void *unused, uint64_t *random)
{
	const size_t            n = random_below(random, INDICES);
	struct loop             l;
	sennit_parallel_options o;
	sennit_time             deadline;
	int                     err;

	(void)unused;
	memset(&l, 0, sizeof(l));
	atomic_init(&l.fails, random_below(random, 4) == 0);
	deadline = some_options(&o, random);
	err = sennit_parallel_for(0, n, do_piece, &l, &o, deadline);
	CLAIM(!err ? atomic_load(&l.done) == n : is_of_the_world(err));
	for (size_t i = 0; i < INDICES; i++)
		CLAIM(l.times[i] <= (i < n) && (err || l.times[i] == (i < n)));
	book_in(indices, atomic_load(&l.done));
}

void scene_for(uint64_t *random)
{
	play_parts(loop_over, NULL, 1 + random_below(random, 4), random);
}

/* --- reductions and scans ----------------------------------------------- */

static int add_up(void *unused, void *accumulator, size_t begin, size_t end)
{
	uint64_t *sum = accumulator;

	(void)unused;
	for (size_t i = begin; i < end; i++)
		*sum += i;
	if (begin % 128 == 0)
		sennit_yield();
	return 0;
}

static void add_sums(void *unused, void *left, const void *right)
{
	(void)unused;
	*(uint64_t *)left += *(const uint64_t *)right;
}

static int put_sums_out(void *context, void *accumulator, size_t begin,
			size_t end)
{
	uint64_t *out = context;
	uint64_t *sum = accumulator;

	for (size_t i = begin; i < end; i++)
		out[i] = *sum += i;
	return 0;
}

static uint64_t sum_below(uint64_t n)
{
	return n ? n * (n - 1) / 2 : 0;
}

static void sum_up(void *unused, uint64_t *random)
{
	static const sennit_scan how = {
		.reduction = { .accumulator_size = sizeof(uint64_t),
			       .accumulate = add_up,
			       .combine = add_sums },
		.put_out = put_sums_out,
	};
	const size_t            n = random_below(random, INDICES);
	uint64_t               *out = calloc(INDICES, sizeof(*out));
	uint64_t                sum = 1;
	sennit_parallel_options o;
	sennit_time             deadline;
	int                     err;

	(void)unused;
	if (!out)
		abort();
	deadline = some_options(&o, random);
	o.flags = random_below(random, 2) * SENNIT_PARALLEL_DETERMINISTIC;
	book_in(sums, 1);
	err = sennit_parallel_reduce(0, n, &how.reduction, NULL, &sum, &o,
				     deadline);
	CLAIM(!err ? sum == sum_below(n) : is_of_the_world(err) && sum == 1);
	sum = 1;
	err = sennit_parallel_scan(0, n, &how, out, &sum, &o, deadline);
	CLAIM(!err ? sum == sum_below(n) : is_of_the_world(err) && sum == 1);
	for (size_t i = 0; i < n && !err; i++)
		CLAIM(out[i] == sum_below(i + 1));
	free(out);
	book_out(sums, 1);
}

void scene_sums(uint64_t *random)
{
	play_parts(sum_up, NULL, 1 + random_below(random, 3), random);
}

/* --- sorts -------------------------------------------------------------- */

struct card {
	uint32_t rank, number;
};

static int compare_cards(const void *left, const void *right, void *unused)
{
	const struct card *l = left, *r = right;

	(void)unused;
	return (l->rank > r->rank) - (l->rank < r->rank);
}

static void sort_cards(void *unused, uint64_t *random)
{
	const uint32_t          n = random_below(random, INDICES);
	struct card            *cards = calloc(INDICES, sizeof(*cards));
	uint64_t                before = 0, after = 0;
	int                     err;
	sennit_parallel_options o;
	sennit_time             deadline;

	(void)unused;
	if (!cards)
		abort();
	for (uint32_t i = 0; i < n; i++) {
		cards[i] = (struct card){ random_below(random, 100), i };
		before += (uint64_t)cards[i].rank << 32 | (i * i);
	}
	book_in(cards_sorted, n);
	deadline = some_options(&o, random);
	err = sennit_parallel_sort(cards, n, sizeof(*cards), compare_cards,
				   NULL, NULL, &o, deadline);
	CLAIM(!err || is_of_the_world(err));
	for (uint32_t i = 0; i < n; i++)
		after += (uint64_t)cards[i].rank << 32 |
			 (cards[i].number * cards[i].number);
	for (uint32_t i = 1; i < n && !err; i++)
		CLAIM(cards[i - 1].rank < cards[i].rank ||
		      (cards[i - 1].rank == cards[i].rank &&
		       cards[i - 1].number < cards[i].number));
	CLAIM(before == after);
	book_out(cards_sorted, n);
	free(cards);
}

void scene_sort(uint64_t *random)
{
	play_parts(sort_cards, NULL, 1 + random_below(random, 3), random);
}

/* --- DAGs --------------------------------------------------------------- */

struct plan {
	sennit_dag *dag;
	uint32_t    count;
	uint64_t    before[NODES]; /* bit i: node i */
};

struct journey {
	const struct plan *plan;
	atomic_ullong      ended; /* bits */
	atomic_uint        ran;
	uint32_t           fails; /* the node that fails; NODES: none */
};

static int visit_node(void *data, void *argument)
{
	const uint32_t  i = (uint32_t)(uintptr_t)argument;
	struct journey *j = data;
	const uint64_t  before = j->plan->before[i];

	CLAIM((atomic_load(&j->ended) & before) == before);
	if (i % 5 == 0)
		sennit_yield();
	book_out(nodes, 1);
	atomic_fetch_add(&j->ran, 1);
	if (i == j->fails)
		return -EIO;
	CLAIM(!(atomic_fetch_or(&j->ended, UINT64_C(1) << i) >> i & 1));
	return 0;
}

static void travel(void *plan, uint64_t *random)
{
	const struct plan *p = plan;
	struct journey     j = { .plan = p, .fails = NODES };
	const sennit_time  deadline = some_deadline(random);
	int                err;

	if (random_below(random, 4) == 0)
		j.fails = random_below(random, NODES);
	err = sennit_dag_run(p->dag, &j, NULL,
			     random_below(random, 4) ? SENNIT_NEVER : deadline);
	CLAIM(!err ? atomic_load(&j.ran) == p->count : is_of_the_world(err));
	book_in(nodes, atomic_load(&j.ran));
}

static void draw_plan(struct plan *p, uint64_t *random)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	uint32_t           node;

	p->count = 1 + random_below(random, NODES);
	for (uint32_t i = 0; i < p->count; i++) {
		p->before[i] = 0;
		if (sennit_dag_builder_add(&b, visit_node, (void *)(uintptr_t)i,
					   NULL, &node))
			abort();
		for (unsigned k = 0; i && k < 3; k++) {
			const uint32_t before = random_below(random, i);

			if (random_below(random, 2))
				continue;
			p->before[i] |= UINT64_C(1) << before;
			if (sennit_dag_builder_order(&b, before, i))
				abort();
		}
	}
	if (sennit_dag_build(&p->dag, &b, NULL, 0))
		abort();
	sennit_dag_builder_destroy(&b);
}

void scene_dag(uint64_t *random)
{
	struct plan p;

	draw_plan(&p, random);
	play_parts(travel, &p, 1 + random_below(random, 4), random);
	sennit_dag_destroy(p.dag);
}

/* --- fork-join ---------------------------------------------------------- */

SENNIT_FORK(uint32_t, branch, uint32_t, depth)
{
	uint32_t here;

	book_out(branches, 1);
	if (depth % 7 == 3)
		sennit_yield();
	if (!depth)
		return 1;
	SENNIT_FORK_SPAWN(branch, other, depth - 1);
	here = SENNIT_FORK_CALL(branch, depth - 1);
	return here + SENNIT_FORK_SYNC(branch, other);
}

static void grow_branches(void *unused, uint64_t *random)
{
	const uint32_t depth = random_below(random, 9);

	(void)unused;
	book_in(branches, (UINT64_C(2) << depth) - 1);
	CLAIM(SENNIT_FORK_RUN(branch, depth) == UINT32_C(1) << depth);
}

void scene_forks(uint64_t *random)
{
	play_parts(grow_branches, NULL, 1 + random_below(random, 3), random);
}

/* --- nested groups ------------------------------------------------------ */

struct level {
	uint32_t      below; /* levels */
	sennit_event *never; /* it is never set */
};

/* At the bottom all members wait for ever. Only a cancel of the outermost group
 * ends them. */
static int wait_inside(void *level)
{
	const struct level *l = level;
	const struct level  next = { l->below - 1, l->never };
	sennit_group        g;
	int                 err;

	book_out(nested, 1);
	if (!l->below) {
		err = sennit_event_wait_until(l->never, SENNIT_NEVER);
		CLAIM(is_of_the_world(err) && sennit_check_cancelled());
		return err;
	}
	sennit_group_init(&g, SENNIT_NEVER,
			  l->below % 2 ? SENNIT_GROUP_KEEP_GOING : 0);
	for (unsigned i = 0; i < 2; i++) {
		err = sennit_group_spawn_copy(&g, wait_inside, &next,
					      sizeof(next));
		CLAIM(!err || err == -ECANCELED);
		book_in(nested, !err);
	}
	err = sennit_group_wait(&g);
	CLAIM(is_of_the_world(err));
	return err;
}

void scene_nested(uint64_t *random)
{
	sennit_event      never = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	const bool        in_time = random_below(random, 2);
	struct level      l = { random_below(random, 5), &never };
	const sennit_time deadline =
		in_time ? sennit_after(random_below(random, 500000))
			: SENNIT_NEVER;
	sennit_group g;
	int          err;

	sennit_group_init(&g, deadline, 0);
	err = sennit_group_spawn(&g, wait_inside, &l);
	CLAIM(!err);
	book_in(nested, 1);
	if (!in_time) {
		if (random_below(random, 2))
			sennit_yield();
		sennit_group_cancel(&g);
		count_one(cancellations);
	}
	err = sennit_group_wait(&g);
	CLAIM(err == -ECANCELED || (in_time && err == -ETIMEDOUT));
	count_one(failures);
}
