/* SPDX-License-Identifier: Apache-2.0 */
/* every_wait.h - each wait for a primitive that returns an int, as a table. */
#ifndef SN_TEST_EVERY_WAIT_H
#define SN_TEST_EVERY_WAIT_H

#include "testing/with_workers.h"

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

static inline void set_stage(struct stage *s)
{
	const sennit_pool_config one = { .size = sizeof(one),
					 .item_size = 1,
					 .count = 1 };
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
static inline void clear_stage(struct stage *s)
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

/* Each times out at the deadline d, unless its `come` makes it succeed. */

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

	err = d == PLAIN ? sennit_event_wait_any(both, 2, &which)
			 : sennit_event_wait_any_until(both, 2, &which, d);
	EXPECT(which == (err ? 9 : 1));
	return err;
}

/* More than have a place in a small frame. */
static int wait_one_of_many(struct stage *s, sennit_time d)
{
	sennit_event *many[10];
	size_t        which = 99;
	int           err;

	for (unsigned i = 0; i < 10; i++)
		many[i] = i < 9 ? &s->other : &s->event;
	err = d == PLAIN ? sennit_event_wait_any(many, 10, &which)
			 : sennit_event_wait_any_until(many, 10, &which, d);
	EXPECT(which == (err ? 99 : 9));
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

	err = d == PLAIN ? sennit_select(cases, 3, &which)
			 : sennit_select_until(cases, 3, &which, d);
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

	err = d == PLAIN ? sennit_future_wait_any(both, 2, &which)
			 : sennit_future_wait_any_until(both, 2, &which, d);
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
	return d == PLAIN ? sennit_semaphore_acquire(&s->semaphore, 2)
			  : sennit_semaphore_acquire_until(&s->semaphore, 2, d);
}

static void come_permits(struct stage *s)
{
	sennit_semaphore_release(&s->semaphore, 2);
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
	return d == PLAIN ? sennit_sleep(1000 * SENNIT_SECOND)
			  : sennit_sleep_until(d);
}

struct wait {
	const char *name;
	int (*until)(struct stage *s, sennit_time d);
	void (*come)(struct stage *s);
	size_t   object; /* where in the stage reports see it wait */
	uint32_t kind;   /* as what; enum sennit_waits_for */
};

#define WAIT(f, come, object, kind)                          \
	{                                                    \
#f, f, come, offsetof(struct stage, object), \
			SENNIT_WAITS_FOR_##kind              \
	}

static const struct wait waits[] = {
	WAIT(wait_event, come_event, event, EVENT),
	WAIT(wait_any_event, come_event, other, SELECT),
	WAIT(wait_one_of_many, come_event, other, SELECT),
	WAIT(wait_all_events, come_event, event, EVENT),
	WAIT(wait_send, come_room, full, CHANNEL),
	WAIT(wait_receive, come_value, empty, CHANNEL),
	WAIT(wait_select, come_event, full, SELECT),
	WAIT(wait_future, come_result, future, FUTURE),
	WAIT(wait_get, come_result, future, FUTURE),
	WAIT(wait_any_future, come_result, second, SELECT),
	WAIT(wait_all_futures, come_result, future, FUTURE),
	WAIT(wait_permit, come_permits, semaphore, SEMAPHORE),
	WAIT(wait_cond, come_notify, cond, COND),
	WAIT(wait_ticket, come_turn, mine, TICKET),
	WAIT(wait_item, come_item, pool, POOL),
	WAIT(wait_time, NULL, place, TIME), /* no object */
};

enum { WAITS = sizeof(waits) / sizeof(*waits) };

/* A notify has no effect on later waits, and a rendezvous needs both sides. */
static inline bool can_come_first(const struct wait *wait)
{
	return wait->come && wait->come != come_notify &&
	       wait->come != come_value;
}

#endif
