/* SPDX-License-Identifier: Apache-2.0 */
/* dag_build.c - what builders accept and refuse, how they describe cycles, and
 * where their memory comes from. */
#include "testing/with_workers.h"
#include "testing/counting_allocator.h"
#include "sennit/dag.h"

#include <errno.h>

static int append_name(void *data, void *argument)
{
	strcat(data, argument);
	return 0;
}

static uint32_t must_add(sennit_dag_builder *b, const char *name)
{
	uint32_t node = UINT32_MAX;

	assert_int_equal(sennit_dag_builder_add(b, append_name,
						(void *)(uintptr_t)name, name,
						&node),
			 0);
	return node;
}

static void must_order(sennit_dag_builder *b, uint32_t before, uint32_t after)
{
	assert_int_equal(sennit_dag_builder_order(b, before, after), 0);
}

static void assert_runs(sennit_dag *d, const char *expected)
{
	char text[256] = "";

	assert_int_equal(sennit_dag_run(d, text, NULL, SENNIT_NEVER), 0);
	assert_string_equal(text, expected);
}

/* --- cycles ------------------------------------------------------------- */

static sennit_dag *const untouched = (sennit_dag *)16;

static void assert_loop(const sennit_dag_builder *b, const char *expected)
{
	char        text[256];
	sennit_dag *d = untouched;

	assert_int_equal(sennit_dag_build(&d, b, text, sizeof(text)), -ELOOP);
	assert_ptr_equal(d, untouched);
	assert_string_equal(text, expected);
}

TEST_ALONE(a_node_before_itself_is_a_circle)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	uint32_t           n;

	must_add(&b, "a");
	n = must_add(&b, "b");
	must_order(&b, n, n);
	assert_loop(&b, "b -> b");
	sennit_dag_builder_destroy(&b);
}

TEST_ALONE(two_before_each_other_are_a_circle)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;

	must_add(&b, "a");
	must_add(&b, "b");
	must_order(&b, 1, 0);
	must_order(&b, 0, 1);
	assert_loop(&b, "a -> b -> a");
	sennit_dag_builder_destroy(&b);
}

/* Nodes before and after the cycle are not part of it. */
TEST_ALONE(only_the_circle_is_named)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	uint32_t           node;

	must_add(&b, "before");
	must_add(&b, "parse");
	must_add(&b, "after");
	must_add(&b, "link");
	assert_int_equal(sennit_dag_builder_add(&b, NULL, NULL, NULL, &node),
			 0);
	must_add(&b, "last");
	must_order(&b, 0, 1);
	must_order(&b, 3, 4);
	must_order(&b, 1, 3);
	must_order(&b, 4, 1);
	must_order(&b, 4, 2);
	must_order(&b, 2, 5);
	must_order(&b, 0, 5);
	assert_loop(&b, "parse -> link -> node 4 -> parse");
	sennit_dag_builder_destroy(&b);
}

TEST_ALONE(words_without_room_are_cut)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	sennit_dag        *d = untouched;
	char               text[16];

	must_add(&b, "first");
	must_add(&b, "second");
	must_order(&b, 0, 1);
	must_order(&b, 1, 0);
	assert_int_equal(sennit_dag_build(&d, &b, text, 16), -ELOOP);
	assert_string_equal(text, "first -> sec...");
	assert_int_equal(sennit_dag_build(&d, &b, text, 4), -ELOOP);
	assert_string_equal(text, "...");
	assert_int_equal(sennit_dag_build(&d, &b, text, 3), -ELOOP);
	assert_string_equal(text, "..");
	assert_int_equal(sennit_dag_build(&d, &b, text, 1), -ELOOP);
	assert_string_equal(text, "");
	assert_int_equal(sennit_dag_build(&d, &b, NULL, 0), -ELOOP);
	assert_ptr_equal(d, untouched);
	sennit_dag_builder_destroy(&b);
}

TEST_ALONE(words_that_just_fit_are_whole)
{
	static const char  whole[] = "a -> b -> a";
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	sennit_dag        *d;
	char               text[sizeof(whole)];

	must_add(&b, "a");
	must_add(&b, "b");
	must_order(&b, 0, 1);
	must_order(&b, 1, 0);
	assert_int_equal(sennit_dag_build(&d, &b, text, sizeof(text)), -ELOOP);
	assert_string_equal(text, whole);
	assert_int_equal(sennit_dag_build(&d, &b, text, sizeof(text) - 1),
			 -ELOOP);
	assert_string_equal(text, "a -> b ...");
	sennit_dag_builder_destroy(&b);
}

enum { MANY = 100000 };

TEST_ALONE(a_circle_of_many_is_found)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	char               text[40];
	sennit_dag        *d = untouched;

	for (uint32_t i = 0; i < MANY; i++)
		must_add(&b, NULL);
	for (uint32_t i = 0; i < MANY; i++)
		must_order(&b, i, (i + 1) % MANY);
	assert_int_equal(sennit_dag_build(&d, &b, text, sizeof(text)), -ELOOP);
	assert_string_equal(text, "node 0 -> node 1 -> node 2 -> node 3...");
	assert_ptr_equal(d, untouched);
	sennit_dag_builder_destroy(&b);
}

/* --- builders ----------------------------------------------------------- */

TEST_WITH_WORKERS(to_say_it_twice_is_to_say_it_once)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	sennit_dag        *d;

	must_add(&b, "a");
	must_add(&b, "b");
	must_add(&b, "c");
	for (int i = 0; i < 3; i++) {
		must_order(&b, 2, 1);
		must_order(&b, 1, 0);
		must_order(&b, 2, 0);
	}
	assert_int_equal(sennit_dag_build(&d, &b, NULL, 0), 0);
	sennit_dag_builder_destroy(&b);
	assert_runs(d, "cba");
	assert_runs(d, "cba");
	sennit_dag_destroy(d);
}

/* The size in bytes of a DAG of two nodes whose edge was given `often`
 * times. */
static long bytes_of(unsigned often)
{
	struct counting_allocator w = { .calls = 0 };
	const sennit_allocator    a = COUNTING_ALLOCATOR(&w);
	sennit_dag_builder        b;
	sennit_dag               *d;
	long                      bytes;

	assert_int_equal(sennit_dag_builder_init(&b, &a), 0);
	must_add(&b, "a");
	must_add(&b, "b");
	while (often--)
		must_order(&b, 0, 1);
	assert_int_equal(sennit_dag_build(&d, &b, NULL, 0), 0);
	sennit_dag_builder_destroy(&b);
	bytes = (long)atomic_load(&w.bytes);
	sennit_dag_destroy(d);
	return bytes;
}

TEST_ALONE(an_edge_given_often_is_kept_once)
{
	assert_int_equal(bytes_of(100), bytes_of(1));
}

TEST_WITH_WORKERS(a_builder_may_go_on_after_a_build)
{
	sennit_dag_builder b;
	sennit_dag        *first, *second;
	char               text[32];

	assert_int_equal(sennit_dag_builder_init(&b, NULL), 0);
	must_add(&b, "a");
	must_add(&b, "b");
	must_order(&b, 0, 1);
	assert_int_equal(sennit_dag_build(&first, &b, NULL, 0), 0);
	must_order(&b, must_add(&b, "c"), 0);
	assert_int_equal(sennit_dag_build(&second, &b, NULL, 0), 0);
	must_order(&b, 1, 2);
	assert_int_equal(sennit_dag_build(&second, &b, text, sizeof(text)),
			 -ELOOP);
	sennit_dag_builder_destroy(&b);
	assert_runs(second, "cab");
	assert_runs(first, "ab");
	sennit_dag_destroy(first);
	sennit_dag_destroy(second);
}

TEST_ALONE(a_destroyed_builder_is_an_empty_one)
{
	struct counting_allocator memory = { .calls = 0 };
	const sennit_allocator    a = COUNTING_ALLOCATOR(&memory);
	sennit_dag_builder        b;

	assert_int_equal(sennit_dag_builder_init(&b, &a), 0);
	must_add(&b, "a");
	sennit_dag_builder_destroy(&b);
	assert_int_equal(atomic_load(&memory.live), 0);
	assert_int_equal(must_add(&b, "b"), 0);
	assert_int_equal(atomic_load(&memory.live), 1);
	sennit_dag_builder_destroy(&b);
	sennit_dag_builder_destroy(&b);
	assert_int_equal(atomic_load(&memory.bytes), 0);
	sennit_dag_destroy(NULL);
}

/* White box: no machine has enough memory to reach the limits. */
TEST_ALONE(there_is_an_end_to_nodes_and_edges)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	uint32_t           node = 7;

	must_add(&b, "a");
	b.node_count_ = SENNIT_DAG_NODES;
	assert_int_equal(sennit_dag_builder_add(&b, NULL, NULL, NULL, &node),
			 -EOVERFLOW);
	assert_int_equal(node, 7);
	assert_int_equal(b.node_count_, SENNIT_DAG_NODES);
	b.node_count_ = 1;
	b.edge_count_ = SENNIT_DAG_EDGES;
	assert_int_equal(sennit_dag_builder_order(&b, 0, 0), -EOVERFLOW);
	assert_int_equal(b.edge_count_, SENNIT_DAG_EDGES);
	sennit_dag_builder_destroy(&b);
}

/* --- no memory ---------------------------------------------------------- */

enum { NODES = 100 };

/* Build a chain; repeat each call until there is memory. Returns the number of
 * attempts. */
static unsigned build_somehow(sennit_dag **d, sennit_dag_builder *b)
{
	unsigned refused = 0;
	uint32_t node = 7;
	int      err;

	for (unsigned i = 0; i < NODES; i++) {
		while ((err = sennit_dag_builder_add(b, NULL, NULL, NULL,
						     &node))) {
			assert_int_equal(err, -ENOMEM);
			refused++;
		}
		assert_int_equal(node, i);
	}
	for (unsigned i = 1; i < NODES; i++)
		while ((err = sennit_dag_builder_order(b, i - 1, i))) {
			assert_int_equal(err, -ENOMEM);
			refused++;
		}
	while ((err = sennit_dag_build(d, b, NULL, 0))) {
		assert_int_equal(err, -ENOMEM);
		refused++;
	}
	return refused;
}

static void run_somehow(sennit_dag *d, struct counting_allocator *w,
			unsigned *refused)
{
	const long live = atomic_load(&w->live);
	int        err;

	while ((err = sennit_dag_run(d, NULL, NULL, SENNIT_NEVER))) {
		assert_int_equal(err, -ENOMEM);
		assert_int_equal(atomic_load(&w->live), live);
		++*refused;
	}
	assert_int_equal(atomic_load(&w->live), live);
}

TEST_WITH_WORKERS(without_memory_all_stays_as_it_was)
{
	unsigned refused;

	for (unsigned k = 1, calls = 1; k <= calls + 1; k++) {
		struct counting_allocator memory = { .failing = k };
		const sennit_allocator    a = COUNTING_ALLOCATOR(&memory);
		sennit_dag_builder        b;
		sennit_dag               *d;

		assert_int_equal(sennit_dag_builder_init(&b, &a), 0);
		refused = build_somehow(&d, &b);
		sennit_dag_builder_destroy(&b);
		assert_int_equal(atomic_load(&memory.live), 1);
		run_somehow(d, &memory, &refused);
		sennit_dag_destroy(d);
		assert_int_equal(atomic_load(&memory.live), 0);
		assert_int_equal(atomic_load(&memory.bytes), 0);
		assert_int_equal(refused, k <= atomic_load(&memory.calls));
		calls = atomic_load(&memory.calls);
	}
}

TEST_WITH_WORKERS(a_run_in_the_callers_memory_takes_none)
{
	struct counting_allocator memory = { .calls = 0 };
	const sennit_allocator    a = COUNTING_ALLOCATOR(&memory);
	sennit_dag_options        o = { .size = sizeof(o), .flags = 0 };
	sennit_dag_builder        b;
	sennit_dag               *d;
	char                      text[32] = "";
	unsigned                  calls;

	assert_int_equal(sennit_dag_builder_init(&b, &a), 0);
	must_add(&b, "a");
	must_add(&b, "b");
	must_order(&b, 1, 0);
	assert_int_equal(sennit_dag_build(&d, &b, NULL, 0), 0);
	sennit_dag_builder_destroy(&b);
	calls = atomic_load(&memory.calls);
	o.memory = malloc(sennit_dag_run_size(d));
	assert_non_null(o.memory);
	for (int i = 0; i < 3; i++)
		assert_int_equal(sennit_dag_run(d, text, &o, SENNIT_NEVER), 0);
	free(o.memory);
	assert_string_equal(text, "bababa");
	assert_int_equal(atomic_load(&memory.calls), calls);
	sennit_dag_destroy(d);
	assert_int_equal(atomic_load(&memory.live), 0);
}
