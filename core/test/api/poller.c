/* SPDX-License-Identifier: Apache-2.0 */
/* poller.c - a worker that has a poller polls it, sleeps in it, and is woken
 * from it, by completions and by other threads alike.
 */
#include "post_box.h"

/* --- attaching ---------------------------------------------------------- */

static void attach_as_thread(void *unused)
{
	sennit_poller p = { .ops = &box_ops };

	EXPECT(sennit_poller_attach(&p) == -EPERM);
	EXPECT(!sennit_poller_current());
	EXPECT(!sennit_poller_allocator());
}

static void attach_twice(void *unused)
{
	const sennit_poller_ops other = { .size = 1 };
	sennit_poller           p = { .ops = &other };
	struct post_box        *b;

	if (!sennit_poller_current())
		EXPECT(sennit_poller_attach(&p) == -EINVAL);
	b = my_box();
	EXPECT(sennit_poller_current() == &b->p);
	EXPECT(sennit_poller_attach(&p) == -EBUSY);
	EXPECT(sennit_poller_allocator()->allocate);
}

/* The worker frees its poller. */
static int close_counted(void **state)
{
	int failed = close_world(state);

	return failed || atomic_load(&made) != atomic_load(&destroyed) ? -1 : 0;
}

#define TEST_WITH_POLLERS(f) \
	TEST_IN_WORLDS(f, WITH_WORKERS(f, open_world, close_counted))

TEST_WITH_POLLERS(a_worker_has_one_poller)
{
	attach_twice(NULL);
	in_a_task(attach_twice, NULL);
	in_a_thread(attach_as_thread, NULL);
}

/* --- waiting ------------------------------------------------------------ */

struct exchange {
	struct post                n;
	_Atomic(struct post_box *) box;
	int                        err;
	atomic_bool                over;
	sennit_wait_group          yielded; /* only where one yields */
};

static void wait_for_post(void *argument)
{
	struct exchange *x = argument;

	atomic_store(&x->box, my_box());
	x->err = sennit_poller_wait(&x->n.op, 42, SENNIT_NEVER);
	EXPECT(!x->err && x->n.op.result == 7);
	atomic_store(&x->over, true);
}

static void *post_as_thread(void *argument)
{
	struct exchange *x = argument;
	struct post_box *b;

	while (!(b = atomic_load(&x->box)))
		sched_yield();
	post(b, &x->n, 7);
	wake_box(&b->p);
	return NULL;
}

TEST_WITH_POLLERS(a_completion_ends_the_wait)
{
	enum { ROUNDS = LOAD(300) };

	for (int i = 0; i < ROUNDS; i++) {
		struct exchange x = { .err = 1 };
		pthread_t       t;

		t = must_start_thread(post_as_thread, &x);
		in_a_task(wait_for_post, &x);
		pthread_join(t, NULL);
	}
}

static void wait_in_vain(void *argument)
{
	struct exchange *x = argument;

	my_box();
	EXPECT(sennit_poller_wait(&x->n.op, 42, 0) == -ETIMEDOUT);
	EXPECT(sennit_poller_wait(&x->n.op, 42,
				  sennit_after(3 * SENNIT_MILLISECOND)) ==
	       -ETIMEDOUT);
	EXPECT(!x->n.op.done);
	sennit_poller_complete(&x->n.op, 5);
	EXPECT(sennit_poller_wait(&x->n.op, 42, 0) == 0);
	EXPECT(x->n.op.result == 5);
}

TEST_WITH_WORKERS(a_deadline_ends_the_wait_and_what_is_done_beats_it)
{
	struct exchange x = { .err = 0 };

	in_a_task(wait_in_vain, &x);
}

static int wait_as_member(void *argument)
{
	struct exchange *x = argument;

	my_box();
	x->err = sennit_poller_wait(&x->n.op, 42, SENNIT_NEVER);
	atomic_store(&x->over, true);
	return 0;
}

static void seen_to_wait(void *context, const sennit_report_entry *e)
{
	if (e->state == SENNIT_REPORT_BLOCKED &&
	    e->waits_for == SENNIT_WAITS_FOR_IO && (intptr_t)e->object == 42)
		++*(int *)context;
}

static bool waits(sennit_scheduler *s)
{
	int count = 0;

	sennit_report_visit(s, seen_to_wait, &count);
	return count;
}

TEST_WITH_POLLERS(a_cancelled_group_ends_the_wait)
{
	struct exchange x = { .err = 0 };
	sennit_group    g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(sennit_group_spawn(&g, wait_as_member, &x), 0);
	assert_soon(waits(w->s));
	sennit_group_cancel(&g);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	assert_int_equal(x.err, -ECANCELED);
	assert_false(x.n.op.done);
}

/* --- fairness ----------------------------------------------------------- */

static void yield_until_done(void *argument)
{
	struct exchange *x = argument;
	unsigned         yields = 0;

	while (!atomic_load(&x->box))
		sennit_yield();
	sennit_yield();                       /* now it waits */
	post(atomic_load(&x->box), &x->n, 7); /* without a wake */
	for (; !atomic_load(&x->over); yields++)
		sennit_yield();
	EXPECT(yields <= 16 + 2);
	sennit_wait_group_done(&x->yielded);
}

static void start_both_here(void *argument)
{
	struct exchange *x = argument;

	must_schedule_here(wait_for_post, x);
	sennit_wait_group_init(&x->yielded, 1);
	must_schedule_here(yield_until_done, x);
	while (!atomic_load(&x->over))
		sennit_yield();
	sennit_wait_group_wait(&x->yielded);
}

/* All of it on one worker. */
TEST_WITH_WORKERS(yielding_fibers_delay_a_completion_by_few_dispatches)
{
	for (int i = 0; i < 20; i++) {
		struct exchange x = { .err = 1 };

		in_a_task(start_both_here, &x);
	}
	assert_true(atomic_load(&flushes) > 0);
}

enum { BURST = 48 };

static struct {
	struct exchange x[BURST];
	int             looks[BURST]; /* so far, as each begins to run */
	atomic_uint     began, ran;
} burst;

static void run_for_long(void *argument)
{
	struct exchange *x = argument;
	sennit_time      end;

	atomic_store(&x->box, my_box());
	EXPECT(!sennit_poller_wait(&x->n.op, 42, SENNIT_NEVER));
	burst.looks[atomic_fetch_add(&burst.began, 1)] = atomic_load(&flushes);
	atomic_fetch_add(&burst.ran, 1);
	for (end = sennit_after(25 * SENNIT_MICROSECOND); sennit_now() < end;)
		continue;
}

static void complete_all_at_once(void *unused)
{
	for (unsigned i = 0; i < BURST; i++)
		must_schedule_here(run_for_long, &burst.x[i]);
	for (unsigned i = 0; i < BURST; i++)
		while (!atomic_load(&burst.x[i].box))
			sennit_yield();
	for (unsigned i = 0; i < BURST; i++)
		post(my_box(), &burst.x[i].n, 7);
	while (atomic_load(&burst.ran) < BURST)
		sennit_yield();
}

/* They run in order, so none would run earlier if each of them was followed by
 * a poll. */
TEST_WITH_WORKERS(ready_fibers_run_with_a_look_in_16_dispatches)
{
	for (int i = 0; i < 5; i++) {
		memset(&burst, 0, sizeof(burst));
		in_a_task(complete_all_at_once, NULL);
		assert_in_range(burst.looks[BURST - 1] - burst.looks[0], 0,
				BURST / 16 + 2);
	}
}

/* --- being woken -------------------------------------------------------- */

static void count(void *argument)
{
	atomic_fetch_add((atomic_uint *)argument, 1);
}

struct wakes {
	sennit_scheduler *s;
	atomic_uint       count;
};

/* One at a time, each when its worker is about to sleep or asleep. */
static void schedule_from_outside(void *argument)
{
	struct wakes *k = argument;

	for (unsigned i = 0; i < LOAD(400); i++) {
		sennit_task t = { .run = count, .argument = &k->count };

		EXPECT(sennit_schedule_task_on(k->s, &t) == 0);
		EXPECT_SOON(atomic_load(&k->count) == i + 1);
		if (i % 7 == 0)
			usleep(50);
	}
}

TEST_WITH_THREADS(a_task_wakes_who_sleeps_in_a_poller)
{
	struct exchange x[8] = { { .err = 1 } };
	struct wakes    k = { .s = w->s };
	pthread_t       t;

	for (int i = 0; i < 8; i++)
		must_schedule(wait_for_post, &x[i]);
	for (int i = 0; i < 8; i++)
		assert_soon(atomic_load(&x[i].box));
	in_a_thread(schedule_from_outside, &k);
	for (int i = 0; i < 8; i++) {
		t = must_start_thread(post_as_thread, &x[i]);
		pthread_join(t, NULL);
	}
	for (int i = 0; i < 8; i++)
		assert_soon(atomic_load(&x[i].over));
}
