/* SPDX-License-Identifier: Apache-2.0 */
/* set_workers.c - workers start and retire while a scheduler runs: no task is
 * lost, no fiber changes its thread, and no thread is left.
 */
#include "resizing.h"
#include "attendance.h"

#include <errno.h>

/* --- adding and removing workers ----------------------------------------- */

TEST_ALONE(workers_are_added_and_taken_away)
{
	const unsigned    before = threads_at_rest();
	sennit_scheduler *s = begin(2, MOST, SENNIT_START_NOW);
	uint32_t          n;

	for (n = MOST; n; n /= 2) {
		/* Usually asleep by then; the test does not depend on it. */
		sennit_sleep(3 * SENNIT_MILLISECOND);
		assert_int_equal(sennit_scheduler_set_workers(s, n), 0);
		assert_int_equal(sennit_scheduler_workers(s), n);
		assert_soon(threads_now() == before + n);
		assert_int_equal(workers_at_once(n), (1u << n) - 1);
	}
	assert_int_equal(sennit_scheduler_set_workers(s, MOST), 0);
	assert_int_equal(workers_at_once(MOST), (1u << MOST) - 1);
	assert_int_equal(atomic_load(&starts[0]), 1);
	end(s);
	assert_soon(threads_now() == before);
}

TEST_ALONE(numbers_out_of_range_are_refused)
{
	sennit_scheduler *s = begin(1, 2, SENNIT_START_NOW);

	assert_int_equal(sennit_scheduler_set_workers(s, 0), -EINVAL);
	assert_int_equal(sennit_scheduler_set_workers(s, 3), -EINVAL);
	assert_int_equal(sennit_scheduler_set_workers(s, UINT32_MAX), -EINVAL);
	assert_int_equal(sennit_scheduler_workers(s), 1);
	end(s);
	s = begin(SENNIT_WORKERS_NONE, 0, SENNIT_START_NOW);
	assert_int_equal(sennit_scheduler_set_workers(s, 1), -EINVAL);
	end(s);
	s = begin(3, 0, SENNIT_START_NOW);
	assert_int_equal(sennit_scheduler_set_workers(s, 4), -EINVAL);
	assert_int_equal(sennit_scheduler_set_workers(s, 3), 0);
	end(s);
}

TEST_ALONE(a_refused_thread_changes_nothing)
{
	sennit_scheduler *s = begin(2, MOST, SENNIT_START_NOW);

	atomic_store(&threads_are_refused, true);
	EXPECT(sennit_scheduler_set_workers(s, MOST) == -EAGAIN);
	EXPECT(sennit_scheduler_workers(s) == 2);
	atomic_store(&threads_are_refused, false);
	assert_int_equal(workers_at_once(2), 3);
	assert_int_equal(sennit_scheduler_set_workers(s, MOST), 0);
	assert_int_equal(workers_at_once(MOST), (1u << MOST) - 1);
	end(s);
}

/* --- pinned fibers and tasks -------------------------------------------- */

struct guest {
	sennit_event      go;
	atomic_uint       there; /* guests that wait */
	sennit_wait_group gone;
	atomic_uint       ran; /* same-thread tasks */
	uint32_t          index;
	pthread_t         thread;
};

static void run_where_guest_is(void *argument)
{
	struct guest *g = argument;

	EXPECT(pthread_equal(pthread_self(), g->thread));
	atomic_fetch_add(&g->ran, 1);
	sennit_wait_group_done(&g->gone);
}

static void stay(void *argument)
{
	struct guest *g = argument;

	g->thread = pthread_self();
	g->index = my_index;
	atomic_fetch_add(&g->there, 1);
	EXPECT(!sennit_event_wait(&g->go));
	EXPECT(pthread_equal(pthread_self(), g->thread));
	EXPECT(my_index == g->index);
	must_schedule_here(run_where_guest_is, g);
	sennit_wait_group_done(&g->gone);
}

struct visit {
	struct meeting *m;
	struct guest    guest[MOST];
};

/* Start a fiber that waits, then keep the worker busy until all workers have
 * one. */
static void leave_guest(void *argument)
{
	struct visit *v = argument;

	must_schedule_here(stay, &v->guest[my_index]);
	meet(v->m);
}

static void leave_guests(struct visit *v, struct meeting *m, uint32_t n)
{
	v->m = m;
	atomic_store(&m->expected, n);
	sennit_wait_group_init(&m->done, n);
	for (uint32_t i = 0; i < n; i++)
		sennit_wait_group_init(&v->guest[i].gone, 2);
	for (uint32_t i = 0; i < n; i++)
		must_schedule(leave_guest, v);
	sennit_wait_group_wait(&m->done);
	for (uint32_t i = 0; i < n; i++)
		assert_soon(atomic_load(&v->guest[i].there));
}

static void expect_guests_go(struct visit *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		sennit_event_set(&v->guest[i].go);
		sennit_wait_group_wait(&v->guest[i].gone);
		EXPECT(v->guest[i].index == i);
		EXPECT(atomic_load(&v->guest[i].ran) == 1);
	}
}

TEST_ALONE(a_fiber_of_a_retiring_worker_resumes_on_its_thread)
{
	const unsigned    before = threads_at_rest();
	sennit_scheduler *s = begin(MOST, 0, SENNIT_START_NOW);
	struct visit      v = { .m = NULL };
	struct meeting    m = { .expected = 0 };

	leave_guests(&v, &m, MOST);
	assert_int_equal(sennit_scheduler_set_workers(s, 1), 0);
	/* A worker that was just searching may take one last task. */
	assert_soon(workers_at_once(1) == 1);
	assert_int_equal(threads_now(), before + MOST); /* the guests keep their
							 * threads */
	expect_guests_go(&v, MOST);
	assert_soon(threads_now() == before + 1);
	end(s);
}

TEST_ALONE(a_retiring_worker_is_called_back)
{
	const unsigned    before = threads_at_rest();
	sennit_scheduler *s = begin(MOST, 0, SENNIT_START_NOW);
	struct visit      v = { .m = NULL };
	struct meeting    m = { .expected = 0 };

	leave_guests(&v, &m, MOST);
	assert_int_equal(sennit_scheduler_set_workers(s, 1), 0);
	assert_int_equal(sennit_scheduler_set_workers(s, MOST), 0);
	assert_int_equal(workers_at_once(MOST), (1u << MOST) - 1);
	assert_int_equal(threads_now(), before + MOST);
	assert_int_equal(atomic_load(&starts[MOST - 1]), 1);
	expect_guests_go(&v, MOST);
	end(s);
}

TEST_ALONE(the_end_waits_for_retiring_workers)
{
	sennit_scheduler *s = begin(2, 0, SENNIT_START_NOW);
	struct visit      v = { .m = NULL };
	struct meeting    m = { .expected = 0 };

	leave_guests(&v, &m, 2);
	assert_int_equal(sennit_scheduler_set_workers(s, 1), 0);
	sennit_thread_unbind();
	assert_int_equal(sennit_scheduler_shutdown(s, 0), -ETIMEDOUT);
	assert_int_equal(sennit_thread_bind(s), 0);
	expect_guests_go(&v, 2);
	end(s);
}

/* --- under load --------------------------------------------------------- */

TEST_ALONE(no_task_is_lost_under_load)
{
	const enum sennit_start starts_[] = { SENNIT_START_NOW,
					      SENNIT_START_LAZY };
	unsigned                i, k;

	for (k = 0; k < 2; k++) {
		sennit_scheduler *s = begin(4, MOST, starts_[k]);
		struct load       l = { .made = 100 };

		sennit_wait_group_init(&l.left, 100);
		for (i = 0; i < 100; i++)
			must_schedule(breed, &l);
		for (i = 0; i < LOAD(400); i++) {
			assert_int_equal(
				sennit_scheduler_set_workers(s, 1 + i * 5 % 8),
				0);
			sennit_sleep(i % 4 * 50 * SENNIT_MICROSECOND);
		}
		atomic_store(&l.over, true);
		sennit_wait_group_wait(&l.left);
		assert_true(atomic_load(&l.ran) == atomic_load(&l.made));
		end(s);
	}
}

struct hold {
	atomic_bool go[2];
	atomic_uint there, ran;
	sennit_time give_up;
};

static void count_run(void *argument)
{
	atomic_fetch_add(&((struct hold *)argument)->ran, 1);
}

/* Keep its worker busy with its own tasks until both other tasks have run. */
static void never_rest(void *argument)
{
	struct hold *h = argument;

	if (atomic_load(&h->ran) < 2 && sennit_now() < h->give_up)
		must_schedule(never_rest, h);
}

static void hold_worker(void *argument)
{
	struct hold *h = argument;

	atomic_fetch_add(&h->there, 1);
	while (!atomic_load(&h->go[my_index]) && sennit_now() < h->give_up)
		sched_yield();
	if (!my_index)
		never_rest(h);
}

TEST_ALONE(tasks_of_a_held_worker_reach_one_that_never_rests)
{
	sennit_scheduler *s = begin(2, 0, SENNIT_START_NOW);
	struct hold       h = { .give_up = sennit_after(GIVE_UP) };

	must_schedule(hold_worker, &h);
	must_schedule(hold_worker, &h);
	assert_soon(atomic_load(&h.there) == 2);
	must_schedule(count_run, &h);
	must_schedule(count_run, &h); /* one in each inbox */
	assert_int_equal(sennit_scheduler_set_workers(s, 1), 0);
	atomic_store(&h.go[0], true);
	while (atomic_load(&h.ran) < 2 && sennit_now() < h.give_up)
		sched_yield();
	EXPECT(sennit_now() < h.give_up);
	atomic_store(&h.go[1], true);
	end(s);
}

/* --- the end ------------------------------------------------------------ */

TEST_ALONE(shutdown_may_come_while_workers_come_and_go)
{
	for (unsigned i = 0; i < LOAD(200); i++) {
		sennit_scheduler *s = begin(1 + i % 3, MOST,
					    i % 2 ? SENNIT_START_NOW
						  : SENNIT_START_LAZY);
		struct load       l = { .over = true, .made = 10 };
		unsigned          k;

		sennit_wait_group_init(&l.left, 10);
		for (k = 0; k < 10; k++)
			must_schedule(breed, &l);
		assert_int_equal(sennit_scheduler_set_workers(s, 1 + i % MOST),
				 0);
		if (i % 5)
			assert_int_equal(sennit_scheduler_set_workers(
						 s, 1 + i / 2 % MOST),
					 0);
		end(s);
		assert_int_equal(atomic_load(&l.ran), 10);
	}
}

static sennit_scheduler *resized;

static void resize_as_last_act(void *argument)
{
	sennit_scheduler_release(resized);
	EXPECT(sennit_scheduler_set_workers(sennit_scheduler_current(), 5) ==
	       0);
	EXPECT(sennit_scheduler_set_workers(sennit_scheduler_current(), 1) ==
	       0);
}

TEST_ALONE(a_task_may_resize_without_a_reference)
{
	const unsigned    before = threads_at_rest();
	const sennit_task t = { .run = resize_as_last_act };

	resized = start_with(SENNIT_CONFIG(.workers = 2, .max_workers = 5));
	assert_int_equal(sennit_schedule_task_on(resized, &t), 0);
	assert_soon(threads_now() == before);
}

BEFORE_ALL(warm_up);
