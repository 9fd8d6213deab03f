/* SPDX-License-Identifier: Apache-2.0 */
/* set_workers.c - workers start and retire while a scheduler runs: no task is
 * lost, no fiber changes its thread, and no thread is left.
 */
#include "attendance.h"
#include "refused_threads.h"

#include <errno.h>

/* The smallest stack on which a thread starts, in bytes. */
#if defined(SN_ASAN) || defined(SN_TSAN)
#define SMALL_STACK 0 /* the default, which sanitizers need */
#else
#define SMALL_STACK 16384
#endif

static sennit_scheduler *begin(uint32_t workers, uint32_t most,
			       enum sennit_start start)
{
	sennit_scheduler *s;
	uint32_t          i;

	for (i = 0; i < MOST; i++)
		atomic_store(&starts[i], 0);
	s = start_with(SENNIT_CONFIG(.workers = workers, .max_workers = most,
				     .start = start,
				     .thread_init = note_index));
	assert_int_equal(sennit_bind(s), 0);
	return s;
}

static void end(sennit_scheduler *s)
{
	sennit_unbind();
	end_scheduler(s);
}

/* --- adding and removing workers ----------------------------------------- */

static void workers_are_added_and_taken_away(void **state)
{
	const unsigned    before = threads_at_rest();
	sennit_scheduler *s = begin(2, MOST, SENNIT_START_NOW);
	uint32_t          n;

	(void)state;
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

static void numbers_out_of_range_are_refused(void **state)
{
	sennit_scheduler *s = begin(1, 2, SENNIT_START_NOW);

	(void)state;
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

static void a_refused_thread_changes_nothing(void **state)
{
	sennit_scheduler *s = begin(2, MOST, SENNIT_START_NOW);

	(void)state;
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
	sennit_event_wait(&g->go);
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
	uint32_t i;

	v->m = m;
	atomic_store(&m->expected, n);
	sennit_wait_group_init(&m->done, n);
	for (i = 0; i < n; i++)
		sennit_wait_group_init(&v->guest[i].gone, 2);
	for (i = 0; i < n; i++)
		must_schedule(leave_guest, v);
	sennit_wait_group_wait(&m->done);
	for (i = 0; i < n; i++)
		assert_soon(atomic_load(&v->guest[i].there));
}

static void expect_guests_go(struct visit *v, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		sennit_event_set(&v->guest[i].go);
		sennit_wait_group_wait(&v->guest[i].gone);
		EXPECT(v->guest[i].index == i);
		EXPECT(atomic_load(&v->guest[i].ran) == 1);
	}
}

static void a_fiber_of_a_retiring_worker_resumes_on_its_thread(void **state)
{
	const unsigned    before = threads_at_rest();
	sennit_scheduler *s = begin(MOST, 0, SENNIT_START_NOW);
	struct visit      v = { .m = NULL };
	struct meeting    m = { .expected = 0 };

	(void)state;
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

static void a_retiring_worker_is_called_back(void **state)
{
	const unsigned    before = threads_at_rest();
	sennit_scheduler *s = begin(MOST, 0, SENNIT_START_NOW);
	struct visit      v = { .m = NULL };
	struct meeting    m = { .expected = 0 };

	(void)state;
	leave_guests(&v, &m, MOST);
	assert_int_equal(sennit_scheduler_set_workers(s, 1), 0);
	assert_int_equal(sennit_scheduler_set_workers(s, MOST), 0);
	assert_int_equal(workers_at_once(MOST), (1u << MOST) - 1);
	assert_int_equal(threads_now(), before + MOST);
	assert_int_equal(atomic_load(&starts[MOST - 1]), 1);
	expect_guests_go(&v, MOST);
	end(s);
}

static void the_end_waits_for_retiring_workers(void **state)
{
	sennit_scheduler *s = begin(2, 0, SENNIT_START_NOW);
	struct visit      v = { .m = NULL };
	struct meeting    m = { .expected = 0 };

	(void)state;
	leave_guests(&v, &m, 2);
	assert_int_equal(sennit_scheduler_set_workers(s, 1), 0);
	sennit_unbind();
	assert_int_equal(sennit_scheduler_shutdown(s, 0), -ETIMEDOUT);
	assert_int_equal(sennit_bind(s), 0);
	expect_guests_go(&v, 2);
	end(s);
}

/* --- under load --------------------------------------------------------- */

struct load {
	atomic_ullong     made, ran;
	atomic_bool       over;
	sennit_wait_group left;
};

/* Each task starts another until the end of the test. Every tenth task waits
 * briefly. */
static void breed(void *argument)
{
	struct load *l = argument;

	if (!atomic_load(&l->over)) {
		sennit_wait_group_add(&l->left, 1);
		if (atomic_fetch_add(&l->made, 1) % 10 == 0)
			sennit_yield();
		must_schedule(breed, l);
	}
	atomic_fetch_add(&l->ran, 1);
	sennit_wait_group_done(&l->left);
}

static void no_task_is_lost_under_load(void **state)
{
	const enum sennit_start starts_[] = { SENNIT_START_NOW,
					      SENNIT_START_LAZY };
	unsigned                i, k;

	(void)state;
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

static void tasks_of_a_held_worker_reach_one_that_never_rests(void **state)
{
	sennit_scheduler *s = begin(2, 0, SENNIT_START_NOW);
	struct hold       h = { .give_up = sennit_after(GIVE_UP) };

	(void)state;
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

/* --- threads started later ---------------------------------------------- */

static void idle_lazy_schedulers_have_one_thread(void **state)
{
	const unsigned    before = threads_at_rest();
	sennit_scheduler *s = begin(MOST, 0, SENNIT_START_LAZY);

	(void)state;
	assert_int_equal(sennit_scheduler_workers(s), MOST);
	sennit_sleep(5 * SENNIT_MILLISECOND);
	assert_int_equal(threads_now(), before + 1);
	end(s);
	s = begin(MOST, 0, SENNIT_START_LAZY);
	end(s);
}

static void late_workers_come_when_needed(void **state)
{
	const unsigned    before = threads_at_rest();
	sennit_scheduler *s = begin(MOST, 0, SENNIT_START_LAZY);

	(void)state;
	assert_int_equal(workers_at_once(MOST), (1u << MOST) - 1);
	assert_int_equal(threads_now(), before + MOST);
	assert_int_equal(sennit_scheduler_set_workers(s, 1), 0);
	assert_soon(threads_now() == before + 1);
	assert_int_equal(sennit_scheduler_set_workers(s, MOST), 0);
	assert_int_equal(workers_at_once(MOST), (1u << MOST) - 1);
	end(s);
}

static void schedule_meetings(void *argument)
{
	struct meeting *m = argument;
	uint32_t        i;

	for (i = 1; i < MOST; i++)
		must_schedule(meet, m);
	meet(m);
}

static void late_workers_come_for_work_of_tasks(void **state)
{
	sennit_scheduler *s = start_with(
		SENNIT_CONFIG(.workers = MOST, .start = SENNIT_START_LAZY,
			      .thread_init = note_index,
			      .stack_size = SMALL_STACK));
	struct meeting m = { .expected = MOST };

	(void)state;
	assert_int_equal(sennit_bind(s), 0);
	sennit_wait_group_init(&m.done, MOST);
	must_schedule(schedule_meetings, &m);
	sennit_wait_group_wait(&m.done);
	assert_int_equal(atomic_load(&m.there), MOST);
	end(s);
}

static void added_late_workers_come_for_work_that_lies_there(void **state)
{
	sennit_scheduler *s = begin(1, MOST, SENNIT_START_LAZY);
	struct meeting    m = { .expected = MOST };

	(void)state;
	sennit_wait_group_init(&m.done, MOST);
	must_schedule(schedule_meetings, &m);
	assert_soon(atomic_load(&m.there) == 1);
	assert_int_equal(sennit_scheduler_set_workers(s, MOST), 0);
	sennit_wait_group_wait(&m.done);
	assert_int_equal(atomic_load(&m.there), MOST);
	end(s);
}

static void refused_late_threads_lose_no_task(void **state)
{
	sennit_scheduler *s = begin(MOST, 0, SENNIT_START_LAZY);
	struct load       l = { .over = true, .made = 100 };
	unsigned          i;

	(void)state;
	atomic_store(&threads_are_refused, true);
	sennit_wait_group_init(&l.left, 100);
	for (i = 0; i < 100; i++)
		must_schedule(breed, &l);
	sennit_wait_group_wait(&l.left);
	EXPECT(atomic_load(&l.ran) == 100);
	EXPECT(atomic_load(&starts[1]) == 0);
	atomic_store(&threads_are_refused, false);
	assert_int_equal(sennit_scheduler_set_workers(s, MOST), 0);
	assert_int_equal(workers_at_once(MOST), (1u << MOST) - 1);
	end(s);
}

static void add_rounding_up(void *argument)
{
	fesetround(FE_UPWARD);
	must_schedule(meet, argument);
	meet(argument);
}

/* The thread that may start the second worker rounds upwards. */
static void late_threads_have_the_creators_floating_point(void **state)
{
	sennit_scheduler *s = begin(2, 0, SENNIT_START_LAZY);
	struct meeting    m = { .expected = 2 };

	(void)state;
	sennit_wait_group_init(&m.done, 2);
	fesetround(FE_UPWARD);
	must_schedule(add_rounding_up, &m);
	sennit_wait_group_wait(&m.done);
	fesetround(FE_TONEAREST);
	assert_int_equal(atomic_load(&rounding[1]), FE_TONEAREST);
	end(s);
}

/* --- the end ------------------------------------------------------------ */

static void shutdown_may_come_while_workers_come_and_go(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < LOAD(200); i++) {
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
	(void)argument;
	sennit_scheduler_release(resized);
	EXPECT(sennit_scheduler_set_workers(sennit_current(), 5) == 0);
	EXPECT(sennit_scheduler_set_workers(sennit_current(), 1) == 0);
}

static void a_task_may_resize_without_a_reference(void **state)
{
	const unsigned    before = threads_at_rest();
	const sennit_task t = { .run = resize_as_last_act };

	(void)state;
	resized = start_with(SENNIT_CONFIG(.workers = 2, .max_workers = 5));
	assert_int_equal(sennit_enqueue(resized, &t), 0);
	assert_soon(threads_now() == before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ALONE(workers_are_added_and_taken_away),
		ALONE(numbers_out_of_range_are_refused),
		ALONE(a_refused_thread_changes_nothing),
		ALONE(a_fiber_of_a_retiring_worker_resumes_on_its_thread),
		ALONE(a_retiring_worker_is_called_back),
		ALONE(the_end_waits_for_retiring_workers),
		ALONE(no_task_is_lost_under_load),
		ALONE(tasks_of_a_held_worker_reach_one_that_never_rests),
		ALONE(idle_lazy_schedulers_have_one_thread),
		ALONE(late_workers_come_when_needed),
		ALONE(late_workers_come_for_work_of_tasks),
		ALONE(added_late_workers_come_for_work_that_lies_there),
		ALONE(refused_late_threads_lose_no_task),
		ALONE(late_threads_have_the_creators_floating_point),
		ALONE(shutdown_may_come_while_workers_come_and_go),
		ALONE(a_task_may_resize_without_a_reference),
	};

	return cmocka_run_group_tests_name("api/set_workers", tests, warm_up,
					   NULL);
}
