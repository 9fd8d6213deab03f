/* SPDX-License-Identifier: Apache-2.0 */
/* domain.c - a domain ends when everything that belongs to it has ended, and
 * reports it once. */
#include "domain_record.h"
#include "testing/counting_allocator.h"
#include "sennit/domain.h"

#include <errno.h>

/* --- the end ------------------------------------------------------------ */

TEST_WITH_WORKERS(an_empty_one_ends_with_its_last_reference)
{
	struct part p;

	begin(&p, w->s);
	sennit_domain_retain(p.d);
	sennit_domain_release(p.d);
	assert_int_equal(atomic_load(&p.ends), 0);
	sennit_domain_release(p.d);
	assert_int_equal(atomic_load(&p.ends), 1);
}

TEST_WITH_WORKERS(it_ends_when_all_tasks_have)
{
	struct part p;

	begin(&p, w->s);
	for (unsigned i = 0; i < 1000; i++)
		send(&p, count_run);
	assert_ends_after(&p, 1000);
}

TEST_WITH_WORKERS(it_does_not_end_while_it_is_held)
{
	struct part p;

	begin(&p, w->s);
	send(&p, count_run);
	assert_soon(atomic_load(&p.ran) == 1);
	send(&p, count_run);
	assert_soon(atomic_load(&p.ran) == 2);
	assert_int_equal(atomic_load(&p.ends), 0);
	assert_ends(&p);
}

TEST_WITH_WORKERS(it_does_not_end_while_a_task_waits)
{
	struct part p;
	uint64_t    fibers = fibers_of(w->s);

	begin(&p, w->s);
	for (unsigned i = 0; i < 100; i++)
		send(&p, wait_and_count);
	sennit_domain_release(p.d);
	assert_soon(fibers_of(w->s) >= fibers + 100);
	assert_int_equal(atomic_load(&p.ends), 0);
	sennit_event_set(&p.go);
	assert_soon(atomic_load(&p.ends) == 1);
	assert_int_equal(atomic_load(&p.ran), 100);
}

/* Symptom: the end was missed because the scheduler was never idle. */
TEST_WITH_WORKERS(others_work_does_not_delay_it)
{
	struct part other, p;

	begin(&other, w->s);
	for (unsigned i = 0; i < 20; i++)
		send(&other, wait_and_count);
	begin(&p, w->s);
	for (unsigned i = 0; i < 20; i++)
		send(&p, count_run);
	assert_ends(&p);
	assert_int_equal(atomic_load(&other.ends), 0);
	sennit_domain_release(other.d);
	sennit_event_set(&other.go);
	assert_soon(atomic_load(&other.ends) == 1);
}

static void run_until_it_ended(void *argument)
{
	struct part *p = argument;

	while (!atomic_load(&p->ends))
		sched_yield();
	atomic_store(&p->gone, true);
}

static void count_and_keep_worker(void *argument)
{
	struct part      *p = argument;
	const sennit_task t = { .run = run_until_it_ended, .argument = p };

	count_run(p);
	EXPECT(sennit_schedule_task_on(p->s, &t) ==
	       0); /* outside the domain; runs next
					        * on this worker */
}

/* Symptom: a worker that continued with other long work after the last task
 * still counted as active. */
TEST_WITH_THREADS(it_ends_though_its_worker_is_busy_with_other_tasks)
{
	struct part p;

	begin(&p, w->s);
	send(&p, count_and_keep_worker);
	assert_ends(&p);
	assert_soon(atomic_load(&p.gone));
}

/* --- references --------------------------------------------------------- */

static void retain_and_wait(void *argument)
{
	struct part *p = argument;

	EXPECT(!sennit_event_wait(&p->go));
	sennit_domain_retain(p->d); /* no one else holds it */
	count_run(p);
}

TEST_WITH_WORKERS(a_task_may_revive_what_nobody_holds)
{
	struct part p;

	begin(&p, w->s);
	send(&p, retain_and_wait);
	sennit_domain_release(p.d);
	sennit_event_set(&p.go);
	assert_soon(atomic_load(&p.ran) == 1);
	send(&p, count_run);
	assert_soon(atomic_load(&p.ran) == 2);
	assert_int_equal(atomic_load(&p.ends), 0);
	assert_ends(&p);
}

static void release_it(void *argument)
{
	struct part *p = argument;

	count_run(p);
	sennit_domain_release(p->d);
}

TEST_WITH_WORKERS(its_own_task_may_let_go_last)
{
	struct part p;

	begin(&p, w->s);
	send(&p, release_it);
	assert_soon(atomic_load(&p.ends) == 1);
}

TEST_WITH_COUNTS(a_domain_keeps_its_scheduler)
{
	sennit_scheduler *s = start_scheduler(w->workers);
	struct part       p;

	begin(&p, s);
	sennit_scheduler_retain(s);
	sennit_scheduler_release(s);
	assert_int_equal(sennit_scheduler_shutdown(s, 0), -ETIMEDOUT);
	sennit_domain_release(p.d);
	end_scheduler(s);
	assert_int_equal(atomic_load(&p.ends), 1);
}

/* --- memory ------------------------------------------------------------- */

static struct counting_allocator tally;
static const sennit_allocator    counting = COUNTING_ALLOCATOR(&tally);

TEST_WITH_COUNTS(without_memory_nothing_is_lost)
{
	sennit_scheduler *s = start_with(
		SENNIT_CONFIG(.workers = w->workers, .allocator = &counting));
	struct part       p;
	sennit_domain    *none = NULL;
	const sennit_task t = { .run = count_run,
				.argument = &p,
				.copy_size = 1000 };

	begin(&p, s);
	atomic_store(&tally.dry, true);
	assert_int_equal(sennit_domain_create(&none, s, NULL, NULL), -ENOMEM);
	assert_null(none);
	if (w->threads)
		assert_int_equal(sennit_domain_schedule_task(p.d, &t), -ENOMEM);
	atomic_store(&tally.dry, false);
	sennit_domain_release(p.d);
	assert_int_equal(atomic_load(&p.ends), 1);
	end_scheduler(s);
	assert_int_equal(atomic_load(&tally.bytes), 0);
}
