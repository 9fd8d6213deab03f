/* SPDX-License-Identifier: Apache-2.0 */
/* end.c - any number of clients are notified of a scheduler's end, and weak
 * handles detect it.
 */
#include "testing/with_workers.h"

#include "testing/proc_self.h"
#include "testing/counting_allocator.h"
#include "sennit/end.h"

#include <errno.h>

enum { CALLERS = 8 };

/* A scheduler and the clients of its end. */
struct life {
	sennit_scheduler      *s;
	sennit_weak_scheduler *weak;
	atomic_uint            ends;    /* calls of on_shutdown */
	atomic_uint            notices; /* calls of note() */
	atomic_uint            returned;
	atomic_uint            ran;
	sennit_event           go;
};

static struct counting_allocator tally;
static const sennit_allocator    counting = COUNTING_ALLOCATOR(&tally);

static void note_end(void *argument)
{
	struct life *l = argument;

	EXPECT(atomic_load(&l->notices) == 0);
	atomic_fetch_add(&l->ends, 1);
}

static void note(void *argument)
{
	atomic_fetch_add(&((struct life *)argument)->notices, 1);
}

static void begin_life(struct life *l, const struct world *w)
{
	memset(l, 0, sizeof(*l));
	l->s = start_with(SENNIT_CONFIG(.workers = w->workers,
					.allocator = &counting,
					.on_shutdown = note_end,
					.on_shutdown_context = l));
	l->weak = sennit_scheduler_weak(l->s);
}

static void wait_for_go(void *argument)
{
	struct life *l = argument;

	EXPECT(!sennit_event_wait(&l->go));
	atomic_fetch_add(&l->ran, 1);
}

static void must_enqueue(struct life *l, sennit_task_fn *run)
{
	const sennit_task t = { .run = run, .argument = l };

	EXPECT(sennit_schedule_task_on(l->s, &t) == 0);
}

/* --- several shutdowns -------------------------------------------------- */

static void *shut_down(void *argument)
{
	struct life *l = argument;

	EXPECT(sennit_scheduler_shutdown(l->s, sennit_after(GIVE_UP)) == 0);
	EXPECT(atomic_load(&l->ends) == 1);
	atomic_fetch_add(&l->returned, 1);
	return NULL;
}

static void start_callers(struct life *l, pthread_t *threads)
{
	for (unsigned i = 0; i < CALLERS; i++) {
		sennit_scheduler_retain(l->s);
		threads[i] = must_start_thread(shut_down, l);
	}
}

static void join_all(pthread_t *threads)
{
	for (unsigned i = 0; i < CALLERS; i++)
		pthread_join(threads[i], NULL);
}

/* Symptom: one caller returned, the other waited for ever. */
TEST_WITH_COUNTS(every_caller_of_shutdown_returns)
{
	struct life l;
	pthread_t   threads[CALLERS];

	for (unsigned i = 0; i < LOAD(50); i++) {
		begin_life(&l, w);
		start_callers(&l, threads);
		assert_int_equal(
			sennit_scheduler_shutdown(l.s, sennit_after(GIVE_UP)),
			0);
		assert_int_equal(atomic_load(&l.ends), 1);
		join_all(threads);
		sennit_weak_scheduler_release(l.weak);
		assert_int_equal(atomic_load(&tally.bytes), 0);
	}
}

TEST_WITH_THREAD_COUNTS(none_of_them_returns_before_the_work_is_done)
{
	struct life l;
	pthread_t   threads[CALLERS];

	begin_life(&l, w);
	must_enqueue(&l, wait_for_go);
	start_callers(&l, threads);
	sennit_scheduler_release(l.s);
	assert_soon(fibers_of(l.s) == 1);
	assert_int_equal(atomic_load(&l.returned), 0);
	sennit_event_set(&l.go);
	join_all(threads);
	assert_int_equal(atomic_load(&l.ran), 1);
	assert_int_equal(atomic_load(&l.returned), CALLERS);
	sennit_weak_scheduler_release(l.weak);
}

/* The promise of shutdown holds for each caller that returns. */
static void *shut_down_and_look(void *argument)
{
	struct life *l = argument;

	shut_down(l);
	EXPECT(atomic_load(&tally.bytes) == 0);
	return NULL;
}

TEST_WITH_COUNTS(who_returns_finds_no_memory_left)
{
	struct life l;
	pthread_t   thread;

	for (unsigned i = 0; i < LOAD(50); i++) {
		begin_life(&l, w);
		sennit_weak_scheduler_release(l.weak);
		sennit_scheduler_retain(l.s);
		thread = must_start_thread(shut_down_and_look, &l);
		shut_down_and_look(&l);
		pthread_join(thread, NULL);
	}
}

static void *give_up(void *argument)
{
	struct life *l = argument;

	EXPECT(sennit_scheduler_shutdown(l->s, 0) == -ETIMEDOUT);
	sennit_scheduler_release(l->s);
	return NULL;
}

TEST_WITH_COUNTS(one_may_give_up_while_another_waits)
{
	struct life l;
	pthread_t   patient, other;

	begin_life(&l, w);
	sennit_scheduler_retain(l.s);
	patient = must_start_thread(shut_down, &l);
	sennit_scheduler_retain(l.s); /* keeps it from ending */
	assert_int_equal(sennit_scheduler_shutdown(l.s, 0), -ETIMEDOUT);
	sennit_scheduler_retain(l.s);
	other = must_start_thread(give_up, &l);
	pthread_join(other, NULL);
	assert_int_equal(atomic_load(&l.returned), 0);
	sennit_scheduler_release(l.s);
	sennit_scheduler_release(l.s);
	pthread_join(patient, NULL);
	assert_int_equal(atomic_load(&l.returned), 1);
	sennit_weak_scheduler_release(l.weak);
}

static void set_event(void *event)
{
	sennit_event_set(event);
}

static void set_future(void *future)
{
	sennit_future_set(future, NULL);
}

/* --- registering -------------------------------------------------------- */

TEST_WITH_COUNTS(all_who_registered_are_told_once)
{
	struct life   l;
	sennit_event  e = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	sennit_future f = SENNIT_FUTURE_INIT;
	void         *value = &l;

	begin_life(&l, w);
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(sennit_scheduler_on_end(l.s, note, &l), 0);
	assert_int_equal(sennit_weak_scheduler_on_end(l.weak, note, &l), 0);
	assert_int_equal(sennit_scheduler_on_end(l.s, set_event, &e), 0);
	assert_int_equal(sennit_scheduler_on_end(l.s, set_future, &f), 0);
	assert_int_equal(atomic_load(&l.notices), 0);
	assert_false(sennit_event_is_set(&e));
	sennit_scheduler_release(l.s);
	EXPECT(!sennit_event_wait(&e));
	assert_int_equal(sennit_future_get(&f, &value), 0);
	assert_null(value);
	assert_int_equal(atomic_load(&l.notices), 11);
	assert_int_equal(atomic_load(&l.ends), 1);
	sennit_weak_scheduler_release(l.weak);
	assert_soon(!atomic_load(&tally.bytes));
}

struct line {
	unsigned came[4];
	unsigned count;
	struct place {
		struct line *line;
		unsigned     number;
	} places[4];
};

static void come(void *argument)
{
	struct place *p = argument;

	p->line->came[p->line->count++] = p->number;
}

TEST_WITH_COUNTS(they_are_told_in_the_order_of_registering)
{
	struct life l;
	struct line line = { .count = 0 };

	begin_life(&l, w);
	sennit_weak_scheduler_release(l.weak);
	for (unsigned i = 0; i < 4; i++) {
		line.places[i] = (struct place){ &line, i };
		assert_int_equal(
			sennit_scheduler_on_end(l.s, come, &line.places[i]), 0);
	}
	end_scheduler(l.s);
	assert_int_equal(line.count, 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(line.came[i], i);
}

TEST_WITH_COUNTS(who_comes_after_the_end_is_told_at_once)
{
	struct life   l;
	sennit_event  e = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	sennit_future f = SENNIT_FUTURE_INIT;

	begin_life(&l, w);
	end_scheduler(l.s);
	assert_int_equal(sennit_weak_scheduler_on_end(l.weak, note, &l), 0);
	assert_int_equal(atomic_load(&l.notices), 1);
	assert_int_equal(sennit_weak_scheduler_on_end(l.weak, set_event, &e),
			 0);
	assert_true(sennit_event_is_set(&e));
	assert_int_equal(sennit_weak_scheduler_on_end(l.weak, set_future, &f),
			 0);
	assert_true(sennit_future_is_set(&f));
	sennit_weak_scheduler_release(l.weak);
	assert_int_equal(atomic_load(&tally.bytes), 0);
}

TEST_WITH_COUNTS(nonsense_is_refused)
{
	struct life l;

	begin_life(&l, w);
	assert_int_equal(sennit_scheduler_on_end(l.s, NULL, &l), -EINVAL);
	assert_int_equal(sennit_weak_scheduler_on_end(l.weak, NULL, &l),
			 -EINVAL);
	end_scheduler(l.s);
	assert_int_equal(sennit_weak_scheduler_on_end(l.weak, NULL, &l),
			 -EINVAL);
	sennit_weak_scheduler_release(l.weak);
}

/* --- weak handles ------------------------------------------------------- */

TEST_WITH_COUNTS(a_weak_handle_keeps_no_scheduler_alive)
{
	struct life       l;
	sennit_scheduler *s = NULL;

	begin_life(&l, w);
	end_scheduler(l.s);
	assert_int_equal(atomic_load(&l.ends), 1);
	assert_int_equal(sennit_weak_scheduler_lock(l.weak, &s), -ESHUTDOWN);
	assert_null(s);
	sennit_weak_scheduler_retain(l.weak);
	sennit_weak_scheduler_release(l.weak);
	assert_int_not_equal(atomic_load(&tally.bytes), 0);
	sennit_weak_scheduler_release(l.weak);
	assert_int_equal(atomic_load(&tally.bytes), 0);
}

TEST_WITH_COUNTS(what_it_locks_stays)
{
	struct life       l;
	sennit_scheduler *s = NULL;

	begin_life(&l, w);
	assert_int_equal(sennit_weak_scheduler_lock(l.weak, &s), 0);
	assert_ptr_equal(s, l.s);
	sennit_scheduler_release(l.s);
	assert_int_equal(atomic_load(&l.ends), 0);
	end_scheduler(s);
	sennit_weak_scheduler_release(l.weak);
}

TEST_WITH_THREAD_COUNTS(it_revives_what_only_work_keeps_alive)
{
	struct life       l;
	sennit_scheduler *s = NULL;

	begin_life(&l, w);
	must_enqueue(&l, wait_for_go);
	assert_soon(fibers_of(l.s) == 1);
	sennit_scheduler_release(l.s); /* no reference is left */
	assert_int_equal(sennit_weak_scheduler_lock(l.weak, &s), 0);
	sennit_event_set(&l.go);
	assert_soon(atomic_load(&l.ran) == 1);
	assert_int_equal(atomic_load(&l.ends), 0);
	end_scheduler(s);
	assert_int_equal(atomic_load(&l.ends), 1);
	sennit_weak_scheduler_release(l.weak);
}

/* The callback runs after the scheduler's end, and releases the last handle. */
static void let_go_of_handle(void *argument)
{
	struct life      *l = argument;
	sennit_scheduler *s;

	EXPECT(sennit_weak_scheduler_lock(l->weak, &s) == -ESHUTDOWN);
	sennit_weak_scheduler_release(l->weak);
}

TEST_WITH_COUNTS(the_handle_may_go_within_a_notice)
{
	struct life l;

	begin_life(&l, w);
	assert_int_equal(sennit_scheduler_on_end(l.s, let_go_of_handle, &l), 0);
	end_scheduler(l.s);
	assert_int_equal(atomic_load(&tally.bytes), 0);
}

TEST_WITH_COUNTS(nothing_is_left_behind)
{
	unsigned    threads = threads_now();
	struct life l;
	pthread_t   callers[CALLERS];

	for (unsigned i = 0; i < 10; i++) {
		begin_life(&l, w);
		start_callers(&l, callers);
		sennit_scheduler_release(l.s);
		join_all(callers);
		sennit_weak_scheduler_release(l.weak);
		assert_int_equal(atomic_load(&tally.bytes), 0);
	}
	assert_soon(threads_now() <= threads);
}
