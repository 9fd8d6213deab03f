/* SPDX-License-Identifier: Apache-2.0 */
/* fail_each_call.c - groups, ranges, DAGs, channels, futures, pools, local
 * values and fork-join, while each request to the system fails in turn.
 */
#include "failing.h"

#include "base/torture.h"
#include "sennit/fork_join.h"
#include "sennit/dag.h"

enum { FUTURES = 30, HEAVY = 200, INDICES = 3000, NODES = 12, DEPTH = 5 };

/* Enough that the deque must grow. */
#define MEMBERS TORTURED(40u, LOAD(800u))

/* Each of these operations must do all its work, or return -ENOMEM. */
static bool worked(int err)
{
	EXPECT(!err || err == -ENOMEM);
	return !err;
}

/* --- groups -------------------------------------------------------------- */

static int be_a_member(void *unused)
{
	sennit_yield();
	ran_one();
	return 0;
}

static void have_members(void)
{
	const char   weight[HEAVY] = "";
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (unsigned i = 0; i < MEMBERS; i++) {
		accept(sennit_group_spawn_copy(&g, be_a_member, weight,
					       sizeof(weight)));
		if (i % 3 == 0)
			accept(sennit_group_spawn(&g, be_a_member, NULL));
	}
	EXPECT(!sennit_group_wait(&g));
}

/* --- ranges -------------------------------------------------------------- */

static unsigned char times[INDICES];

static int mark(void *unused, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		times[i]++;
	return 0;
}

static void mark_all(void)
{
	const sennit_parallel_options o = { .size = sizeof(o), .grain = 100 };
	bool                          all;

	memset(times, 0, sizeof(times));
	all = worked(
		sennit_parallel_for(0, INDICES, mark, NULL, &o, SENNIT_NEVER));
	for (unsigned i = 0; i < INDICES; i++)
		EXPECT(all ? times[i] == 1 : times[i] <= 1);
}

/* Too large for a stack. */
struct tally {
	uint64_t sum;
	char     rest[HEAVY];
};

static int add_up(void *unused, void *accumulator, size_t begin, size_t end)
{
	struct tally *t = accumulator;

	for (size_t i = begin; i < end; i++)
		t->sum += i;
	return 0;
}

static void add_tallies(void *unused, void *left, const void *right)
{
	((struct tally *)left)->sum += ((const struct tally *)right)->sum;
}

static void sum_up(uint32_t flags)
{
	static const sennit_scan how = {
		.reduction = { .accumulator_size = sizeof(struct tally),
			       .accumulate = add_up,
			       .combine = add_tallies },
		.put_out = add_up,
	};
	const sennit_parallel_options o = { .size = sizeof(o),
					    .grain = 100,
					    .flags = flags };
	const uint64_t all = (uint64_t)INDICES * (INDICES - 1) / 2;
	struct tally   t = { .sum = 1 };

	EXPECT(worked(sennit_parallel_reduce(0, INDICES, &how.reduction, NULL,
					     &t, &o, SENNIT_NEVER))
		       ? t.sum == all
		       : t.sum == 1);
	t.sum = 1;
	EXPECT(worked(sennit_parallel_scan(0, INDICES, &how, NULL, &t, &o,
					   SENNIT_NEVER))
		       ? t.sum == all
		       : t.sum == 1);
}

static int compare(const void *left, const void *right, void *unused)
{
	const uint32_t l = *(const uint32_t *)left;
	const uint32_t r = *(const uint32_t *)right;

	return (l > r) - (l < r);
}

static void sort_some(void)
{
	static uint32_t               cards[INDICES];
	const sennit_parallel_options o = { .size = sizeof(o), .grain = 100 };
	uint64_t                      sum = 0;
	bool                          sorted;

	for (uint32_t i = 0; i < INDICES; i++)
		cards[i] = i * 2654435761u;
	sorted = worked(sennit_parallel_sort(cards, INDICES, sizeof(cards[0]),
					     compare, NULL, NULL, &o,
					     SENNIT_NEVER));
	for (uint32_t i = 0; i < INDICES; i++) {
		EXPECT(!sorted || !i || cards[i - 1] < cards[i]);
		sum += cards[i] - (uint64_t)(i * 2654435761u);
	}
	EXPECT(!sum);
}

/* --- DAGs ---------------------------------------------------------------- */

static int visit_node(void *visited, void *unused)
{
	atomic_fetch_add((atomic_uint *)visited, 1);
	return 0;
}

static bool build(sennit_dag **dag)
{
	sennit_dag_builder b;
	uint32_t           node;
	bool               whole = true;

	EXPECT(!sennit_dag_builder_init(&b, &failing_allocator));
	for (uint32_t i = 0; whole && i < NODES; i++)
		whole = worked(sennit_dag_builder_add(&b, visit_node, NULL,
						      NULL, &node)) &&
			(i < 4 ||
			 worked(sennit_dag_builder_order(&b, i - 4, i)));
	whole = whole && worked(sennit_dag_build(dag, &b, NULL, 0));
	sennit_dag_builder_destroy(&b);
	return whole;
}

static void run_dags(void)
{
	atomic_uint visited;
	sennit_dag *dag;

	if (!build(&dag))
		return;
	atomic_init(&visited, 0);
	EXPECT(worked(sennit_dag_run(dag, &visited, NULL, SENNIT_NEVER))
		       ? atomic_load(&visited) == NODES
		       : !atomic_load(&visited));
	sennit_dag_destroy(dag);
}

/* --- channels, futures, pools -------------------------------------------- */

static void send_some(void)
{
	sennit_channel c;
	uint64_t       value, sent = 0, received = 0;

	if (!worked(sennit_channel_init(&c, SENNIT_CHANNEL_UNBOUNDED,
					sizeof(value), &failing_allocator)))
		return;
	for (value = 1; value <= 300; value++)
		if (worked(sennit_channel_send(&c, &value)))
			sent += value;
	sennit_channel_close(&c);
	while (!sennit_channel_receive(&c, &value))
		received += value;
	EXPECT(sent == received);
	sennit_channel_destroy(&c);
}

static int find_out(void *argument, void **value)
{
	ran_one();
	*value = argument;
	return 0;
}

static void go_on(void *done, void *value, int error)
{
	EXPECT(value && !error);
	ran_one();
	sennit_wait_group_done(done);
}

static void look_ahead(void)
{
	sennit_wait_group   done = SENNIT_WAIT_GROUP_INIT;
	sennit_future       f[FUTURES] = { 0 };
	sennit_continuation then[FUTURES];

	for (unsigned i = 0; i < FUTURES; i++) {
		then[i] = (sennit_continuation){ .run = go_on,
						 .argument = &done };
		if (!accept(sennit_future_spawn(&f[i], find_out, &f[i])))
			sennit_future_set(&f[i], &f[i]);
		sennit_wait_group_add(&done, 1);
		accept(0); /* it runs whatever fails */
		sennit_future_then(&f[i], &then[i]);
	}
	sennit_wait_group_wait(&done);
}

static void borrow_some(size_t count)
{
	const sennit_pool_config config = { .size = sizeof(config),
					    .item_size = HEAVY,
					    .count = count,
					    .allocator = &failing_allocator };
	void                    *items[8];
	unsigned                 n = 0;
	sennit_pool              p;

	if (!worked(sennit_pool_init(&p, &config)))
		return;
	while (n < 8 && worked(sennit_pool_borrow(&p, &items[n])))
		memset(items[n++], 1, HEAVY);
	while (n--)
		sennit_pool_return(&p, items[n]);
	sennit_pool_destroy(&p);
}

/* --- local values, calls, fork-join -------------------------------------- */

static sennit_local_key keys[8];

static void close_note(void *unused)
{
	ran_one();
}

static void take_notes(void)
{
	for (unsigned i = 0; i < 8; i++)
		if (accept(sennit_local_set(keys[i], &keys[i])))
			EXPECT(sennit_local_get(keys[i]) == &keys[i]);
}

static void *call_for(void *argument)
{
	return argument;
}

static void call_out(void)
{
	void *result = NULL;

	EXPECT(!sennit_blocking_call_until(call_for, keys, &result,
					   SENNIT_NEVER));
	EXPECT(result == keys);
}

SENNIT_FORK(unsigned, branch, unsigned, depth)
{
	unsigned here;

	if (!depth)
		return 1;
	if (depth % 2)
		sennit_yield();
	SENNIT_FORK_SPAWN(branch, other, depth - 1);
	here = SENNIT_FORK_CALL(branch, depth - 1);
	return here + SENNIT_FORK_SYNC(branch, other);
}

/* --- the scenario -------------------------------------------------------- */

static void do_everything(void *unused)
{
	have_members();
	mark_all();
	sum_up(0);
	sum_up(SENNIT_PARALLEL_DETERMINISTIC);
	sort_some();
	run_dags();
	send_some();
	look_ahead();
	borrow_some(0);
	borrow_some(8);
	take_notes();
	call_out();
	EXPECT(SENNIT_FORK_RUN(branch, DEPTH) == 1u << DEPTH);
	ran_one();
}

static void perform(void)
{
	const sennit_task task = { .run = do_everything };
	sennit_scheduler *s = NULL;
	int               err;

	err = sennit_scheduler_create(
		&s,
		SENNIT_CONFIG(.workers = 2, .allocator = &failing_allocator));
	EXPECT(!err || err == -ENOMEM || err == -EAGAIN);
	if (err)
		return;
	accept(sennit_schedule_task_on(s, &task));
	EXPECT(!sennit_scheduler_shutdown(s, sennit_after(GIVE_UP)));
}

static int make_keys(void)
{
	for (unsigned i = 0; i < 8; i++)
		if (sennit_local_key_create(&keys[i], close_note))
			return -1;
	return 0;
}

BEFORE_ALL(make_keys);
