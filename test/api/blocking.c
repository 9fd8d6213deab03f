/* SPDX-License-Identifier: Apache-2.0 */
/* blocking.c - functions that block their thread, called from fibers: their
 * results, where they run, and what runs meanwhile. */
#include "with_workers.h"

#include <errno.h>
#include <fenv.h>
#include <semaphore.h>
#include <signal.h>

/* --- the called functions ----------------------------------------------- */

static void *return_argument(void *argument)
{
	return argument;
}

static void *leave_errno(void *argument)
{
	errno = *(int *)argument;
	return NULL;
}

static void *keep_errno(void *argument)
{
	*(int *)argument = errno;
	return NULL;
}

/* Blocks its thread until released. */
struct hold {
	sem_t       go;
	atomic_uint begun;
	atomic_uint ended;
};

static void init_hold(struct hold *h)
{
	sem_init(&h->go, 0, 0);
	atomic_init(&h->begun, 0);
	atomic_init(&h->ended, 0);
}

static void let_go(struct hold *h, unsigned n)
{
	while (n--)
		sem_post(&h->go);
}

static void *hold(void *argument)
{
	struct hold *h = argument;

	atomic_fetch_add(&h->begun, 1);
	while (sem_wait(&h->go))
		;
	atomic_fetch_add(&h->ended, 1);
	return h;
}

static void call_hold(void *argument)
{
	EXPECT(sennit_blocking_call(hold, argument) == argument);
}

/* Bind this thread to a scheduler with at most `most` blocking threads. */
static sennit_scheduler *open_with(const struct world *w, uint32_t most,
				   uint32_t idle_ms)
{
	sennit_scheduler *s =
		start_with(SENNIT_CONFIG(.workers = w->workers,
					 .max_blocking_threads = most,
					 .blocking_idle_ms = idle_ms));

	assert_int_equal(sennit_bind(s), 0);
	return s;
}

static void close_bound(sennit_scheduler *s)
{
	sennit_unbind();
	end_scheduler(s);
}

/* --- results ------------------------------------------------------------ */

static void result_in_each_place(void *argument)
{
	void *result = NULL;
	int   here;

	EXPECT(sennit_blocking_call(return_argument, &here) == &here);
	EXPECT(!sennit_blocking_call_until(return_argument, &here, &result,
					   SENNIT_NEVER));
	EXPECT(result == &here);
	EXPECT(!sennit_blocking_call_until(return_argument, &here, NULL, 0));
	(void)argument;
}

static void what_the_function_returns_comes_back(void **state)
{
	(void)state;
	in_each_place(result_in_each_place, NULL);
}

static void errno_in_each_place(void *argument)
{
	int value = ENOTDIR;

	(void)argument;
	errno = 0;
	sennit_blocking_call(leave_errno, &value);
	EXPECT(errno == ENOTDIR);
	errno = EXDEV;
	EXPECT(!sennit_blocking_call_until(keep_errno, &value, NULL, 0));
	EXPECT(errno == EXDEV);
	EXPECT(value == EXDEV);
}

static void errno_goes_there_and_comes_back(void **state)
{
	(void)state;
	in_each_place(errno_in_each_place, NULL);
}

static void *round_how(void *argument)
{
	*(int *)argument = fegetround();
	fesetround(FE_TOWARDZERO);
	return NULL;
}

static void rounding_of_the_caller(void *argument)
{
	int there = -1;

	(void)argument;
	fesetround(FE_UPWARD);
	sennit_blocking_call(round_how, &there);
	EXPECT(there == FE_UPWARD);
	EXPECT(fegetround() == FE_UPWARD);
	fesetround(FE_TONEAREST);
	sennit_blocking_call(round_how, &there);
	EXPECT(there == FE_TONEAREST);
	EXPECT(fegetround() == FE_TONEAREST);
}

static void rounding_goes_there_and_stays_here(void **state)
{
	(void)state;
	rounding_of_the_caller(NULL);
	in_a_task(rounding_of_the_caller, NULL);
}

/* --- where it runs ------------------------------------------------------ */

struct place {
	pthread_t         thread;
	sennit_scheduler *bound_to;
	sigset_t          blocked;
	char              name[16];
};

static void *note_place(void *argument)
{
	struct place *p = argument;

	p->thread = pthread_self();
	p->bound_to = sennit_current();
	pthread_sigmask(SIG_BLOCK, NULL, &p->blocked);
	pthread_getname_np(pthread_self(), p->name, sizeof(p->name));
	return NULL;
}

static void place_of_a_fibers_call(void *argument)
{
	struct place p = { .name = "" };

	(void)argument;
	sennit_blocking_call(note_place, &p);
	EXPECT(!pthread_equal(p.thread, pthread_self()));
	EXPECT(!p.bound_to);
	EXPECT(!strncmp(p.name, "sennit-call/", strlen("sennit-call/")));
	EXPECT(sigismember(&p.blocked, SIGTERM) == 1);
	EXPECT(sigismember(&p.blocked, SIGSEGV) == 0);
}

static void a_fibers_call_runs_on_a_thread_of_its_own(void **state)
{
	(void)state;
	place_of_a_fibers_call(NULL);
	in_a_task(place_of_a_fibers_call, NULL);
}

static void an_unbound_threads_call_runs_in_place(void **state)
{
	struct place p;

	(void)state;
	sennit_blocking_call(note_place, &p);
	assert_true(pthread_equal(p.thread, pthread_self()));
	assert_int_equal(sennit_blocking_call_until(note_place, &p, NULL, 0),
			 0);
	assert_true(pthread_equal(p.thread, pthread_self()));
}

static void release_hold(void *argument)
{
	let_go(argument, 1);
}

/* The only worker, or the bound thread itself, must run a task meanwhile. */
static void others_run_while_a_call_blocks(void **state)
{
	struct hold h;

	(void)state;
	init_hold(&h);
	must_schedule_here(release_hold, &h);
	call_hold(&h);
	assert_int_equal(atomic_load(&h.ended), 1);
}

static void *live_in_another_scheduler(void *argument)
{
	sennit_scheduler *s = NULL;
	struct hold       h;

	init_hold(&h);
	EXPECT(sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = 1)) == 0);
	EXPECT(sennit_bind(s) == 0);
	in_a_task(release_hold, &h);
	call_hold(&h);
	sennit_unbind();
	EXPECT(sennit_scheduler_shutdown(s, sennit_after(GIVE_UP)) == 0);
	return argument;
}

static void the_function_may_use_a_scheduler_of_its_own(void **state)
{
	(void)state;
	assert_ptr_equal(sennit_blocking_call(live_in_another_scheduler, state),
			 state);
}

struct meeting {
	sennit_event from_fiber, from_call;
};

static void *meet(void *argument)
{
	struct meeting *m = argument;

	sennit_event_set(&m->from_call);
	sennit_event_wait(&m->from_fiber);
	return sennit_blocking_call(return_argument, m);
}

static void answer_meeting(void *argument)
{
	struct meeting *m = argument;

	sennit_event_wait(&m->from_call);
	sennit_event_set(&m->from_fiber);
}

static void the_function_may_wait_for_fibers(void **state)
{
	static struct meeting m;

	(void)state;
	memset(&m, 0, sizeof(m));
	must_schedule(answer_meeting, &m);
	assert_ptr_equal(sennit_blocking_call(meet, &m), &m);
}

/* --- how many threads --------------------------------------------------- */

enum { LIMIT = 4 };

struct crowd {
	sennit_wait_group done;
	atomic_uint       inside;
	atomic_uint       most;
	atomic_uint       calls;
};

static void *count_in_and_out(void *argument)
{
	struct crowd  *c = argument;
	const unsigned now = atomic_fetch_add(&c->inside, 1) + 1;
	unsigned       most = atomic_load(&c->most);

	while (now > most &&
	       !atomic_compare_exchange_weak(&c->most, &most, now))
		;
	sched_yield();
	atomic_fetch_add(&c->calls, 1);
	atomic_fetch_sub(&c->inside, 1);
	return c;
}

static void call_in_a_crowd(void *argument)
{
	struct crowd *c = argument;

	EXPECT(sennit_blocking_call(count_in_and_out, c) == c);
	sennit_wait_group_done(&c->done);
}

static void no_more_threads_than_the_limit(void **state)
{
	const struct world *w = *state;
	const unsigned      all = LOAD(1000);
	sennit_scheduler   *s = open_with(w, LIMIT, 0);
	static struct crowd c;

	memset(&c, 0, sizeof(c));
	sennit_wait_group_init(&c.done, all);
	for (unsigned i = 0; i < all; i++)
		must_schedule(call_in_a_crowd, &c);
	sennit_wait_group_wait(&c.done);
	assert_int_equal(atomic_load(&c.calls), all);
	assert_in_range(atomic_load(&c.most), 1, LIMIT);
	assert_in_range(stats_of(s).blocking_threads, 1, LIMIT);
	close_bound(s);
}

static void threads_come_when_all_are_taken(void **state)
{
	const struct world *w = *state;
	sennit_scheduler   *s = open_with(w, LIMIT, 0);
	static struct hold  h;

	init_hold(&h);
	for (unsigned i = 1; i <= LIMIT; i++) {
		must_schedule(call_hold, &h);
		assert_soon(atomic_load(&h.begun) == i);
		assert_int_equal(stats_of(s).blocking_threads, i);
	}
	let_go(&h, LIMIT);
	assert_soon(atomic_load(&h.ended) == LIMIT);
	close_bound(s);
}

static void calls_in_turn_share_a_thread(void **state)
{
	const struct world *w = *state;
	sennit_scheduler   *s = open_with(w, LIMIT, 0);
	struct place        first, p;

	sennit_blocking_call(note_place, &first);
	for (unsigned i = 0; i < 100; i++) {
		sennit_blocking_call(note_place, &p);
		assert_true(pthread_equal(p.thread, first.thread));
	}
	assert_int_equal(stats_of(s).blocking_threads, 1);
	close_bound(s);
}

static void idle_threads_end(void **state)
{
	const struct world *w = *state;
	sennit_scheduler   *s = open_with(w, LIMIT, 1);
	static struct hold  h;

	init_hold(&h);
	for (unsigned i = 0; i < LIMIT; i++)
		must_schedule(call_hold, &h);
	assert_soon(atomic_load(&h.begun) == LIMIT);
	let_go(&h, LIMIT);
	assert_soon(stats_of(s).blocking_threads == 0);
	/* Threads start again when needed. */
	assert_ptr_equal(sennit_blocking_call(return_argument, &h), &h);
	close_bound(s);
}

/* --- deadlines ---------------------------------------------------------- */

static void *must_not_run(void *argument)
{
	const bool called_after_its_deadline = true;

	EXPECT(!called_after_its_deadline);
	return argument;
}

static void try_until(sennit_time deadline)
{
	void *untouched = &untouched;
	void *result = untouched;

	errno = EXDEV;
	EXPECT(sennit_blocking_call_until(must_not_run, NULL, &result,
					  deadline) == -ETIMEDOUT);
	EXPECT(result == untouched);
	EXPECT(errno == EXDEV);
}

static void try_deadlines(void *argument)
{
	(void)argument;
	try_until(0);
	try_until(1);
	try_until(sennit_after(SENNIT_MILLISECOND));
}

static void a_call_that_cannot_begin_in_time_is_not_made(void **state)
{
	const struct world *w = *state;
	sennit_scheduler   *s = open_with(w, 1, 0);
	static struct hold  h;
	void               *result = NULL;

	init_hold(&h);
	must_schedule(call_hold, &h);
	assert_soon(atomic_load(&h.begun) == 1);
	try_deadlines(NULL);
	in_a_task(try_deadlines, NULL);
	let_go(&h, 1);
	assert_int_equal(sennit_blocking_call_until(return_argument, &h,
						    &result, SENNIT_NEVER),
			 0);
	assert_ptr_equal(result, &h);
	close_bound(s);
}

static void *outlast_deadline(void *argument)
{
	const sennit_time *deadline = argument;

	while (sennit_now() <= *deadline)
		sched_yield();
	return argument;
}

static void a_call_that_has_begun_outlasts_its_deadline(void **state)
{
	sennit_time deadline = sennit_after(SENNIT_MILLISECOND);
	void       *result = NULL;

	(void)state;
	assert_int_equal(sennit_blocking_call_until(outlast_deadline, &deadline,
						    &result, deadline),
			 0);
	assert_ptr_equal(result, &deadline);
}

/* A call that is queued with a deadline, and begins before the deadline. */
static void queue_behind(void *argument)
{
	sennit_time deadline = sennit_after(GIVE_UP);

	EXPECT(!sennit_blocking_call_until(hold, argument, NULL, deadline));
}

struct turn {
	struct hold *h;
	atomic_uint *next;
	unsigned     mine;
};

static void *take_turn(void *argument)
{
	struct turn *t = argument;

	EXPECT(atomic_fetch_add(t->next, 1) == t->mine);
	return t;
}

static void call_take_turn(void *argument)
{
	EXPECT(sennit_blocking_call(take_turn, argument) == argument);
}

enum { TURNS = 10 };

static void calls_begin_in_the_order_they_came(void **state)
{
	const struct world *w = *state;
	sennit_scheduler   *s = open_with(w, 1, 0);
	static struct hold  h;
	static struct turn  turns[TURNS];
	static atomic_uint  next;

	init_hold(&h);
	atomic_store(&next, 0);
	must_schedule(queue_behind, &h);
	assert_soon(atomic_load(&h.begun) == 1);
	for (unsigned i = 0; i < TURNS; i++) {
		turns[i] = (struct turn){ &h, &next, i };
		must_schedule(call_take_turn, &turns[i]);
		assert_soon(fibers_of(s) == 2 + i);
	}
	let_go(&h, 1);
	assert_soon(atomic_load(&next) == TURNS);
	close_bound(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORKERS(what_the_function_returns_comes_back),
		WITH_WORKERS(errno_goes_there_and_comes_back),
		WITH_WORKERS(rounding_goes_there_and_stays_here),
		WITH_WORKERS(a_fibers_call_runs_on_a_thread_of_its_own),
		ALONE(an_unbound_threads_call_runs_in_place),
		WITH_WORKERS(others_run_while_a_call_blocks),
		WITH_WORKERS(the_function_may_use_a_scheduler_of_its_own),
		WITH_WORKERS(the_function_may_wait_for_fibers),
		WITH_COUNTS(no_more_threads_than_the_limit),
		WITH_COUNTS(threads_come_when_all_are_taken),
		WITH_COUNTS(calls_in_turn_share_a_thread),
		WITH_COUNTS(idle_threads_end),
		WITH_COUNTS(a_call_that_cannot_begin_in_time_is_not_made),
		WITH_WORKERS(a_call_that_has_begun_outlasts_its_deadline),
		WITH_COUNTS(calls_begin_in_the_order_they_came),
	};

	return cmocka_run_group_tests_name("api/blocking", tests, NULL, NULL);
}
