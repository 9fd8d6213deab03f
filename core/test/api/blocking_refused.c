/* SPDX-License-Identifier: Apache-2.0 */
/* blocking_refused.c - blocking calls while the system refuses threads: the
 * existing threads do the work, or the caller itself. */
#include "testing/told_limit.h"
#include "testing/next_create.h"
#include "testing/with_workers.h"

#include <errno.h>
#include <fenv.h>
#include <semaphore.h>

/* --- a pthread_create that fails ---------------------------------------- */

static atomic_bool threads_are_refused;
static atomic_uint refused_but; /* so many are not */
static atomic_uint first;       /* 1 for the first caller only */

enum { FIRST_ASKED_FOR = 1, FIRST_WAITS, FIRST_MAY_FAIL };

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
		   void *(*run)(void *), void              *argument)
{
	unsigned expected = FIRST_ASKED_FOR;

	if (!atomic_load(&threads_are_refused))
		return next_create()(thread, attributes, run, argument);
	if (atomic_compare_exchange_strong(&first, &expected, FIRST_WAITS))
		while (atomic_load(&first) != FIRST_MAY_FAIL)
			sched_yield();
	if (atomic_load(&refused_but) && atomic_fetch_sub(&refused_but, 1))
		return next_create()(thread, attributes, run, argument);
	return EAGAIN;
}

/* --- without any thread ------------------------------------------------- */

struct visit {
	pthread_t thread;
	int       rounding;
};

static void *note_visit(void *argument)
{
	struct visit *v = argument;

	v->thread = pthread_self();
	v->rounding = fegetround();
	fesetround(FE_DOWNWARD);
	errno = ENOTDIR;
	return v;
}

static void call_in_place(void *argument)
{
	struct visit v = { .rounding = -1 };

	fesetround(FE_UPWARD);
	errno = 0;
	EXPECT(sennit_blocking_call(note_visit, &v) == &v);
	EXPECT(errno == ENOTDIR);
	EXPECT(fegetround() == FE_UPWARD);
	EXPECT(v.rounding == FE_UPWARD);
	EXPECT(pthread_equal(v.thread, pthread_self()));
	EXPECT(!sennit_blocking_call_until(note_visit, &v, NULL, 0));
	EXPECT(pthread_equal(v.thread, pthread_self()));
	fesetround(FE_TONEAREST);
}

TEST_WITH_WORKERS(without_any_thread_it_runs_in_place)
{
	struct visit v;

	atomic_store(&threads_are_refused, true);
	call_in_place(NULL);
	in_a_task(call_in_place, NULL);
	atomic_store(&threads_are_refused, false);
	sennit_blocking_call(note_visit, &v);
	assert_false(pthread_equal(v.thread, pthread_self()));
}

/* --- with one thread, which is busy ------------------------------------- */

static struct hold {
	sem_t             go;
	atomic_uint       begun, ready;
	pthread_t         thread;
	atomic_uint       later;
	sennit_wait_group done;
} hold;

static void *hold_thread(void *argument)
{
	struct hold *h = argument;

	if (!atomic_fetch_add(&h->begun, 1))
		h->thread = pthread_self();
	atomic_fetch_add(&h->ready, 1);
	while (sem_wait(&h->go))
		;
	return NULL;
}

static void call_hold(void *argument)
{
	struct hold *h = argument;

	sennit_blocking_call(hold_thread, h);
	sennit_wait_group_done(&h->done);
}

static void *come_later(void *argument)
{
	struct hold *h = argument;

	EXPECT(pthread_equal(h->thread, pthread_self()));
	atomic_fetch_add(&h->later, 1);
	return NULL;
}

static void call_later(void *argument)
{
	struct hold *h = argument;

	sennit_blocking_call(come_later, h);
	sennit_wait_group_done(&h->done);
}

TEST_WITH_WORKERS(those_there_are_do_the_work)
{
	struct hold *h = &hold;

	sem_init(&h->go, 0, 0);
	atomic_store(&h->begun, 0);
	atomic_store(&h->ready, 0);
	atomic_store(&h->later, 0);
	sennit_wait_group_init(&h->done, 11);
	must_schedule(call_hold, h);
	assert_soon(atomic_load(&h->ready) == 1);
	atomic_store(&threads_are_refused, true);
	for (unsigned i = 0; i < 10; i++)
		must_schedule(call_later, h);
	assert_soon(fibers_of(w->s) == 11);
	assert_int_equal(atomic_load(&h->later), 0);
	assert_int_equal(stats_of(w->s).blocking_threads, 1);
	assert_int_equal(sennit_blocking_call_until(come_later, h, NULL, 0),
			 -ETIMEDOUT);
	sem_post(&h->go);
	sennit_wait_group_wait(&h->done);
	assert_int_equal(atomic_load(&h->later), 10);
	atomic_store(&threads_are_refused, false);
}

TEST_WITH_WORKERS(more_are_tried_once_there_was_rest)
{
	struct hold *h = &hold;

	those_there_are_do_the_work(w);
	sennit_wait_group_init(&h->done, 2);
	atomic_store(&h->begun, 0);
	atomic_store(&h->ready, 0);
	must_schedule(call_hold, h);
	must_schedule(call_hold, h);
	assert_soon(atomic_load(&h->ready) == 2);
	assert_int_equal(stats_of(w->s).blocking_threads, 2);
	sem_post(&h->go);
	sem_post(&h->go);
	sennit_wait_group_wait(&h->done);
}

/* --- two callers refused at the same time ------------------------------- */

static void *come(void *argument)
{
	atomic_fetch_add((atomic_uint *)argument, 1);
	return argument;
}

static void call_come(void *argument)
{
	EXPECT(sennit_blocking_call(come, argument) == argument);
}

/* The second caller waits for the thread of the first. Then that thread is
 * refused, too. */
TEST_WITH_SEVERAL(who_relied_on_a_refused_thread_is_served)
{
	static atomic_uint came;

	atomic_store(&came, 0);
	atomic_store(&first, FIRST_ASKED_FOR);
	atomic_store(&threads_are_refused, true);
	must_schedule(call_come, &came);
	assert_soon(atomic_load(&first) == FIRST_WAITS);
	must_schedule(call_come, &came);
	assert_soon(fibers_of(w->s) == 1);
	assert_int_equal(atomic_load(&came), 0);
	atomic_store(&first, FIRST_MAY_FAIL);
	assert_soon(atomic_load(&came) == 2);
	assert_soon(fibers_of(w->s) == 0);
	atomic_store(&threads_are_refused, false);
}

/* --- threads that are added --------------------------------------------- */

static void call_for_a_moment(void *argument)
{
	struct hold *h = argument;

	(void)!sennit_blocking_call_until(come, &h->later, NULL,
					  sennit_after(SENNIT_MILLISECOND));
	sennit_wait_group_done(&h->done);
}

enum { TAKEN = 8, ALLOWED = 4 * TAKEN };

/* All threads that start at once are in calls, and two more calls wait, while
 * the system refuses further threads, but for so many. */
static sennit_scheduler *open_and_wait(const struct world *w, unsigned but)
{
	struct hold      *h = &hold;
	sennit_scheduler *s = move_to(SENNIT_CONFIG(.workers = w->workers));

	sem_init(&h->go, 0, 0);
	atomic_store(&h->begun, 0);
	atomic_store(&h->ready, 0);
	atomic_store(&first, 0);
	atomic_store(&most_threads, ALLOWED);
	sennit_wait_group_init(&h->done, TAKEN + 2);
	for (unsigned i = 0; i < TAKEN; i++)
		must_schedule(call_hold, h);
	assert_soon(atomic_load(&h->ready) == TAKEN);
	atomic_store(&refused_but, but);
	atomic_store(&threads_are_refused, true);
	must_schedule(call_hold, h);
	must_schedule(call_hold, h);
	return s;
}

static void end_all(const struct world *w, sennit_scheduler *s)
{
	for (unsigned i = 0; i < TAKEN + 2; i++)
		sem_post(&hold.go);
	sennit_wait_group_wait(&hold.done);
	move_back(w, s);
}

/* When a thread can be had, the next call that waits asks for it. */
TEST_WITH_WORKERS(what_was_refused_is_asked_for_again)
{
	sennit_scheduler *s = open_and_wait(w, 0);

	assert_soon(stats_of(s).blocking_stuck_ms >= 50);
	assert_int_equal(stats_of(s).blocking_waiting, 2);
	atomic_store(&threads_are_refused, false);
	while (atomic_load(&hold.ready) < TAKEN + 2) {
		sennit_wait_group_add(&hold.done, 1);
		must_schedule(call_for_a_moment, &hold);
		sennit_sleep(SENNIT_MILLISECOND);
	}
	end_all(w, s);
}

/* There is one further thread. It has the call that waits alone, or it holds
 * back for both, and asks for another by itself. */
TEST_WITH_WORKERS(the_thread_that_holds_back_asks_again)
{
	sennit_scheduler *s = open_and_wait(w, 1);

	assert_soon(stats_of(s).blocking_stuck_ms >= 50);
	assert_in_range(stats_of(s).blocking_threads, TAKEN, TAKEN + 1);
	atomic_store(&threads_are_refused, false);
	if (stats_of(s).blocking_threads == TAKEN)
		assert_soon(atomic_load(&hold.ready) == TAKEN + 2);
	while (atomic_load(&hold.ready) < TAKEN + 2) {
		sennit_wait_group_add(&hold.done, 1);
		must_schedule(call_for_a_moment, &hold);
		sennit_sleep(SENNIT_MILLISECOND);
	}
	end_all(w, s);
}
