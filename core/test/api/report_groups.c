/* SPDX-License-Identifier: Apache-2.0 */
/* report_groups.c - reports of waits that a group's deadline ends, and of those
 * that no group ends. */
#include "testing/words.h"
#include "testing/crowd.h"
#include "members.h"

#include <errno.h>

/* Members wait for an event, in a group whose deadline does not come. */
struct enclosed {
	sennit_scheduler *s;
	sennit_event      go;
	sennit_time       deadline;
	uint32_t          flags;
	bool              nested, uncancelled;
	sennit_wait_group done;
};

static int wait_enclosed(void *argument)
{
	struct enclosed *c = argument;

	EXPECT(!sennit_event_wait_until(
		&c->go, c->uncancelled ? SENNIT_UNCANCELLED : SENNIT_NEVER));
	return 0;
}

static int open_inner(void *argument)
{
	struct enclosed *c = argument;
	sennit_group     g;

	sennit_group_init(&g, SENNIT_NEVER, c->flags);
	EXPECT(!sennit_group_spawn(&g, wait_enclosed, c));
	EXPECT(!sennit_group_wait(&g));
	return 0;
}

static void open_outer(void *argument)
{
	struct enclosed *c = argument;
	sennit_group     g;

	sennit_group_init(&g, c->deadline, c->flags);
	EXPECT(!sennit_group_spawn(&g, c->nested ? open_inner : wait_enclosed,
				   c));
	EXPECT(!sennit_group_wait(&g));
	sennit_wait_group_done(&c->done);
}

static void find_enclosed(void *found, const sennit_report_entry *e)
{
	if (e->state == SENNIT_REPORT_BLOCKED &&
	    e->waits_for == SENNIT_WAITS_FOR_EVENT)
		*(sennit_report_entry *)found = *e;
}

static sennit_report_entry enclosed_wait(sennit_scheduler *s)
{
	sennit_report_entry found = { .size = 0 };

	sennit_report_visit(s, find_enclosed, &found);
	return found;
}

static void begin_enclosed(struct enclosed *c, sennit_scheduler *s)
{
	const sennit_task task = { .run = open_outer, .argument = c };

	sennit_event_init(&c->go, SENNIT_EVENT_MANUAL);
	sennit_wait_group_init(&c->done, 1);
	c->s = s;
	c->deadline = sennit_after(3600 * SENNIT_SECOND);
	assert_int_equal(sennit_schedule_task_on(s, &task), 0);
	assert_soon(enclosed_wait(s).size);
}

TEST_WITH_WORKERS(a_wait_ends_with_the_deadline_of_a_group_around_it)
{
	struct enclosed c = { .uncancelled = false };

	for (unsigned i = 0; i < 4; i++) {
		c.nested = i % 2;
		c.flags = i / 2 ? SENNIT_GROUP_OWN_STACKS : 0;
		begin_enclosed(&c, w->s);
		assert_true(enclosed_wait(w->s).deadline == c.deadline);
		sennit_event_set(&c.go);
		sennit_wait_group_wait(&c.done);
	}
}

/* The group's deadline ends neither this wait nor the wait for its member. */
TEST_WITH_THREADS(a_wait_that_no_group_ends_is_hopeless_in_one)
{
	sennit_scheduler *s = start_scheduler(w->workers);
	struct enclosed   c = { .uncancelled = true,
				.flags = SENNIT_GROUP_OWN_STACKS };
	char              text[4096];

	begin_enclosed(&c, s);
	assert_true(enclosed_wait(s).deadline == SENNIT_NEVER);
	assert_soon(strstr(printed_report(s, text, sizeof(text)),
			   "nothing in the scheduler can wake any of them\n"));
	sennit_event_set(&c.go);
	sennit_wait_group_wait(&c.done);
	end_scheduler(s);
}

/* --- waits that outlast their group -------------------------------------- */

/* What the waits are for. This task holds all that can be held. */
struct held {
	sennit_mutex      mutex;
	sennit_rwlock     rwlock;
	sennit_wait_group one;
	sennit_barrier    barrier;
	sennit_once       once;
	sennit_event      event, begun, end_once, end_call;
	sennit_group      g;
};

static int lock_mutex(void *argument)
{
	struct held *h = argument;

	sennit_mutex_lock(&h->mutex);
	sennit_mutex_unlock(&h->mutex);
	return 0;
}

static int lock_rwlock(void *argument)
{
	struct held *h = argument;

	sennit_rwlock_lock(&h->rwlock);
	sennit_rwlock_unlock(&h->rwlock);
	return 0;
}

static int lock_shared(void *argument)
{
	struct held *h = argument;

	sennit_rwlock_lock_shared(&h->rwlock);
	sennit_rwlock_unlock_shared(&h->rwlock);
	return 0;
}

static int wait_for_one(void *argument)
{
	struct held *h = argument;

	sennit_wait_group_wait(&h->one);
	return 0;
}

static int arrive(void *argument)
{
	struct held *h = argument;

	(void)sennit_barrier_wait(&h->barrier);
	return 0;
}

static void do_nothing(void *unused)
{
}

static int do_once(void *argument)
{
	struct held *h = argument;

	sennit_once_call(&h->once, do_nothing, NULL);
	return 0;
}

static int wait_on(void *argument)
{
	struct held *h = argument;

	return sennit_event_wait_until(&h->event, SENNIT_UNCANCELLED);
}

static void *call_slowly(void *argument)
{
	struct held *h = argument;

	EXPECT(!sennit_event_wait(&h->end_call)); /* of a helper thread */
	return NULL;
}

static int call(void *argument)
{
	sennit_blocking_call(call_slowly, argument);
	return 0;
}

static int wait_for_members(void *argument)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	must_spawn(&g, wait_on, argument);
	return sennit_group_wait(&g);
}

static sennit_member_fn *const waits[] = {
	lock_mutex, lock_rwlock, lock_shared, wait_for_one,     arrive,
	do_once,    wait_on,     call,        wait_for_members,
};

enum { WAITS = sizeof(waits) / sizeof(*waits) };

struct outlasting {
	int      expected;
	unsigned told, all;
};

static void count_told(void *context, const sennit_report_entry *e)
{
	struct outlasting *o = context;

	if (e->state != SENNIT_REPORT_BLOCKED)
		return;
	EXPECT(!e->group || e->group == o->expected);
	o->told += e->group != 0;
	o->all++;
}

static struct outlasting look_at_groups(struct world *w, int expected)
{
	struct outlasting o = { .expected = expected };

	sennit_report_visit(w->s, count_told, &o);
	return o;
}

static void be_slow_once(void *argument)
{
	struct held *h = argument;

	sennit_event_set(&h->begun);
	EXPECT(!sennit_event_wait(&h->end_once));
}

static void hold_once(void *argument)
{
	struct held *h = argument;

	sennit_once_call(&h->once, be_slow_once, h);
}

static void hold_all(struct held *h)
{
	memset(h, 0, sizeof(*h));
	sennit_mutex_lock(&h->mutex);
	sennit_rwlock_lock(&h->rwlock);
	sennit_wait_group_init(&h->one, 1);
	sennit_barrier_init(&h->barrier, 2);
	must_schedule(hold_once, h);
	assert_int_equal(sennit_event_wait(&h->begun), 0);
}

static void release_all(struct held *h)
{
	sennit_mutex_unlock(&h->mutex);
	sennit_rwlock_unlock(&h->rwlock);
	sennit_wait_group_done(&h->one);
	(void)sennit_barrier_wait(&h->barrier);
	sennit_event_set(&h->end_once);
	sennit_event_set(&h->event);
	sennit_event_set(&h->end_call);
}

static const char *const remarks[] = {
	", its group is cancelled, but this wait cannot be, for ",
	", its group is past its deadline, but this wait cannot end early, "
	"for ",
};

/* One of the waits is for members; the member waits, too. */
static void outlast(struct world *w, bool cancelled)
{
	const int   expected = cancelled ? -ECANCELED : -ETIMEDOUT;
	struct held h;
	char        text[16384];

	hold_all(&h);
	sennit_group_init_on(&h.g, w->s,
			     cancelled ? SENNIT_NEVER : sennit_now(),
			     SENNIT_GROUP_KEEP_GOING);
	for (unsigned i = 0; i < WAITS; i++)
		must_spawn(&h.g, waits[i], &h);
	if (cancelled) {
		assert_soon(waiting_for(w->s, &h.event) == 2);
		assert_int_equal(look_at_groups(w, 0).told, 0);
		sennit_group_cancel(&h.g);
	}
	assert_soon(look_at_groups(w, expected).told == WAITS + 1);
	printed_report(w->s, text, sizeof(text));
	assert_non_null(strstr(text, remarks[!cancelled]));
	assert_null(strstr(text, remarks[cancelled]));
	release_all(&h);
	assert_int_equal(sennit_group_wait(&h.g), cancelled ? -ECANCELED : 0);
}

TEST_WITH_THREADS(a_wait_that_outlasts_the_cancel_of_its_group_is_told)
{
	outlast(w, true);
}

TEST_WITH_THREADS(a_wait_that_outlasts_the_deadline_of_its_group_is_told)
{
	outlast(w, false);
}

static int wait_for_event(void *event)
{
	return sennit_event_wait(event);
}

TEST_WITH_WORKERS(a_wait_that_its_group_ends_is_not_told)
{
	sennit_event never = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	sennit_group g;

	open_on(w, &g, 0);
	must_spawn(&g, wait_for_event, &never);
	assert_soon(waiting_for(w->s, &never) == 1);
	assert_int_equal(look_at_groups(w, 0).told, 0);
	sennit_group_cancel(&g);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
}
