/* SPDX-License-Identifier: Apache-2.0 */
/* binding.c - threads and schedulers: bind, unbind, and which threads may
 * enqueue. */
#include "testing/with_workers.h"

static void count_one(void *counter)
{
	atomic_fetch_add((atomic_uint *)counter, 1);
}

static void raise_flag(void *flag)
{
	atomic_store((atomic_bool *)flag, true);
}

TEST_WITH_COUNTS(bind_ties_the_scheduler_to_the_thread)
{
	sennit_scheduler *s = start_scheduler(w->workers);

	assert_null(sennit_scheduler_current());
	assert_null(sennit_fiber_current());
	assert_int_equal(sennit_thread_bind(s), 0);
	assert_ptr_equal(sennit_scheduler_current(), s);
	assert_non_null(sennit_fiber_current());
	assert_int_equal(sennit_fiber_number(sennit_fiber_current()), 0);
	sennit_thread_unbind();
	assert_null(sennit_scheduler_current());
	assert_null(sennit_fiber_current());
	end_scheduler(s);
}

TEST_WITH_COUNTS(a_thread_may_bind_again)
{
	sennit_scheduler *s = start_scheduler(w->workers);
	atomic_uint       ran = 0;

	for (unsigned i = 0; i < 10; i++) {
		assert_int_equal(sennit_thread_bind(s), 0);
		in_a_task(count_one, &ran);
		sennit_thread_unbind();
	}
	assert_int_equal(atomic_load(&ran), 10);
	end_scheduler(s);
}

TEST_WITH_COUNTS(a_thread_may_bind_to_one_after_another)
{
	sennit_scheduler *a = start_scheduler(w->workers);
	sennit_scheduler *b = start_scheduler(w->workers);
	atomic_uint       ran = 0;

	assert_int_equal(sennit_thread_bind(a), 0);
	in_a_task(count_one, &ran);
	sennit_thread_unbind();
	assert_int_equal(sennit_thread_bind(b), 0);
	assert_ptr_equal(sennit_scheduler_current(), b);
	in_a_task(count_one, &ran);
	sennit_thread_unbind();
	assert_int_equal(atomic_load(&ran), 2);
	end_scheduler(a);
	end_scheduler(b);
}

TEST_WITH_COUNTS(binding_holds_a_reference)
{
	sennit_scheduler *s;
	atomic_bool       gone = false;
	atomic_uint       ran = 0;

	s = start_with(SENNIT_CONFIG(.workers = w->workers,
				     .on_shutdown = raise_flag,
				     .on_shutdown_context = &gone));
	assert_int_equal(sennit_thread_bind(s), 0);
	sennit_scheduler_release(s);
	in_a_task(count_one, &ran);
	assert_int_equal(atomic_load(&ran), 1);
	assert_false(atomic_load(&gone));
	sennit_thread_unbind();
	assert_soon(atomic_load(&gone));
}

struct tree {
	atomic_uint ran;
	unsigned    depth;
};

static void grow(void *argument)
{
	struct tree *t = argument;

	if (atomic_fetch_add(&t->ran, 1) < 50)
		must_schedule_here(grow, t);
}

TEST_WITH_COUNTS(unbind_runs_every_queued_task)
{
	sennit_scheduler *s = start_scheduler(w->workers);
	atomic_uint       ran = 0;

	assert_int_equal(sennit_thread_bind(s), 0);
	for (unsigned i = 0; i < 1000; i++)
		must_schedule_here(count_one, &ran);
	sennit_thread_unbind();
	assert_int_equal(atomic_load(&ran), 1000);
	end_scheduler(s);
}

TEST_WITH_COUNTS(unbind_runs_what_those_tasks_schedule)
{
	sennit_scheduler *s = start_scheduler(w->workers);
	struct tree       t = { 0 };

	assert_int_equal(sennit_thread_bind(s), 0);
	must_schedule_here(grow, &t);
	sennit_thread_unbind();
	assert_int_equal(atomic_load(&t.ran), 51);
	end_scheduler(s);
}

struct blocked {
	sennit_scheduler *s;
	sennit_event      go;
	atomic_uint       waiting;
	atomic_uint       resumed;
};

static void wait_to_go(void *argument)
{
	struct blocked *b = argument;

	atomic_fetch_add(&b->waiting, 1);
	EXPECT(!sennit_event_wait(&b->go));
	atomic_fetch_add(&b->resumed, 1);
}

static void *let_them_go(void *argument)
{
	struct blocked *b = argument;

	EXPECT_SOON(atomic_load(&b->waiting) == 100);
	EXPECT_SOON(fibers_of(b->s) >= 100);
	sennit_event_set(&b->go);
	return NULL;
}

TEST_WITH_COUNTS(unbind_waits_for_its_blocked_fibers)
{
	struct blocked b = { .s = start_scheduler(w->workers) };
	pthread_t      t;

	sennit_event_init(&b.go, SENNIT_EVENT_MANUAL);
	assert_int_equal(sennit_thread_bind(b.s), 0);
	for (unsigned i = 0; i < 100; i++)
		must_schedule_here(wait_to_go, &b);
	t = must_start_thread(let_them_go, &b);
	sennit_thread_unbind();
	assert_int_equal(atomic_load(&b.resumed), 100);
	pthread_join(t, NULL);
	end_scheduler(b.s);
}

static void sleep_a_little(void *flag)
{
	sennit_sleep(5 * SENNIT_MILLISECOND);
	atomic_store((atomic_bool *)flag, true);
}

TEST_WITH_COUNTS(unbind_waits_for_a_sleeping_fiber)
{
	sennit_scheduler *s = start_scheduler(w->workers);
	atomic_bool       woke = false;

	assert_int_equal(sennit_thread_bind(s), 0);
	must_schedule_here(sleep_a_little, &woke);
	sennit_thread_unbind();
	assert_true(atomic_load(&woke));
	end_scheduler(s);
}

struct nested {
	sennit_scheduler *s;
	atomic_uint       ran;
};

static void schedule_and_wait(void *argument)
{
	struct nested *n = argument;

	EXPECT(sennit_scheduler_current() == n->s);
	EXPECT(sennit_fiber_current() != NULL);
	in_a_task(count_one, &n->ran);
}

TEST_WITH_WORKERS(tasks_run_bound)
{
	struct nested n = { .s = w->s };

	in_a_task(schedule_and_wait, &n);
	assert_int_equal(atomic_load(&n.ran), 1);
}

static void enqueue_from_outside(void *argument)
{
	struct nested    *n = argument;
	const sennit_task t = { .run = count_one, .argument = &n->ran };

	EXPECT(sennit_scheduler_current() == NULL);
	for (unsigned i = 0; i < 100; i++)
		EXPECT(sennit_schedule_task_on(n->s, &t) == 0);
}

TEST_WITH_THREADS(an_unbound_thread_may_enqueue)
{
	struct nested n = { .s = w->s };

	in_a_thread(enqueue_from_outside, &n);
	assert_soon(atomic_load(&n.ran) == 100);
}

/* --- a thousand bound threads ------------------------------------------- */

struct crowd {
	sennit_scheduler *s;
	sennit_wait_group bound; /* reaches zero when all threads are bound */
	atomic_uint       ran;
	atomic_uint       home;
};

static void *join_the_crowd(void *argument)
{
	struct crowd *c = argument;

	EXPECT(sennit_thread_bind(c->s) == 0);
	sennit_wait_group_done(&c->bound);
	sennit_wait_group_wait(&c->bound);
	EXPECT(sennit_scheduler_current() == c->s);
	in_a_task(count_one, &c->ran);
	must_schedule_here(count_one, &c->home);
	sennit_thread_unbind();
	return NULL;
}

TEST_WITH_WORKERS(a_thousand_threads_are_bound_at_once)
{
	/* The stacks of a thousand threads are 8 GiB of addresses. */
	enum { COUNT = LOAD(sizeof(void *) < 8 ? 100 : 1000) };
	static pthread_t threads[COUNT];
	struct crowd     c = { .s = w->s };

	sennit_wait_group_init(&c.bound, COUNT);
	for (unsigned i = 0; i < COUNT; i++)
		threads[i] = must_start_thread(join_the_crowd, &c);
	for (unsigned i = 0; i < COUNT; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&c.ran), COUNT);
	assert_int_equal(atomic_load(&c.home), COUNT);
}
