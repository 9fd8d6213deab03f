/* SPDX-License-Identifier: Apache-2.0 */
/* blocking_calls_vs_deadlines.c - many fibers call blocking functions on few
 * blocking threads, which end as soon as they are idle, and whose start is
 * refused at random. A call must run once, or return an error and never run. */
#include "testing/crowd.h"
#include "testing/next_create.h"
#include "testing/random.h"

#include <errno.h>

enum { TASKS = 24, BOUND = 2, UNBOUND = 1, ALL = TASKS + BOUND + UNBOUND };
enum { MOST = 3 };

static atomic_uint refused_of_four; /* number of refused threads of each four */
static atomic_uint creations;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
		   void *(*run)(void *), void              *argument)
{
	uint64_t random = random_stream(atomic_fetch_add(&creations, 1));

	if (random_below(&random, 4) < atomic_load(&refused_of_four))
		return EAGAIN;
	return next_create()(thread, attributes, run, argument);
}

struct office {
	sennit_scheduler *s;
	atomic_uint       next;
	unsigned          rounds;
	atomic_uint       at_work; /* blocking threads, or fibers that run a
				    * call in place */
	atomic_uint       made, late;
};

/* On the caller's stack, so a call that begins too late finds another order. */
struct order {
	struct office *office;
	sennit_event   half;
	bool           waits; /* until half of the calls wait */
	unsigned       pauses;
	unsigned       number;
	unsigned       runs;
};

static void *carry_out(void *argument)
{
	struct order *o = argument;

	atomic_fetch_add(&o->office->at_work, 1);
	while (o->pauses && o->pauses--)
		sched_yield();
	if (o->waits)
		EXPECT(!sennit_event_wait(&o->half));
	o->runs++;
	errno = (int)o->number;
	atomic_fetch_sub(&o->office->at_work, 1);
	return o;
}

static void set_half(void *argument)
{
	sennit_event_set(argument);
}

static sennit_time some_time(uint64_t *random)
{
	static const uint32_t spans[] = { 1, 1000, 50000, 500000 };

	switch (random_below(random, 4)) {
	case 0:
		return SENNIT_NEVER;
	case 1:
		return 0;
	default:
		return sennit_after(
			random_below(random, spans[random_below(random, 4)]));
	}
}

static void order_once(struct office *f, uint64_t *random)
{
	struct order o = { .office = f,
			   .pauses = random_below(random, 8) ? 0 : 20,
			   .number = 1 + random_below(random, 100) };
	bool         fiber = sennit_scheduler_current() != NULL;
	void        *result = NULL;
	int          err;

	errno = 0;
	if (fiber && !random_below(random, 16)) {
		o.waits = true;
		must_schedule_here(set_half, &o.half);
		result = sennit_blocking_call(carry_out, &o);
		err = 0;
	} else {
		err = sennit_blocking_call_until(carry_out, &o, &result,
						 some_time(random));
	}
	EXPECT(err ? err == -ETIMEDOUT && !result : result == &o);
	EXPECT(errno == (err ? 0 : (int)o.number));
	EXPECT(o.runs == !err);
	EXPECT(fiber || !err);
	atomic_fetch_add(err ? &f->late : &f->made, 1);
}

static void order_often(void *argument)
{
	struct office *f = argument;
	uint64_t       random = random_stream(atomic_fetch_add(&f->next, 1));
	unsigned       i;

	for (i = 0; i < f->rounds && !atomic_load(&broken_claims); i++) {
		order_once(f, &random);
		if (!random_below(&random, 32))
			sennit_sleep(random_below(&random, 3000000));
	}
}

static void run_office(const struct world *w, unsigned refused)
{
	static struct office f; /* static, because late tasks read it */
	struct crowd         c = { .run = order_often,
				   .argument = &f,
				   .tasks = TASKS,
				   .bound = BOUND,
				   .unbound = UNBOUND };

	memset(&f, 0, sizeof(f));
	f.s = start_with(SENNIT_CONFIG(.workers = w->workers,
				       .max_blocking_threads = MOST,
				       .blocking_idle_ms = 1));
	f.rounds = (unsigned)scaled(200);
	assert_int_equal(sennit_thread_bind(f.s), 0);
	c.s = f.s;
	gather(&c);
	atomic_store(&refused_of_four, refused);
	disperse(&c);
	atomic_store(&refused_of_four, 0);
	sennit_thread_unbind();
	end_scheduler(f.s);
	assert_int_equal(atomic_load(&f.at_work), 0);
	assert_int_equal(atomic_load(&f.made) + atomic_load(&f.late),
			 ALL * f.rounds);
}

TEST_WITH_COUNTS(a_call_runs_once_or_never)
{
	run_office(w, 0);
}

TEST_WITH_COUNTS(also_when_threads_are_refused)
{
	run_office(w, 2);
	run_office(w, 4);
}
