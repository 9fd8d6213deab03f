/* SPDX-License-Identifier: Apache-2.0 */
/* wait.c - what holds for every wait: the waiter may free the object when it
 * returns, and a wait ends exactly once. */
#include "with_workers.h"

#include <errno.h>

/* --- free at once ------------------------------------------------------- */

/* Waiters allocate an object, pass it to the signallers through a slot, wait
 * for it, and free it as soon as the wait returns. AddressSanitizer detects a
 * signaller that accesses it after that.
 */
enum { ROUNDS = 200 };

struct exchange {
	_Atomic(void *) slot;
	atomic_bool     over;
	atomic_uint     signallers;
	void (*signal)(void *thing);
	void (*use_up)(struct exchange *x); /* one round of a waiter */
	sennit_time deadline;
};

static void offer(struct exchange *x, void *thing)
{
	void *none = NULL;

	while (!atomic_compare_exchange_strong(&x->slot, &none, thing)) {
		none = NULL;
		sennit_yield();
	}
}

static void signal_what_comes(void *argument)
{
	struct exchange *x = argument;
	void            *thing;

	while (!atomic_load(&x->over)) {
		thing = atomic_exchange(&x->slot, NULL);
		if (thing)
			x->signal(thing);
		else
			sennit_yield();
	}
	atomic_fetch_sub(&x->signallers, 1);
}

static void *signal_as_thread(void *argument)
{
	signal_what_comes(argument);
	return NULL;
}

static void use_up_many(void *argument)
{
	struct exchange *x = argument;
	unsigned         i;

	for (i = 0; i < ROUNDS; i++)
		x->use_up(x);
}

static void trade(struct exchange *x)
{
	pthread_t t;
	unsigned  i;

	atomic_store(&x->signallers, 3);
	t = must_start_thread(signal_as_thread, x);
	for (i = 0; i < 2; i++)
		must_schedule(signal_what_comes, x);
	in_each_place(use_up_many, x);
	assert_soon(!atomic_load(&x->slot));
	atomic_store(&x->over, true);
	assert_soon(atomic_load(&x->signallers) == 0);
	pthread_join(t, NULL);
}

static void set_event(void *thing)
{
	sennit_event_set(thing);
}

static void use_up_event(struct exchange *x)
{
	sennit_event *e = calloc(1, sizeof(*e));

	sennit_event_init(e, SENNIT_EVENT_MANUAL, false);
	offer(x, e);
	EXPECT(sennit_event_wait_until(e, x->deadline) == 0);
	free(e);
}

static void use_up_auto_event(struct exchange *x)
{
	sennit_event *e = calloc(1, sizeof(*e));

	sennit_event_init(e, SENNIT_EVENT_AUTO, false);
	offer(x, e);
	EXPECT(sennit_event_wait_until(e, x->deadline) == 0);
	free(e);
}

static void group_done(void *thing)
{
	sennit_wait_group_done(thing);
}

static void use_up_wait_group(struct exchange *x)
{
	sennit_wait_group *g = calloc(1, sizeof(*g));

	sennit_wait_group_init(g, 1);
	offer(x, g);
	EXPECT(sennit_wait_group_wait_until(g, x->deadline) == 0);
	free(g);
}

struct shared {
	sennit_mutex lock;
	unsigned     owners; /* under lock */
};

/* The last of the two frees it, while the other may still be unlocking. */
static void leave_shared(void *thing)
{
	struct shared *s = thing;
	unsigned       left;

	sennit_mutex_lock(&s->lock);
	left = --s->owners;
	sennit_mutex_unlock(&s->lock);
	if (!left)
		free(s);
}

static void use_up_mutex(struct exchange *x)
{
	struct shared *s = calloc(1, sizeof(*s));

	s->owners = 2;
	sennit_mutex_lock(&s->lock);
	offer(x, s);
	sennit_mutex_unlock(&s->lock);
	leave_shared(s);
}

TEST_WITH_WORKERS(whoever_waited_for_an_event_may_free_it)
{
	struct exchange x = { .signal = set_event,
			      .use_up = use_up_event,
			      .deadline = SENNIT_NEVER };

	trade(&x);
}

TEST_WITH_WORKERS(whoever_waited_for_an_auto_event_may_free_it)
{
	struct exchange x = { .signal = set_event,
			      .use_up = use_up_auto_event,
			      .deadline = sennit_after(100 * SENNIT_SECOND) };

	trade(&x);
}

TEST_WITH_WORKERS(whoever_waited_for_a_wait_group_may_free_it)
{
	struct exchange x = { .signal = group_done,
			      .use_up = use_up_wait_group,
			      .deadline = SENNIT_NEVER };

	trade(&x);
}

TEST_WITH_WORKERS(whoever_waited_with_a_deadline_may_free_it)
{
	struct exchange x = { .signal = group_done,
			      .use_up = use_up_wait_group,
			      .deadline = sennit_after(100 * SENNIT_SECOND) };

	trade(&x);
}

TEST_WITH_WORKERS(whoever_locks_a_mutex_next_may_free_it)
{
	struct exchange x = { .signal = leave_shared, .use_up = use_up_mutex };

	trade(&x);
}

/* --- once --------------------------------------------------------------- */

struct pair {
	sennit_event      event;
	sennit_wait_group ended;
	atomic_uint       in_time, late;
};

static void wait_shortly(void *argument)
{
	struct pair      *p = argument;
	const sennit_time t = sennit_after(50 * SENNIT_MICROSECOND);
	const int         err = sennit_event_wait_until(&p->event, t);

	atomic_fetch_add(err ? &p->late : &p->in_time, 1);
	sennit_wait_group_done(&p->ended);
}

static void set_after_a_while(void *argument)
{
	struct pair *p = argument;

	sennit_sleep(50 * SENNIT_MICROSECOND);
	sennit_event_set(&p->event);
	sennit_wait_group_done(&p->ended);
}

/* One set and one waiter: either the waiter was in time, or the event is still
 * set. */
TEST_WITH_WORKERS(a_wait_ends_by_its_signal_or_by_its_deadline)
{
	struct pair p;
	unsigned    i;

	for (i = 0; i < 300; i++) {
		memset(&p, 0, sizeof(p));
		sennit_event_init(&p.event, SENNIT_EVENT_AUTO, false);
		sennit_wait_group_init(&p.ended, 2);
		must_schedule(wait_shortly, &p);
		must_schedule(set_after_a_while, &p);
		sennit_wait_group_wait(&p.ended);
		assert_int_equal(atomic_load(&p.in_time) +
					 sennit_event_is_set(&p.event),
				 1);
		assert_int_equal(atomic_load(&p.in_time) + atomic_load(&p.late),
				 1);
	}
}
