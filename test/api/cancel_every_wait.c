/* SPDX-License-Identifier: Apache-2.0 */
/* cancel_every_wait.c - each wait that returns an int ends in a cancelled group
 * and at the deadline of the group, with a deadline and without one, and leaves
 * nothing behind. With SENNIT_UNCANCELLED it goes on.
 */
#include "cancel_objects.h"
#include "crowd.h"
#include "members.h"

#include <errno.h>

/* Stands for the call that takes no deadline. */
#define PLAIN (SENNIT_NEVER - 2)

/* What one member waits for, and frees when it has waited. */
struct stage {
	sennit_event     event, other;
	sennit_channel   empty, full;
	int              place[1];
	sennit_future    future, second;
	sennit_semaphore semaphore;
	sennit_mutex     mutex;
	sennit_cond      cond;
	sennit_pool      pool;
	void            *item;

	sennit_ticket_queue line;
	sennit_ticket       before, mine;
};

static void set_stage(struct stage *s)
{
	const sennit_pool_config one = { .item_size = 1, .count = 1 };
	const sennit_channel     empty = SENNIT_CHANNEL_INIT(sizeof(int));
	const sennit_channel     full = SENNIT_CHANNEL_INIT_ARRAY(s->place);
	const int                value = 1;

	memset(s, 0, sizeof(*s));
	s->empty = empty;
	s->full = full;
	EXPECT(!sennit_channel_send(&s->full, &value));
	EXPECT(!sennit_pool_init(&s->pool, &one));
	EXPECT(!sennit_pool_borrow(&s->pool, &s->item));
	sennit_ticket_queue_take(&s->line, &s->before);
	sennit_ticket_queue_take(&s->line, &s->mine);
}

/* It is misuse if anyone still waited. */
static void clear_stage(struct stage *s)
{
	sennit_event_destroy(&s->event);
	sennit_event_destroy(&s->other);
	sennit_channel_destroy(&s->empty);
	sennit_channel_destroy(&s->full);
	sennit_future_destroy(&s->future);
	sennit_future_destroy(&s->second);
	sennit_semaphore_destroy(&s->semaphore);
	sennit_cond_destroy(&s->cond);
	sennit_mutex_destroy(&s->mutex);
	if (s->item)
		sennit_pool_return(&s->pool, s->item);
	sennit_pool_destroy(&s->pool);
	sennit_ticket_done(&s->before);
	sennit_ticket_done(&s->mine);
	sennit_ticket_queue_destroy(&s->line);
	memset(s, 0xa5, sizeof(*s));
}

/* --- the waits ---------------------------------------------------------- */

/* Each waits in vain until the deadline d. Its `come` makes it succeed. */

static int wait_event(struct stage *s, sennit_time d)
{
	return d == PLAIN ? sennit_event_wait(&s->event)
			  : sennit_event_wait_until(&s->event, d);
}

static void come_event(struct stage *s)
{
	sennit_event_set(&s->event);
}

static int wait_any_event(struct stage *s, sennit_time d)
{
	sennit_event *const both[] = { &s->other, &s->event };
	size_t              which = 9;
	int                 err;

	if (d == PLAIN) {
		err = sennit_event_wait_any(both, 2);
		EXPECT(err <= 0 || err == 1);
		return err > 0 ? 0 : err;
	}
	err = sennit_event_wait_any_until(both, 2, &which, d);
	EXPECT(which == (err ? 9 : 1));
	return err;
}

static int wait_all_events(struct stage *s, sennit_time d)
{
	sennit_event *const one[] = { &s->event };

	return d == PLAIN ? sennit_event_wait_all(one, 1)
			  : sennit_event_wait_all_until(one, 1, d);
}

static int wait_send(struct stage *s, sennit_time d)
{
	const int value = 2;

	return d == PLAIN ? sennit_channel_send(&s->full, &value)
			  : sennit_channel_send_until(&s->full, &value, d);
}

static void come_room(struct stage *s)
{
	int value = 0;

	EXPECT(!sennit_channel_receive_until(&s->full, &value, 0));
	EXPECT(value == 1);
}

static int wait_receive(struct stage *s, sennit_time d)
{
	int value = 7;
	int err = d == PLAIN
			  ? sennit_channel_receive(&s->empty, &value)
			  : sennit_channel_receive_until(&s->empty, &value, d);

	EXPECT(value == (err ? 7 : 3));
	return err;
}

/* A rendezvous: the receiver waits, or will. */
static void come_value(struct stage *s)
{
	const int value = 3;

	EXPECT(!sennit_channel_send_until(&s->empty, &value,
					  SENNIT_UNCANCELLED));
}

static int wait_select(struct stage *s, sennit_time d)
{
	int         value = 7;
	sennit_case cases[] = { sennit_case_send(&s->full, &value),
				sennit_case_event(&s->event),
				sennit_case_receive(&s->empty, &value) };
	size_t      which = 9;
	int         err;

	if (d == PLAIN) {
		err = sennit_select(cases, 3);
		EXPECT(err <= 0 || err == 1);
		return err > 0 ? 0 : err;
	}
	err = sennit_select_until(cases, 3, &which, d);
	EXPECT(which == (err ? 9 : 1) && value == 7);
	return err;
}

static int wait_future(struct stage *s, sennit_time d)
{
	return d == PLAIN ? sennit_future_wait(&s->future)
			  : sennit_future_wait_until(&s->future, d);
}

static void come_result(struct stage *s)
{
	sennit_future_set(&s->future, s);
}

static int wait_get(struct stage *s, sennit_time d)
{
	void *value = NULL;
	int   err = d == PLAIN ? sennit_future_get(&s->future, &value)
			       : sennit_future_get_until(&s->future, &value, d);

	EXPECT(value == (err ? NULL : s));
	return err;
}

static int wait_any_future(struct stage *s, sennit_time d)
{
	sennit_future *const both[] = { &s->second, &s->future };
	size_t               which = 9;
	int                  err;

	if (d == PLAIN) {
		err = sennit_future_wait_any(both, 2);
		EXPECT(err <= 0 || err == 1);
		return err > 0 ? 0 : err;
	}
	err = sennit_future_wait_any_until(both, 2, &which, d);
	EXPECT(which == (err ? 9 : 1));
	return err;
}

static int wait_all_futures(struct stage *s, sennit_time d)
{
	sennit_future *const one[] = { &s->future };

	return d == PLAIN ? sennit_future_wait_all(one, 1)
			  : sennit_future_wait_all_until(one, 1, d);
}

static int wait_permit(struct stage *s, sennit_time d)
{
	return d == PLAIN ? sennit_semaphore_take(&s->semaphore, 2)
			  : sennit_semaphore_take_until(&s->semaphore, 2, d);
}

static void come_permits(struct stage *s)
{
	sennit_semaphore_give(&s->semaphore, 2);
}

static int wait_cond(struct stage *s, sennit_time d)
{
	int err;

	sennit_mutex_lock(&s->mutex);
	err = d == PLAIN ? sennit_cond_wait(&s->cond, &s->mutex)
			 : sennit_cond_wait_until(&s->cond, &s->mutex, d);
	sennit_mutex_unlock(&s->mutex); /* misuse, if it were not held */
	return err;
}

static void come_notify(struct stage *s)
{
	sennit_mutex_lock(&s->mutex);
	sennit_cond_notify_one(&s->cond);
	sennit_mutex_unlock(&s->mutex);
}

static int wait_ticket(struct stage *s, sennit_time d)
{
	return d == PLAIN ? sennit_ticket_wait(&s->mine)
			  : sennit_ticket_wait_until(&s->mine, d);
}

/* clear_stage() marks a ticket as done, too. */
static void come_turn(struct stage *s)
{
	sennit_ticket_done(&s->before);
	sennit_ticket_queue_take(&s->line, &s->before);
}

static int wait_item(struct stage *s, sennit_time d)
{
	void *item = NULL;
	int   err = d == PLAIN ? sennit_pool_borrow(&s->pool, &item)
			       : sennit_pool_borrow_until(&s->pool, &item, d);

	EXPECT(!err == !!item);
	if (!err)
		s->item = item;
	return err;
}

static void come_item(struct stage *s)
{
	void *item = s->item;

	s->item = NULL;
	sennit_pool_return(&s->pool, item);
}

/* A sleep ends by itself, so nothing makes it succeed. */
static int wait_time(struct stage *s, sennit_time d)
{
	(void)s;
	return d == PLAIN ? sennit_sleep(1000 * SENNIT_SECOND)
			  : sennit_sleep_until(d);
}

struct wait {
	const char *name;
	int (*until)(struct stage *s, sennit_time d);
	void (*come)(struct stage *s);
	size_t object; /* where in the stage reports see it wait */
};

#define WAIT(f, come, object)                               \
	{                                                   \
#f, f, come, offsetof(struct stage, object) \
	}

static const struct wait waits[] = {
	WAIT(wait_event, come_event, event),
	WAIT(wait_any_event, come_event, other),
	WAIT(wait_all_events, come_event, event),
	WAIT(wait_send, come_room, full),
	WAIT(wait_receive, come_value, empty),
	WAIT(wait_select, come_event, full),
	WAIT(wait_future, come_result, future),
	WAIT(wait_get, come_result, future),
	WAIT(wait_any_future, come_result, second),
	WAIT(wait_all_futures, come_result, future),
	WAIT(wait_permit, come_permits, semaphore),
	WAIT(wait_cond, come_notify, cond),
	WAIT(wait_ticket, come_turn, mine),
	WAIT(wait_item, come_item, pool),
	WAIT(wait_time, NULL, place), /* reports know no object of a sleep */
};

enum { WAITS = sizeof(waits) / sizeof(*waits) };

/* --- members ------------------------------------------------------------ */

struct attempt {
	const struct wait *wait;
	sennit_time        deadline;
	int                expected;
	sennit_event      *cancelled; /* it begins after this is set, or NULL */
	atomic_uint       *begun;
};

static int attempt(void *argument)
{
	const struct attempt *a = argument;
	struct stage         *s = malloc(sizeof(*s));
	int                   err;

	set_stage(s);
	if (a->cancelled)
		EXPECT(!sennit_event_wait_until(a->cancelled,
						SENNIT_UNCANCELLED));
	atomic_fetch_add(a->begun, 1);
	err = a->wait->until(s, a->deadline);
	if (err != a->expected)
		fprintf(stderr, "%s: %d\n", a->wait->name, err);
	EXPECT(err == a->expected);
	clear_stage(s);
	free(s);
	return err;
}

enum { MEMBERS = 3 * WAITS };

/* Each wait without a deadline, and with two that do not end it. */
static void spawn_all(sennit_group *g, int expected, sennit_event *cancelled,
		      atomic_uint *begun)
{
	const sennit_time later[] = { PLAIN, SENNIT_NEVER,
				      sennit_after(1000 * SENNIT_SECOND) };
	struct attempt    a = { .expected = expected,
				.cancelled = cancelled,
				.begun = begun };

	for (unsigned i = 0; i < MEMBERS; i++) {
		a.wait = &waits[i % WAITS];
		a.deadline = later[i / WAITS];
		assert_int_equal(
			sennit_group_spawn_copy(g, attempt, &a, sizeof(a)), 0);
	}
}

TEST_WITH_WORKERS(a_wait_in_a_cancelled_group_does_not_begin)
{
	sennit_event cancelled = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	atomic_uint  begun = 0;
	sennit_group g;

	open_on(w, &g, 0);
	spawn_all(&g, -ECANCELED, &cancelled, &begun);
	assert_true(sennit_group_cancel(&g));
	sennit_event_set(&cancelled);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
}

TEST_WITH_WORKERS(a_cancel_ends_each_wait)
{
	atomic_uint  begun = 0;
	sennit_group g;

	open_on(w, &g, 0);
	spawn_all(&g, -ECANCELED, NULL, &begun);
	assert_soon(atomic_load(&begun) == MEMBERS);
	assert_soon(fibers_of(w->s) >= MEMBERS);
	assert_true(sennit_group_cancel(&g));
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
}

TEST_WITH_WORKERS(the_deadline_of_the_group_ends_each_wait)
{
	atomic_uint  begun = 0;
	sennit_group g;

	sennit_group_init_on(&g, w->s, sennit_after(5 * SENNIT_MILLISECOND),
			     SENNIT_GROUP_KEEP_GOING);
	spawn_all(&g, -ETIMEDOUT, NULL, &begun);
	assert_int_equal(sennit_group_wait(&g), -ETIMEDOUT);
}

TEST_WITH_WORKERS(a_deadline_that_has_passed_ends_each_wait)
{
	atomic_uint  begun = 0;
	sennit_group g;

	sennit_group_init_on(&g, w->s, 1, SENNIT_GROUP_KEEP_GOING);
	spawn_all(&g, -ETIMEDOUT, NULL, &begun);
	assert_int_equal(sennit_group_wait(&g), -ETIMEDOUT);
}

/* --- what a group does not end ------------------------------------------ */

struct shielded {
	const struct wait *wait;
	struct stage       stage;
	sennit_time        deadline;
	sennit_event       cancelled;
};

static int attempt_shielded(void *argument)
{
	struct shielded *a = argument;

	EXPECT(!sennit_event_wait_until(&a->cancelled, SENNIT_UNCANCELLED));
	EXPECT(a->wait->until(&a->stage, a->deadline) == 0);
	return 0;
}

static void shield(struct world *w, const struct wait *wait)
{
	struct shielded a = { .wait = wait, .deadline = SENNIT_UNCANCELLED };
	sennit_group    g;

	set_stage(&a.stage);
	sennit_group_init_on(&g, w->s, 1, 0);
	must_spawn(&g, attempt_shielded, &a);
	assert_true(sennit_group_cancel(&g));
	sennit_event_set(&a.cancelled);
	assert_soon(waiting_for(w->s, (char *)&a.stage + wait->object) == 1);
	wait->come(&a.stage);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	clear_stage(&a.stage);
}

TEST_WITH_WORKERS(an_uncancelled_wait_goes_on)
{
	for (unsigned i = 0; i < WAITS; i++)
		if (waits[i].come)
			shield(w, &waits[i]);
}

/* A notify is missed by those who come later, and a rendezvous needs both. */
static bool can_come_first(const struct wait *wait)
{
	return wait->come && wait->come != come_notify &&
	       wait->come != come_value;
}

TEST_WITH_WORKERS(who_need_not_wait_is_served_in_a_cancelled_group)
{
	for (unsigned i = 0; i < WAITS; i++) {
		struct shielded a = { .wait = &waits[i], .deadline = PLAIN };
		sennit_group    g;

		if (!can_come_first(&waits[i]))
			continue;
		set_stage(&a.stage);
		waits[i].come(&a.stage);
		open_on(w, &g, 0);
		must_spawn(&g, attempt_shielded, &a);
		assert_true(sennit_group_cancel(&g));
		sennit_event_set(&a.cancelled);
		assert_int_equal(sennit_group_wait(&g), -ECANCELED);
		clear_stage(&a.stage);
	}
}

/* --- outside of groups -------------------------------------------------- */

struct lone {
	const struct wait *wait;
	struct stage       stage;
	atomic_bool        ended;
};

static void wait_alone(void *argument)
{
	struct lone *l = argument;

	EXPECT(l->wait->until(&l->stage, PLAIN) == 0);
	atomic_store(&l->ended, true);
}

static void *wait_alone_in_a_thread(void *argument)
{
	wait_alone(argument);
	return NULL;
}

/* A notify could come before the thread waits, so it is repeated. */
TEST_WITH_WORKERS(an_unbound_thread_waits_in_each_way)
{
	for (unsigned i = 0; i < WAITS; i++) {
		struct lone l = { .wait = &waits[i] };
		pthread_t   thread;

		if (!waits[i].come)
			continue;
		set_stage(&l.stage);
		thread = must_start_thread(wait_alone_in_a_thread, &l);
		do {
			waits[i].come(&l.stage);
			sched_yield();
		} while (waits[i].come == come_notify &&
			 !atomic_load(&l.ended));
		pthread_join(thread, NULL);
		clear_stage(&l.stage);
	}
	(void)w;
}
