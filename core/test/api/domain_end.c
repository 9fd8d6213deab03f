/* SPDX-License-Identifier: Apache-2.0 */
/* domain_end.c - any number of clients are notified of a domain's end or wait
 * for it, and weak handles. */
#include "domain_record.h"

#include "testing/counting_allocator.h"
#include "sennit/domain.h"

#include <errno.h>

static struct counting_allocator tally;
static const sennit_allocator    counting = COUNTING_ALLOCATOR(&tally);

/* --- waiting -------------------------------------------------------------- */

TEST_WITH_WORKERS(a_wait_ends_when_all_has)
{
	struct part p;

	begin(&p, w->s);
	for (unsigned i = 0; i < 20; i++)
		send(&p, i % 2 ? wait_and_count : count_run);
	assert_int_equal(sennit_domain_shutdown(p.d, 0), -ETIMEDOUT);
	assert_int_equal(
		sennit_domain_shutdown(p.d, sennit_after(SENNIT_MILLISECOND)),
		-ETIMEDOUT);
	assert_int_equal(atomic_load(&p.ends), 0);
	sennit_event_set(&p.go);
	assert_int_equal(sennit_domain_shutdown(p.d, SENNIT_NEVER), 0);
	assert_int_equal(atomic_load(&p.ends), 1);
	assert_int_equal(atomic_load(&p.ran), 20);
}

static void wait_for_part(void *argument)
{
	struct part *p = argument;

	EXPECT(sennit_domain_shutdown(p->d, SENNIT_NEVER) == 0);
	EXPECT(atomic_load(&p->ends) == 1);
	atomic_store(&p->gone, true);
}

TEST_WITH_WORKERS(tasks_may_wait_for_it_too)
{
	struct part p;

	for (unsigned i = 0; i < LOAD(100); i++) {
		begin(&p, w->s);
		sennit_domain_retain(p.d);
		must_schedule(wait_for_part, &p);
		send(&p, count_run);
		assert_int_equal(sennit_domain_shutdown(p.d, SENNIT_NEVER), 0);
		assert_soon(atomic_load(&p.gone));
	}
}

static int wait_cancelled(void *argument)
{
	struct part *p = argument;

	EXPECT(sennit_domain_shutdown(p->d, SENNIT_NEVER) == -ECANCELED);
	sennit_domain_release(p->d); /* it still has its reference */
	return 0;
}

TEST_WITH_WORKERS(a_wait_can_be_cancelled)
{
	struct part  p;
	sennit_group g;

	begin(&p, w->s);
	send(&p, wait_and_count);
	sennit_domain_retain(p.d);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(sennit_group_spawn(&g, wait_cancelled, &p), 0);
	sennit_yield();
	sennit_group_cancel(&g);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	sennit_event_set(&p.go);
	assert_int_equal(sennit_domain_shutdown(p.d, SENNIT_NEVER), 0);
}

/* --- notification --------------------------------------------------------- */

static atomic_uint turn;

static void be_first(void *unused)
{
	EXPECT(atomic_fetch_add(&turn, 1) == 0);
}

static void be_second(void *unused)
{
	EXPECT(atomic_fetch_add(&turn, 1) == 1);
}

static void be_third(void *unused)
{
	EXPECT(atomic_fetch_add(&turn, 1) == 2);
}

static void set_event(void *event)
{
	sennit_event_set(event);
}

static void set_future(void *future)
{
	sennit_future_set(future, NULL);
}

TEST_WITH_WORKERS(all_are_told_in_their_order)
{
	sennit_weak_domain *weak;
	sennit_domain      *d = NULL;
	sennit_event        e;
	sennit_future       f;

	atomic_store(&turn, 0);
	sennit_event_init(&e, SENNIT_EVENT_MANUAL);
	sennit_future_init(&f);
	assert_int_equal(sennit_domain_create(&d, w->s, be_first, NULL), 0);
	weak = sennit_domain_weak(d);
	assert_int_equal(sennit_domain_on_end(d, NULL, NULL), -EINVAL);
	assert_int_equal(sennit_domain_on_end(d, be_second, NULL), 0);
	assert_int_equal(sennit_weak_domain_on_end(weak, be_third, NULL), 0);
	assert_int_equal(sennit_domain_on_end(d, set_event, &e), 0);
	assert_int_equal(sennit_domain_on_end(d, set_future, &f), 0);
	sennit_domain_release(d);
	assert_int_equal(atomic_load(&turn), 3);
	assert_true(sennit_event_is_set(&e) && sennit_future_is_set(&f));
	sennit_weak_domain_release(weak);
}

static void count_late(void *counter)
{
	atomic_fetch_add((atomic_uint *)counter, 1);
}

TEST_WITH_WORKERS(who_comes_late_is_told_at_once)
{
	sennit_weak_domain *weak;
	sennit_domain      *d = NULL;
	sennit_event        e;
	sennit_future       f;
	atomic_uint         told = 0;

	sennit_event_init(&e, SENNIT_EVENT_MANUAL);
	sennit_future_init(&f);
	assert_int_equal(sennit_domain_create(&d, w->s, NULL, NULL), 0);
	weak = sennit_domain_weak(d);
	sennit_domain_release(d);
	assert_int_equal(sennit_weak_domain_on_end(weak, count_late, &told), 0);
	assert_int_equal(atomic_load(&told), 1);
	assert_int_equal(sennit_weak_domain_on_end(weak, set_event, &e), 0);
	assert_int_equal(sennit_weak_domain_on_end(weak, set_future, &f), 0);
	assert_true(sennit_event_is_set(&e) && sennit_future_is_set(&f));
	sennit_weak_domain_release(weak);
}

/* --- weak handles -------------------------------------------------------- */

TEST_WITH_WORKERS(a_weak_handle_revives_what_work_keeps_alive)
{
	sennit_weak_domain *weak;
	sennit_domain      *d = NULL;
	struct part         p;

	begin(&p, w->s);
	weak = sennit_domain_weak(p.d);
	send(&p, wait_and_count);
	sennit_domain_release(p.d); /* no reference is left */
	assert_int_equal(sennit_weak_domain_lock(weak, &d), 0);
	assert_ptr_equal(d, p.d);
	sennit_event_set(&p.go);
	assert_soon(atomic_load(&p.ran) == 1);
	assert_int_equal(atomic_load(&p.ends), 0);
	send(&p, count_run);
	assert_int_equal(sennit_domain_shutdown(d, SENNIT_NEVER), 0);
	d = NULL;
	assert_int_equal(sennit_weak_domain_lock(weak, &d), -ESHUTDOWN);
	assert_null(d);
	sennit_weak_domain_release(weak);
}

TEST_WITH_COUNTS(a_weak_handle_may_outlive_the_scheduler)
{
	sennit_scheduler *s = start_with(
		SENNIT_CONFIG(.workers = w->workers, .allocator = &counting));
	sennit_weak_domain *weak;
	sennit_domain      *d = NULL;
	atomic_uint         told = 0;

	assert_int_equal(sennit_domain_create(&d, s, NULL, NULL), 0);
	weak = sennit_domain_weak(d);
	sennit_domain_release(d);
	end_scheduler(s);
	assert_int_not_equal(atomic_load(&tally.bytes), 0);
	assert_int_equal(sennit_weak_domain_lock(weak, &d), -ESHUTDOWN);
	assert_int_equal(sennit_weak_domain_on_end(weak, count_late, &told), 0);
	assert_int_equal(atomic_load(&told), 1);
	sennit_weak_domain_retain(weak);
	sennit_weak_domain_release(weak);
	sennit_weak_domain_release(weak);
	assert_int_equal(atomic_load(&tally.bytes), 0);
}

struct race {
	sennit_weak_domain *weak;
	sennit_wait_group   left;
	atomic_uint         ran, told;
};

static void work_in_domain(void *argument)
{
	atomic_fetch_add(&((struct race *)argument)->ran, 1);
}

static void lock_and_use(void *argument)
{
	struct race   *r = argument;
	sennit_domain *d;

	if (!sennit_weak_domain_lock(r->weak, &d)) {
		EXPECT(!sennit_domain_schedule(d, work_in_domain, r));
		sennit_domain_release(d);
	}
	EXPECT(!sennit_weak_domain_on_end(r->weak, count_late, &r->told));
	sennit_weak_domain_release(r->weak);
	sennit_wait_group_done(&r->left);
}

TEST_WITH_WORKERS(locks_race_with_the_end)
{
	for (unsigned i = 0; i < LOAD(500); i++) {
		struct race    r = { .ran = 0 };
		sennit_domain *d = NULL;

		assert_int_equal(sennit_domain_create(&d, w->s, NULL, NULL), 0);
		r.weak = sennit_domain_weak(d);
		sennit_wait_group_init(&r.left, 3);
		for (unsigned n = 0; n < 3; n++) {
			sennit_weak_domain_retain(r.weak);
			must_schedule(lock_and_use, &r);
		}
		if (i % 2)
			assert_int_equal(
				sennit_domain_shutdown(d, SENNIT_NEVER), 0);
		else
			sennit_domain_release(d);
		sennit_wait_group_wait(&r.left);
		assert_soon(atomic_load(&r.told) == 3);
		sennit_weak_domain_release(r.weak);
	}
}
