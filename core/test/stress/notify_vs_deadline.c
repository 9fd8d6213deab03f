/* SPDX-License-Identifier: Apache-2.0 */
/* notify_vs_deadline.c - signals and deadlines come at the same time: each wait
 * must end once, by one of them, and the other must have no effect. */
#include "testing/crowd.h"
#include "testing/random.h"

enum { WAITERS = 6, SIGNALLERS = 3, REACH = 60000 };

/* Tokens under a lock: each token was taken or is still there. */
struct mint {
	sennit_mutex lock;
	sennit_cond  coined;
	atomic_bool  over;
	atomic_uint  next;
	unsigned     rounds;
	uint64_t     tokens, made, taken; /* under lock */
};

static bool has_token(void *argument)
{
	return ((struct mint *)argument)->tokens > 0;
}

static void take_tokens(void *argument)
{
	struct mint *m = argument;
	uint64_t     random = random_stream(atomic_fetch_add(&m->next, 1));

	while (!atomic_load(&m->over)) {
		const uint32_t    span = random_below(&random, REACH);
		const sennit_time t = sennit_after(span);

		sennit_mutex_lock(&m->lock);
		if (!sennit_cond_wait_until_true(&m->coined, &m->lock,
						 has_token, m, t)) {
			EXPECT(m->tokens > 0);
			m->tokens--;
			m->taken++;
		} else {
			EXPECT(sennit_now() >= t);
			EXPECT(m->tokens == 0);
		}
		sennit_mutex_unlock(&m->lock);
		sennit_yield();
	}
}

static void make_tokens(void *argument)
{
	struct mint *m = argument;
	uint64_t     random = random_stream(atomic_fetch_add(&m->next, 1));

	for (unsigned i = 0; i < m->rounds; i++) {
		sennit_sleep(random_below(&random, REACH));
		sennit_mutex_lock(&m->lock);
		m->tokens++;
		m->made++;
		sennit_mutex_unlock(&m->lock);
		if (random_below(&random, 4))
			sennit_cond_notify_one(&m->coined);
		else
			sennit_cond_notify_all(&m->coined);
	}
}

TEST_WITH_WORKERS(no_token_is_lost_or_taken_twice)
{
	struct mint  m = { .rounds = (unsigned)scaled(300) };
	struct crowd takers = { .run = take_tokens,
				.argument = &m,
				.tasks = WAITERS - 1,
				.unbound = 1 };

	gather(&takers);
	run_crowd((struct crowd){ .run = make_tokens,
				  .argument = &m,
				  .tasks = SIGNALLERS - 1,
				  .unbound = 1 });
	atomic_store(&m.over, true);
	disperse(&takers);
	assert_int_equal(m.made, SIGNALLERS * m.rounds);
	assert_int_equal(m.taken + m.tokens, m.made);
	sennit_cond_destroy(&m.coined);
	sennit_mutex_destroy(&m.lock);
}

/* One waiter and one signal, at about the same time. */
struct duel {
	sennit_event      event;
	sennit_event      next;
	sennit_wait_group met;
	sennit_time       when, deadline;
	bool              in_time;
};

static void signal_then(void *argument)
{
	struct duel *d = argument;

	while (sennit_now() < d->when)
		sennit_yield();
	sennit_event_set(&d->event);
	sennit_wait_group_done(&d->met);
}

/* Then a wait that only its deadline ends. */
static void wait_until_then(void *argument)
{
	struct duel *d = argument;
	sennit_time  t;

	d->in_time = sennit_event_wait_until(&d->event, d->deadline) == 0;
	EXPECT(d->in_time || sennit_now() >= d->deadline);
	t = sennit_after(20 * SENNIT_MICROSECOND);
	EXPECT(sennit_event_wait_until(&d->next, t) != 0);
	EXPECT(sennit_now() >= t);
	sennit_wait_group_done(&d->met);
}

static void fight(uint64_t *random, bool waiter_is_thread)
{
	struct duel d = { .in_time = false };

	sennit_event_init(&d.event, SENNIT_EVENT_AUTO);
	sennit_event_init(&d.next, SENNIT_EVENT_AUTO);
	sennit_wait_group_init(&d.met, 2);
	d.deadline = sennit_after(20000 + random_below(random, 20000));
	d.when = sennit_after(20000 + random_below(random, 20000));
	must_schedule(signal_then, &d);
	if (waiter_is_thread)
		in_a_thread(wait_until_then, &d);
	else
		must_schedule(wait_until_then, &d);
	sennit_wait_group_wait(&d.met);
	EXPECT(d.in_time != sennit_event_is_set(&d.event));
}

TEST_WITH_WORKERS(either_the_signal_wins_or_the_deadline)
{
	uint64_t random = random_stream(100);

	for (uint64_t i = scaled(LOAD(2000)); i-- > 0;)
		fight(&random, false);
	for (uint64_t i = scaled(200); i-- > 0;)
		fight(&random, true);
}
