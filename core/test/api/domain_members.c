/* SPDX-License-Identifier: Apache-2.0 */
/* domain_members.c - which tasks belong to a domain: what its tasks schedule
 * does, by whatever way. */
#include "domain_record.h"
#include "sennit/domain.h"

#include <errno.h>

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

TEST_WITH_WORKERS(what_tasks_schedule_belongs_to_it)
{
	struct part p;

	for (unsigned i = 0; i < 20; i++) {
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

TEST_WITH_WORKERS(so_does_what_is_scheduled_with_copies_or_flags)
{
	struct part p;

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

TEST_WITH_WORKERS(so_does_what_members_of_its_groups_schedule)
{
	struct part p;

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
	EXPECT(!sennit_event_wait(&p->go));
	atomic_store(&p->due, 0); /* it is over now */
}

static void enqueue_outside(void *argument)
{
	struct part      *p = argument;
	const sennit_task t = { .run = look_outside, .argument = p };

	EXPECT(sennit_schedule_task_on(p->s, &t) == 0);
	count_run(p);
}

TEST_WITH_WORKERS(what_they_enqueue_on_the_scheduler_does_not)
{
	struct part p;

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
	EXPECT(sennit_check_cancelled() == 0);
	count_run(argument);
}

TEST_WITH_WORKERS(its_tasks_wait_with_deadlines_as_others_do)
{
	struct part p;

	begin(&p, w->s);
	for (unsigned i = 0; i < 50; i++)
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

TEST_WITH_THREADS(threads_outside_may_schedule_into_it)
{
	struct part p;

	begin(&p, w->s);
	in_a_thread(send_from_a_thread, &p);
	assert_soon(atomic_load(&p.ends) == 1);
	assert_int_equal(atomic_load(&p.ran), 100);
}
