/* SPDX-License-Identifier: Apache-2.0 */
/* local_threads.c - local values of threads, bound and unbound, and in the
 * child of a fork; misuse of keys. */
#include "testing/child.h"
#include "local_values.h"

/* --- threads ------------------------------------------------------------ */

static void *set_and_exit(void *argument)
{
	struct local_case *w = argument;

	find_nothing_and_set(w);
	EXPECT(sennit_local_get(w->key) == w);
	return NULL;
}

TEST_WITH_WORKERS(values_of_a_thread_end_with_it)
{
	struct local_case values = { .key = must_create(count_up) };
	pthread_t         t;

	sennit_wait_group_init(&values.done, 1);
	t = must_start_thread(set_and_exit, &values);
	sennit_wait_group_wait(&values.done);
	pthread_join(t, NULL);
	assert_int_equal(atomic_load(&values.ended), 1);
	sennit_local_key_destroy(values.key);
}

struct guest {
	sennit_scheduler *s;
	struct local_case will;
};

static void see_nothing(void *argument)
{
	struct local_case *w = argument;

	EXPECT(!sennit_local_get(w->key));
	must_set(w->key, w);
}

static void *bind_and_unbind(void *argument)
{
	struct guest      *g = argument;
	struct local_case *w = &g->will;

	must_set(w->key, &g->s);
	EXPECT(sennit_thread_bind(g->s) == 0);
	EXPECT(sennit_local_get(w->key) == &g->s);
	must_set(w->other, w);
	must_schedule_here(see_nothing, w);
	sennit_yield();
	EXPECT(sennit_local_get(w->key) == &g->s);
	must_schedule_here(see_nothing, w);
	sennit_thread_unbind();
	EXPECT(sennit_local_get(w->key) == &g->s);
	EXPECT(sennit_local_get(w->other) == w);
	EXPECT(atomic_load(&w->ended) == 0);
	sennit_wait_group_done(&w->done);
	return NULL;
}

TEST_WITH_WORKERS(a_thread_keeps_its_values_when_it_binds_and_unbinds)
{
	struct guest g = { .s = w->s };
	pthread_t    t;

	g.will.key = must_create(NULL);
	g.will.other = must_create(count_up);
	sennit_wait_group_init(&g.will.done, 1);
	t = must_start_thread(bind_and_unbind, &g);
	sennit_wait_group_wait(&g.will.done);
	pthread_join(t, NULL);
	assert_int_equal(atomic_load(&g.will.ended), 1);
	sennit_local_key_destroy(g.will.key);
	sennit_local_key_destroy(g.will.other);
}

static pthread_key_t unbinding_key;

static void unbind_at_exit(void *value)
{
	sennit_thread_unbind();
}

static void *exit_bound(void *argument)
{
	struct guest *g = argument;

	EXPECT(sennit_thread_bind(g->s) == 0);
	must_set(g->will.key, &g->will);
	EXPECT(pthread_setspecific(unbinding_key, g) == 0);
	sennit_wait_group_done(&g->will.done);
	return NULL;
}

TEST_WITH_WORKERS(a_thread_may_unbind_in_a_destructor_of_its_own)
{
	struct guest g = { .s = w->s };
	pthread_t    t;

	assert_int_equal(pthread_key_create(&unbinding_key, unbind_at_exit), 0);
	g.will.key = must_create(count_up);
	sennit_wait_group_init(&g.will.done, 1);
	t = must_start_thread(exit_bound, &g);
	sennit_wait_group_wait(&g.will.done);
	pthread_join(t, NULL);
	assert_int_equal(atomic_load(&g.will.ended), 1);
	sennit_local_key_destroy(g.will.key);
	pthread_key_delete(unbinding_key);
}

static void wait_to_go(void *argument)
{
	struct local_case *w = argument;

	EXPECT(!sennit_event_wait(&w->go));
}

static void set_and_let_go(void *argument)
{
	struct local_case *w = argument;

	EXPECT(!sennit_local_get(w->key));
	must_set(w->key, w);
	sennit_event_set(&w->go);
	sennit_yield();
}

/* Another thread has the only stack, so this one has only its own. */
static void run_a_task_on_own_stack(void *argument)
{
	struct guest *g = argument;
	int           own;

	must_set(g->will.key, &own);
	EXPECT(sennit_thread_bind(g->s) == 0);
	must_schedule(set_and_let_go, &g->will);
	sennit_thread_unbind();
	EXPECT(sennit_local_get(g->will.key) == &own);
	EXPECT(atomic_load(&g->will.ended) == 1);
	must_set(g->will.key, NULL);
}

TEST_ALONE(a_task_on_the_threads_own_stack_has_values_of_its_own)
{
	struct guest g = { .s = start_with(
				   SENNIT_CONFIG(.workers = SENNIT_WORKERS_NONE,
						 .max_fibers = 1)) };

	g.will.key = must_create(count_up);
	assert_int_equal(sennit_thread_bind(g.s), 0);
	must_schedule(wait_to_go, &g.will);
	assert_soon(fibers_of(g.s) >= 1);
	in_a_thread(run_a_task_on_own_stack, &g);
	sennit_thread_unbind();
	sennit_local_key_destroy(g.will.key);
	end_scheduler(g.s);
}

/* --- forks -------------------------------------------------------------- */

/* The exit status of a child that finds `expected` under the key. */
static int fork_and_get(sennit_local_key key, const void *expected)
{
	const pid_t child = begin_child();

	if (!child)
		_exit(sennit_local_get(key) == expected ? 0 : 1);
	return await_child(child);
}

static void fork_in_a_task(void *argument)
{
	struct local_case *w = argument;

	must_set(w->key, w);
	/* A value of the forking thread's own stack. A worker's stack has
	 * none. */
	EXPECT(fork_and_get(w->key, w->other.index_ ? NULL : &w->go) == 0);
}

TEST_WITH_WORKERS(the_child_of_a_fork_has_the_threads_values)
{
	struct local_case values = { .key = must_create(NULL) };

	must_set(values.key, &values.go);
	assert_int_equal(fork_and_get(values.key, &values.go), 0);
	values.other.index_ = w->threads;
	in_a_task(fork_in_a_task, &values);
	sennit_local_key_destroy(values.key);
}

/* --- misuse ------------------------------------------------------------- */

static sennit_local_key deleted_key(void)
{
	const sennit_local_key key = must_create(NULL);

	sennit_local_key_destroy(key);
	return key;
}

MISUSE_BY(deleting_a_key_twice, "sennit_local_key_destroy",
	  sennit_local_key_destroy(deleted_key()));
MISUSE_BY(setting_under_a_deleted_key, "sennit_local_set",
	  (void)!sennit_local_set(deleted_key(), o->s));
MISUSE_BY(setting_under_no_key, "sennit_local_set",
	  (void)!sennit_local_set((sennit_local_key){ 0, 0 }, o->s));
