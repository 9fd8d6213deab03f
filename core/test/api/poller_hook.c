/* SPDX-License-Identifier: Apache-2.0 */
/* poller_hook.c - what a hook stands for is asked in time: by a worker that
 * sleeps, that is busy, and that has nothing to run; and only while there is
 * something to wait for.
 *
 * The device here completes a job when a thread finishes it, without a
 * notification.
 */
#include "testing/device.h"
#include "sennit/poller.h"

#include <errno.h>

/* --- completions -------------------------------------------------------- */

static void *finish_as_thread(void *argument)
{
	struct job *j = argument;

	while (!atomic_load(&j->submitted))
		sched_yield();
	finish(j);
	return NULL;
}

static void submit_and_wait(void *argument)
{
	struct device *d = argument;
	struct job     j = { .of = d };
	pthread_t      t = must_start_thread(finish_as_thread, &j);

	do_job(&j);
	pthread_join(t, NULL);
}

static void work_with_device(void *argument)
{
	const uint64_t *patience = argument;
	struct device   d;

	open_device(&d, *patience);
	for (int i = 0; i < 20; i++)
		submit_and_wait(&d);
	close_device(&d);
}

TEST_WITH_WORKERS(a_sleeping_worker_asks_in_time)
{
	uint64_t patience = SENNIT_MILLISECOND;

	work_with_device(&patience);
	in_a_task(work_with_device, &patience);
}

TEST_WITH_WORKERS(a_time_in_the_past_keeps_the_worker_awake)
{
	uint64_t patience = 0;

	work_with_device(&patience);
	in_a_task(work_with_device, &patience);
}

/* Many fibers, several devices, all on one worker. The first device asks for
 * all, and its first job is the last. */
enum { DEVICES = 3, JOBS = 20 };

static const uint64_t patience_of[DEVICES] = { SENNIT_MILLISECOND,
					       100 * SENNIT_SECOND,
					       100 * SENNIT_SECOND };

struct crowd {
	struct device     d[DEVICES];
	struct job        j[DEVICES * JOBS];
	sennit_wait_group done;
};

static void do_job_of_crowd(void *argument)
{
	struct job *j = argument;

	do_job(j);
	sennit_wait_group_done(j->group);
}

static void *finish_crowd(void *argument)
{
	struct crowd *c = argument;

	for (int i = DEVICES * JOBS; i-- > 0;)
		finish_as_thread(&c->j[i]);
	return NULL;
}

static void run_crowd(void *argument)
{
	struct crowd *c = argument;
	pthread_t     t = must_start_thread(finish_crowd, c);

	for (int i = 0; i < DEVICES; i++)
		open_device(&c->d[i], patience_of[i]);
	sennit_wait_group_init(&c->done, DEVICES * JOBS);
	for (int i = 0; i < DEVICES * JOBS; i++) {
		c->j[i].of = &c->d[i % DEVICES];
		c->j[i].group = &c->done;
		must_schedule_here(do_job_of_crowd, &c->j[i]);
	}
	sennit_wait_group_wait(&c->done);
	for (int i = 0; i < DEVICES; i++)
		close_device(&c->d[i]);
	pthread_join(t, NULL);
}

TEST_WITH_WORKERS(hooks_are_several)
{
	static struct crowd c;

	memset(&c, 0, sizeof(c));
	in_a_task(run_crowd, &c);
}

/* --- a busy worker ------------------------------------------------------ */

struct busy {
	struct device d;
	struct job    j;
	atomic_bool   over;
};

static void wait_for_job(void *argument)
{
	struct busy *b = argument;

	do_job(&b->j);
	atomic_store(&b->over, true);
}

static void yield_between_asks(void *argument)
{
	struct busy *b = argument;
	unsigned     yields = 0;

	while (!atomic_load(&b->j.submitted))
		sennit_yield();
	for (int i = 0; i < 50; i++) {
		unsigned asks = atomic_load(&b->d.asks);

		for (yields = 0; atomic_load(&b->d.asks) == asks; yields++)
			sennit_yield();
		EXPECT(yields <= 16 + 2);
	}
	finish(&b->j); /* without a notification */
	for (yields = 0; !atomic_load(&b->over); yields++)
		sennit_yield();
	EXPECT(yields <= 16 + 2);
}

static void keep_busy(void *unused)
{
	struct busy b = { .over = false };

	open_device(&b.d, 100 * SENNIT_SECOND);
	b.j.of = &b.d;
	must_schedule_here(wait_for_job, &b);
	must_schedule_here(yield_between_asks, &b);
	while (!atomic_load(&b.over))
		sennit_yield();
	sennit_yield();
	close_device(&b.d);
}

TEST_WITH_WORKERS(yielding_fibers_delay_an_ask_by_few_dispatches)
{
	for (int i = 0; i < 10; i++)
		in_a_task(keep_busy, NULL);
}

/* --- nothing to wait for ------------------------------------------------ */

static void leave_idle(void *unused)
{
	struct device d, other;
	unsigned      asks;

	open_device(&other, 0);
	open_device(&d, 0);
	for (int i = 0; i < 300; i++)
		sennit_yield();
	sennit_sleep(SENNIT_MILLISECOND);
	EXPECT(atomic_load(&d.asks) == 0);
	submit_and_wait(&d);
	asks = atomic_load(&d.asks);
	EXPECT(asks > 0);
	for (int i = 0; i < 300; i++)
		sennit_yield();
	sennit_sleep(SENNIT_MILLISECOND);
	EXPECT(atomic_load(&d.asks) == asks);
	EXPECT(atomic_load(&other.asks) == 0);
	close_device(&d);
	close_device(&other);
}

TEST_WITH_WORKERS(a_hook_without_anything_to_wait_for_is_not_asked)
{
	leave_idle(NULL);
	in_a_task(leave_idle, NULL);
}

static void remove_while_asked(void *unused)
{
	struct device d;

	open_device(&d, 0);
	sennit_poller_hook_ask(&d.hook);
	d.outstanding++; /* which never comes */
	sennit_sleep(SENNIT_MILLISECOND);
	close_device(&d);
	memset(&d, 0x5a, sizeof(d)); /* a call through it would fault */
	for (int i = 0; i < 100; i++)
		sennit_yield();
	sennit_sleep(SENNIT_MILLISECOND);
}

TEST_WITH_WORKERS(a_removed_hook_is_not_asked)
{
	remove_while_asked(NULL);
	in_a_task(remove_while_asked, NULL);
}

/* --- adding and removing ------------------------------------------------ */

static atomic_uint destroyed;

static void count_destroyed(sennit_poller_hook *h)
{
	free(h);
	atomic_fetch_add(&destroyed, 1);
}

static sennit_time ask_nothing(sennit_poller_hook *h)
{
	return SENNIT_NEVER;
}

static void leave_hook_behind(void *unused)
{
	sennit_poller_hook *h = calloc(1, sizeof(*h));

	EXPECT(h);
	h->ask = ask_nothing;
	h->destroy = count_destroyed;
	EXPECT(sennit_poller_hook_add(h) == 0);
	sennit_poller_hook_ask(h);
}

TEST_WITH_WORKERS(the_worker_destroys_hooks_that_are_left)
{
	sennit_scheduler *s = move_to(SENNIT_CONFIG(.workers = w->workers));

	atomic_store(&destroyed, 0);
	in_a_task(leave_hook_behind, NULL);
	in_a_task(leave_hook_behind, NULL);
	leave_hook_behind(NULL);
	assert_int_equal(atomic_load(&destroyed), 0);
	move_back(w, s);
	assert_int_equal(atomic_load(&destroyed), 3);
}

static void add_in_vain(void *unused)
{
	sennit_poller_hook h = { .ask = ask_nothing };

	EXPECT(sennit_poller_hook_add(&h) == -EPERM);
}

static void add_nothing(void *unused)
{
	sennit_poller_hook h = { .ask = NULL };

	EXPECT(sennit_poller_hook_add(&h) == -EINVAL);
}

TEST_WITH_WORKERS(a_hook_needs_a_worker_and_a_function)
{
	in_a_thread(add_in_vain, NULL);
	add_nothing(NULL);
	in_a_task(add_nothing, NULL);
}

static sennit_time ask_other(sennit_poller_hook *h)
{
	return SENNIT_NEVER;
}

static void find_hooks(void *unused)
{
	sennit_poller_hook first = { .ask = ask_nothing };
	sennit_poller_hook other = { .ask = ask_other };
	sennit_poller_hook again = { .ask = ask_nothing };

	EXPECT(!sennit_poller_hook_find(ask_nothing));
	EXPECT(sennit_poller_hook_add(&first) == 0);
	EXPECT(sennit_poller_hook_find(ask_nothing) == &first);
	EXPECT(!sennit_poller_hook_find(ask_other));
	EXPECT(sennit_poller_hook_add(&other) == 0);
	EXPECT(sennit_poller_hook_find(ask_nothing) == &first);
	EXPECT(sennit_poller_hook_find(ask_other) == &other);
	EXPECT(sennit_poller_hook_add(&again) == 0);
	EXPECT(sennit_poller_hook_find(ask_nothing) == &again);
	sennit_poller_hook_remove(&again);
	sennit_poller_hook_remove(&other);
	EXPECT(sennit_poller_hook_find(ask_nothing) == &first);
	sennit_poller_hook_remove(&first);
	EXPECT(!sennit_poller_hook_find(ask_nothing));
}

static void find_in_vain(void *unused)
{
	EXPECT(!sennit_poller_hook_find(ask_nothing));
}

TEST_WITH_WORKERS(a_hook_is_found_on_its_worker)
{
	sennit_poller_hook h = { .ask = ask_nothing };

	find_hooks(NULL);
	in_a_task(find_hooks, NULL);
	EXPECT(sennit_poller_hook_add(&h) == 0);
	in_a_thread(find_in_vain, NULL);
	sennit_poller_hook_remove(&h);
}
