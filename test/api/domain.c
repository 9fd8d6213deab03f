/* SPDX-License-Identifier: Apache-2.0 */
/* domain.c - a domain ends when everything that belongs to it has ended, and
 * reports it once. */
#include "with_workers.h"

#include "../ward.h"

#include <errno.h>

/* A domain and what its tasks record. */
struct part {
	sennit_scheduler *s;
	sennit_domain    *d;
	atomic_uint       ends;
	atomic_uint       ran;
	atomic_uint       due;  /* number of tasks that must have run by the
				 * end */
	atomic_bool       gone; /* tasks outside no longer use this */
	sennit_event      go;
};

static void note_end(void *argument)
{
	struct part *p = argument;

	EXPECT(atomic_load(&p->ran) == atomic_load(&p->due));
	atomic_fetch_add(&p->ends, 1);
}

static void begin(struct part *p, sennit_scheduler *s)
{
	memset(p, 0, sizeof(*p));
	p->s = s;
	assert_int_equal(sennit_domain_create(&p->d, s, note_end, p), 0);
}

static void send(struct part *p, sennit_task_fn *run)
{
	atomic_fetch_add(&p->due, 1);
	EXPECT(sennit_domain_schedule(p->d, run, p) == 0);
}

static void count_run(void *argument)
{
	atomic_fetch_add(&((struct part *)argument)->ran, 1);
}

static void wait_and_count(void *argument)
{
	struct part *p = argument;

	sennit_event_wait(&p->go);
	count_run(p);
}

/* Release the reference. The domain ends soon after that. */
static void assert_ends(struct part *p)
{
	sennit_domain_release(p->d);
	assert_soon(atomic_load(&p->ends) == 1);
}

/* The same, and so many tasks have been counted at the end. */
static void assert_ends_after(struct part *p, unsigned runs)
{
	assert_ends(p);
	assert_int_equal(atomic_load(&p->ran), runs);
}

/* --- the end ------------------------------------------------------------ */

static void an_empty_one_ends_with_its_last_reference(void **state)
{
	struct world *w = *state;
	struct part   p;

	begin(&p, w->s);
	sennit_domain_retain(p.d);
	sennit_domain_release(p.d);
	assert_int_equal(atomic_load(&p.ends), 0);
	sennit_domain_release(p.d);
	assert_int_equal(atomic_load(&p.ends), 1);
}

static void it_ends_when_all_tasks_have(void **state)
{
	struct world *w = *state;
	struct part   p;
	unsigned      i;

	begin(&p, w->s);
	for (i = 0; i < 1000; i++)
		send(&p, count_run);
	assert_ends_after(&p, 1000);
}

static void it_does_not_end_while_it_is_held(void **state)
{
	struct world *w = *state;
	struct part   p;

	begin(&p, w->s);
	send(&p, count_run);
	assert_soon(atomic_load(&p.ran) == 1);
	send(&p, count_run);
	assert_soon(atomic_load(&p.ran) == 2);
	assert_int_equal(atomic_load(&p.ends), 0);
	assert_ends(&p);
}

static void it_does_not_end_while_a_task_waits(void **state)
{
	struct world *w = *state;
	struct part   p;
	uint64_t      fibers = fibers_of(w->s);
	unsigned      i;

	begin(&p, w->s);
	for (i = 0; i < 100; i++)
		send(&p, wait_and_count);
	sennit_domain_release(p.d);
	assert_soon(fibers_of(w->s) >= fibers + 100);
	assert_int_equal(atomic_load(&p.ends), 0);
	sennit_event_set(&p.go);
	assert_soon(atomic_load(&p.ends) == 1);
	assert_int_equal(atomic_load(&p.ran), 100);
}

/* Symptom: the end was missed because the scheduler was never idle. */
static void others_work_does_not_delay_it(void **state)
{
	struct world *w = *state;
	struct part   other, p;
	unsigned      i;

	begin(&other, w->s);
	for (i = 0; i < 20; i++)
		send(&other, wait_and_count);
	begin(&p, w->s);
	for (i = 0; i < 20; i++)
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
	EXPECT(sennit_enqueue(p->s, &t) == 0); /* outside the domain; runs next
					        * on this worker */
}

/* Symptom: a worker that continued with other long work after the last task
 * still counted as active. */
static void it_ends_though_its_worker_is_busy_with_other_tasks(void **state)
{
	struct world *w = *state;
	struct part   p;

	begin(&p, w->s);
	send(&p, count_and_keep_worker);
	assert_ends(&p);
	assert_soon(atomic_load(&p.gone));
}

/* --- which tasks belong to it ------------------------------------------- */

static void branch_out(void *argument)
{
	struct part *p = argument;
	unsigned     n = atomic_fetch_add(&p->ran, 1);

	EXPECT(sennit_domain_current() == p->d);
	if (n < 500) {
		atomic_fetch_add(&p->due, 2);
		must_schedule(branch_out, p);
		must_schedule(branch_out, p);
	}
}

static void what_tasks_schedule_belongs_to_it(void **state)
{
	struct world *w = *state;
	struct part   p;
	unsigned      i;

	for (i = 0; i < 20; i++) {
		begin(&p, w->s);
		send(&p, branch_out);
		assert_ends_after(&p, 1001);
	}
}

struct mail {
	struct part *p;
	char         load[200];
};

static void count_mail(void *argument)
{
	const struct mail *m = argument;

	EXPECT(sennit_domain_current() == m->p->d);
	count_run(m->p);
}

/* By every call that schedules in the caller's domain. */
static void schedule_in_all_ways(void *argument)
{
	struct part      *p = argument;
	struct mail       m = { .p = p };
	const sennit_task tasks[] = {
		{ .run = count_mail, .argument = &m, .copy_size = 16 },
		{ .run = count_run, .argument = p },
		{ .run = count_mail, .argument = &m, .copy_size = sizeof(m) },
	};
	const uint32_t flags[] = { 0, SENNIT_TASK_SAME_THREAD,
				   SENNIT_TASK_BACKGROUND };

	atomic_fetch_add(&p->due, 16);
	for (unsigned i = 0; i < 3; i++) {
		sennit_task t = tasks[2];

		t.flags = flags[i];
		EXPECT(sennit_schedule_task(&t) == 0);
	}
	EXPECT(sennit_schedule_copy(count_mail, &m, sizeof(m.p)) == 0);
	EXPECT(sennit_schedule_many(tasks, 3) == 0);
	EXPECT(sennit_schedule_many(&tasks[1], 1) == 0);
	for (unsigned i = 0; i < 8; i++)
		must_schedule(count_run, p);
	count_run(p);
}

static void so_does_what_is_scheduled_with_copies_or_flags(void **state)
{
	struct world *w = *state;
	struct part   p;

	begin(&p, w->s);
	send(&p, schedule_in_all_ways);
	assert_ends_after(&p, 17);
}

static int schedule_as_member(void *argument)
{
	struct part *p = argument;

	EXPECT(sennit_domain_current() == p->d);
	atomic_fetch_add(&p->due, 1);
	must_schedule(wait_and_count, p);
	return 0;
}

static int open_inner_group(void *argument)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (unsigned i = 0; i < 4; i++)
		EXPECT(sennit_group_spawn(&g, schedule_as_member, argument) ==
		       0);
	return sennit_group_wait(&g);
}

static void open_group(void *argument)
{
	sennit_group g;

	sennit_group_init(&g, sennit_after(GIVE_UP), 0);
	for (unsigned i = 0; i < 4; i++)
		EXPECT(sennit_group_spawn(&g, open_inner_group, argument) == 0);
	EXPECT(sennit_group_wait(&g) == 0);
	count_run(argument);
}

static void so_does_what_members_of_its_groups_schedule(void **state)
{
	struct world *w = *state;
	struct part   p;

	begin(&p, w->s);
	send(&p, open_group);
	sennit_domain_release(p.d);
	assert_soon(atomic_load(&p.ran) == 1);
	assert_int_equal(atomic_load(&p.ends), 0);
	sennit_event_set(&p.go);
	assert_soon(atomic_load(&p.ends) == 1);
	assert_int_equal(atomic_load(&p.ran), 17);
}

static void look_outside(void *argument)
{
	struct part *p = argument;

	EXPECT(!sennit_domain_current());
	sennit_event_wait(&p->go);
	atomic_store(&p->due, 0); /* it is over now */
}

static void enqueue_outside(void *argument)
{
	struct part      *p = argument;
	const sennit_task t = { .run = look_outside, .argument = p };

	EXPECT(sennit_enqueue(p->s, &t) == 0);
	count_run(p);
}

static void what_they_enqueue_on_the_scheduler_does_not(void **state)
{
	struct world *w = *state;
	struct part   p;

	assert_null(sennit_domain_current());
	begin(&p, w->s);
	send(&p, enqueue_outside);
	assert_ends(&p);
	sennit_event_set(&p.go);
	assert_soon(atomic_load(&p.due) == 0);
}

/* Waits with deadlines are those of any task. */
static void sleep_and_count(void *argument)
{
	sennit_event never = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);

	sennit_sleep(SENNIT_MILLISECOND);
	EXPECT(sennit_event_wait_until(&never, sennit_after(1)) == -ETIMEDOUT);
	EXPECT(sennit_cancelled() == 0);
	count_run(argument);
}

static void its_tasks_wait_with_deadlines_as_others_do(void **state)
{
	struct world *w = *state;
	struct part   p;
	unsigned      i;

	begin(&p, w->s);
	for (i = 0; i < 50; i++)
		send(&p, sleep_and_count);
	assert_ends(&p);
}

static void send_from_a_thread(void *argument)
{
	struct part *p = argument;

	for (unsigned i = 0; i < 100; i++)
		send(p, count_run);
	sennit_domain_release(p->d);
}

static void threads_outside_may_schedule_into_it(void **state)
{
	struct world *w = *state;
	struct part   p;

	begin(&p, w->s);
	in_a_thread(send_from_a_thread, &p);
	assert_soon(atomic_load(&p.ends) == 1);
	assert_int_equal(atomic_load(&p.ran), 100);
}

/* --- references --------------------------------------------------------- */

static void retain_and_wait(void *argument)
{
	struct part *p = argument;

	sennit_event_wait(&p->go);
	sennit_domain_retain(p->d); /* no one else holds it */
	count_run(p);
}

static void a_task_may_revive_what_nobody_holds(void **state)
{
	struct world *w = *state;
	struct part   p;

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

static void its_own_task_may_let_go_last(void **state)
{
	struct world *w = *state;
	struct part   p;

	begin(&p, w->s);
	send(&p, release_it);
	assert_soon(atomic_load(&p.ends) == 1);
}

static void a_domain_keeps_its_scheduler(void **state)
{
	const struct world *w = *state;
	sennit_scheduler   *s = start_scheduler(w->workers);
	struct part         p;

	begin(&p, s);
	sennit_scheduler_retain(s);
	sennit_scheduler_release(s);
	assert_int_equal(sennit_scheduler_shutdown(s, 0), -ETIMEDOUT);
	sennit_domain_release(p.d);
	end_scheduler(s);
	assert_int_equal(atomic_load(&p.ends), 1);
}

/* --- memory ------------------------------------------------------------- */

static struct ward            ward;
static const sennit_allocator counting = WARD(&ward);

static void without_memory_nothing_is_lost(void **state)
{
	const struct world *w = *state;
	sennit_scheduler   *s = start_with(
		  SENNIT_CONFIG(.workers = w->workers, .allocator = &counting));
	struct part       p;
	sennit_domain    *none = NULL;
	const sennit_task t = { .run = count_run,
				.argument = &p,
				.copy_size = 1000 };

	begin(&p, s);
	atomic_store(&ward.dry, true);
	assert_int_equal(sennit_domain_create(&none, s, NULL, NULL), -ENOMEM);
	assert_null(none);
	if (w->threads)
		assert_int_equal(sennit_domain_schedule_task(p.d, &t), -ENOMEM);
	atomic_store(&ward.dry, false);
	sennit_domain_release(p.d);
	assert_int_equal(atomic_load(&p.ends), 1);
	end_scheduler(s);
	assert_int_equal(atomic_load(&ward.bytes), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORKERS(an_empty_one_ends_with_its_last_reference),
		WITH_WORKERS(it_ends_when_all_tasks_have),
		WITH_WORKERS(it_does_not_end_while_it_is_held),
		WITH_WORKERS(it_does_not_end_while_a_task_waits),
		WITH_WORKERS(others_work_does_not_delay_it),
		WITH_THREADS(
			it_ends_though_its_worker_is_busy_with_other_tasks),
		WITH_WORKERS(what_tasks_schedule_belongs_to_it),
		WITH_WORKERS(so_does_what_is_scheduled_with_copies_or_flags),
		WITH_WORKERS(so_does_what_members_of_its_groups_schedule),
		WITH_WORKERS(what_they_enqueue_on_the_scheduler_does_not),
		WITH_WORKERS(its_tasks_wait_with_deadlines_as_others_do),
		WITH_THREADS(threads_outside_may_schedule_into_it),
		WITH_WORKERS(a_task_may_revive_what_nobody_holds),
		WITH_WORKERS(its_own_task_may_let_go_last),
		WITH_COUNTS(a_domain_keeps_its_scheduler),
		WITH_COUNTS(without_memory_nothing_is_lost),
	};

	return cmocka_run_group_tests_name("api/domain", tests, NULL, NULL);
}
