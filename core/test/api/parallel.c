/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.c - loops over ranges, wherever they are called: which indices are
 * processed, and that nothing else is delayed. */
#include "parallel_on.h"

#define N 5000

/* --- indices ------------------------------------------------------------ */

struct tally {
	size_t      first; /* the index of seen[0] */
	size_t      grain;
	atomic_uint seen[N];
	atomic_uint calls;
};

static int tally(void *context, size_t begin, size_t end)
{
	struct tally *t = context;

	EXPECT(begin < end);
	EXPECT(!t->grain || end - begin <= t->grain);
	EXPECT(!t->grain || (begin - t->first) % t->grain == 0);
	for (size_t i = begin; i < end; i++)
		atomic_fetch_add(&t->seen[i - t->first], 1);
	atomic_fetch_add(&t->calls, 1);
	return 0;
}

static void cover(const struct world *w, size_t first, size_t n, size_t grain)
{
	struct tally           *t = calloc(1, sizeof(*t));
	sennit_parallel_options o = on(w, grain);

	t->first = first;
	t->grain = grain;
	EXPECT(sennit_parallel_for(first, first + n, tally, t, &o,
				   SENNIT_NEVER) == 0);
	for (size_t i = 0; i < N; i++)
		EXPECT(atomic_load(&t->seen[i]) == (i < n));
	EXPECT(!grain || atomic_load(&t->calls) >= n / grain);
	EXPECT(n || !atomic_load(&t->calls));
	free(t);
}

TEST_IN_EACH_PLACE_OF(each_index_is_in_one_piece)
{
	static const size_t ns[] = { 0, 1, 2, 3, 63, 64, 1000, N };
	static const size_t grains[] = { 0, 1, 7, 64, N, SIZE_MAX };

	for (size_t n = 0; n < sizeof(ns) / sizeof(ns[0]); n++)
		for (size_t g = 0; g < sizeof(grains) / sizeof(grains[0]); g++)
			cover(world, 17, ns[n], grains[g]);
}

TEST_IN_EACH_PLACE_OF(indices_may_reach_the_largest_number)
{
	cover(world, SIZE_MAX - N, N, 0);
	cover(world, SIZE_MAX - N, N, 7);
	cover(world, SIZE_MAX - 1, 1, SIZE_MAX);
}

struct span {
	atomic_size_t covered;
};

static int add_up(void *context, size_t begin, size_t end)
{
	struct span *s = context;

	atomic_fetch_add(&s->covered, end - begin);
	return 0;
}

#ifndef SENNIT_RACE /* the smallest piece takes as long as pieces should */
static void cover_all_there_is(void *argument)
{
	sennit_parallel_options o = on(argument, 0);
	struct span             s = { 0 };

	EXPECT(sennit_parallel_for(0, SIZE_MAX, add_up, &s, &o, SENNIT_NEVER) ==
	       0);
	EXPECT(atomic_load(&s.covered) == SIZE_MAX);
	o.grain = SIZE_MAX / 2 + 7;
	EXPECT(sennit_parallel_for(1, SIZE_MAX, add_up, &s, &o, SENNIT_NEVER) ==
	       0);
	EXPECT(atomic_load(&s.covered) == SIZE_MAX - 2);
}

TEST_WITH_WORKERS(a_range_may_be_all_there_is)
{
	in_each_place_of(cover_all_there_is, w);
}
#endif

TEST_IN_EACH_PLACE_OF(bad_arguments_call_nothing)
{
	struct world           *w = world;
	sennit_parallel_options o = on(w, 0);

	EXPECT(sennit_parallel_for(0, 9, NULL, NULL, &o, SENNIT_NEVER) ==
	       -EINVAL);
	EXPECT(sennit_parallel_for(9, 9, must_not_run, NULL, &o,
				   SENNIT_NEVER) == 0);
	EXPECT(sennit_parallel_for(9, 3, must_not_run, NULL, &o,
				   SENNIT_NEVER) == 0);
	o.reserved_ = 1;
	EXPECT(sennit_parallel_for(0, 9, must_not_run, NULL, &o,
				   SENNIT_NEVER) == -EINVAL);
	o = on(w, 0);
	o.flags = 1u << 31;
	EXPECT(sennit_parallel_for(0, 9, must_not_run, NULL, &o,
				   SENNIT_NEVER) == -EINVAL);
}

TEST_WITH_WORKERS(without_options_the_bound_scheduler_does_it)
{
	struct span s = { 0 };

	assert_int_equal(
		sennit_parallel_for(0, N, add_up, &s, NULL, SENNIT_NEVER), 0);
	assert_int_equal(atomic_load(&s.covered), N);
}

/* --- nested loops, and waits -------------------------------------------- */

static int add_row(void *context, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		EXPECT(sennit_parallel_for(0, 50, add_up, context, NULL,
					   SENNIT_NEVER) == 0);
	return 0;
}

TEST_IN_EACH_PLACE_OF(bodies_may_call_loops)
{
	sennit_parallel_options o = on(world, 0);
	struct span             s = { 0 };

	EXPECT(sennit_parallel_for(0, 50, add_row, &s, &o, SENNIT_NEVER) == 0);
	EXPECT(atomic_load(&s.covered) == 2500);
}

struct keeping_allocator {
	sennit_mutex mutex;
	size_t       sum; /* under mutex */
};

static int add_waiting(void *context, size_t begin, size_t end)
{
	struct keeping_allocator *s = context;

	for (size_t i = begin; i < end; i++) {
		sennit_mutex_lock(&s->mutex);
		sennit_yield();
		s->sum += i;
		sennit_mutex_unlock(&s->mutex);
	}
	return 0;
}

TEST_IN_EACH_PLACE_OF(bodies_may_wait)
{
	for (size_t grain = 0; grain < 3; grain++) {
		sennit_parallel_options  o = on(world, grain);
		struct keeping_allocator s = { .sum = 0 };

		EXPECT(sennit_parallel_for(0, 300, add_waiting, &s, &o,
					   SENNIT_NEVER) == 0);
		EXPECT(s.sum == 300 * 299 / 2);
	}
}

static int use_lock(void *context, size_t begin, size_t end)
{
	sennit_mutex *m = context;

	EXPECT(sennit_mutex_lock_until(m, 0) == -ETIMEDOUT);
	return 0;
}

TEST_IN_EACH_PLACE_OF(a_body_is_not_its_caller)
{
	sennit_parallel_options o = on(world, 1);
	sennit_mutex            m = SENNIT_MUTEX_INIT;

	sennit_mutex_lock(&m);
	EXPECT(sennit_parallel_for(0, 10, use_lock, &m, &o, SENNIT_NEVER) == 0);
	sennit_mutex_unlock(&m);
}

/* --- order --------------------------------------------------------------- */

#define LONG 400 /* pieces: longer in all than any task waits for its turn */

struct walk {
	size_t next;
	size_t turns; /* pieces that did not begin where the last one ended */
};

static int step_on(void *context, size_t begin, size_t end)
{
	struct walk      *k = context;
	const sennit_time until = sennit_now() + 20 * SENNIT_MICROSECOND;

	k->turns += begin != k->next;
	k->next = end;
	while (sennit_now() < until)
		;
	return 0;
}

static void walk_forwards(void *argument)
{
	for (size_t grain = 0; grain < 3; grain++) {
		sennit_parallel_options o = on(argument, grain);
		struct walk             k = { 0 };

		EXPECT(sennit_parallel_for(0, LONG, step_on, &k, &o,
					   SENNIT_NEVER) == 0);
		EXPECT(k.next == LONG);
		EXPECT(!k.turns);
	}
}

TEST_WITH_ONE(one_worker_goes_from_the_beginning_to_the_end)
{
	in_a_task(walk_forwards, w);
}

/* --- sharing the work --------------------------------------------------- */

struct meeting {
	atomic_uint arrived;
	atomic_bool all_here;
};

/* Two pieces at the same time: neither ends before the other has begun. */
static int meet(void *context, size_t begin, size_t end)
{
	struct meeting *m = context;
	sennit_time     give_up = sennit_after(GIVE_UP);

	if (atomic_fetch_add(&m->arrived, 1) < 2)
		while (atomic_load(&m->arrived) < 2 && sennit_now() < give_up)
			sched_yield();
	return 0;
}

static void meet_others(void *argument)
{
	struct meeting          m = { 0 };
	sennit_parallel_options o = on(argument, 1);

	EXPECT(sennit_parallel_for(0, 100, meet, &m, &o, SENNIT_NEVER) == 0);
	EXPECT(atomic_load(&m.arrived) == 100);
}

TEST_WITH_SEVERAL(idle_workers_take_part)
{
	in_each_place_of(meet_others, w);
}

/* Loops of one function have their groups at the same address. */
enum { ROUNDS = 20, WIDE = 1000000, NARROW = 1000 };

struct two_loops {
	unsigned       number; /* of the loop that runs, from 1 */
	size_t         begin;
	atomic_bool    shared; /* another thread takes part */
	_Atomic size_t end;    /* of the last piece of another thread */
};

static _Thread_local unsigned my_number; /* of the last loop here */
static _Thread_local bool     is_first;  /* its first piece was here */

/* The first piece ends when another thread has begun one. */
static int begin_small(void *context, size_t begin, size_t end)
{
	struct two_loops *t = context;
	sennit_time       give_up = sennit_after(GIVE_UP);

	if (my_number != t->number) {
		my_number = t->number;
		is_first = begin == t->begin;
		EXPECT(end - begin == 1);
		while (is_first && !atomic_load(&t->shared) &&
		       sennit_now() < give_up)
			sched_yield();
	}
	if (!is_first) {
		atomic_store(&t->end, end);
		atomic_store(&t->shared, true);
	}
	return 0;
}

static void loop_anew(struct two_loops *t, size_t begin, size_t end)
{
	t->number++;
	t->begin = begin;
	atomic_store(&t->shared, false);
	EXPECT(sennit_parallel_for(begin, end, begin_small, t, NULL,
				   SENNIT_NEVER) == 0);
	EXPECT(atomic_load(&t->shared));
}

/* The second loop is cut where another thread has ended the first. */
static void loop_again(void *unused)
{
	struct two_loops t = { .number = my_number };

	for (unsigned i = 0; i < ROUNDS; i++) {
		loop_anew(&t, 0, WIDE);
		loop_anew(&t, atomic_load(&t.end) - NARROW,
			  atomic_load(&t.end) + NARROW);
	}
}

TEST_WITH_SEVERAL(each_thread_begins_each_loop_with_one_index)
{
	in_a_task(loop_again, w);
}

struct flag {
	atomic_bool ran;
	sennit_time give_up;
};

static void raise_flag(void *argument)
{
	atomic_store(&((struct flag *)argument)->ran, true);
}

/* Ends as soon as the other has run. */
static int until_flag(void *context, size_t begin, size_t end)
{
	struct flag *f = context;

	return atomic_load(&f->ran) || sennit_now() > f->give_up ? -EALREADY
								 : 0;
}

static void wake_and_raise(void *argument)
{
	sennit_sleep(SENNIT_MILLISECOND);
	raise_flag(argument);
}

static void loop_beside_a_sleeper(void *argument)
{
	struct world           *w = argument;
	struct flag             f = { .give_up = sennit_after(GIVE_UP) };
	sennit_parallel_options o = on(w, 1000);

	must_schedule(wake_and_raise, &f);
	sennit_yield();
	EXPECT(sennit_parallel_for(0, SIZE_MAX, until_flag, &f, &o,
				   SENNIT_NEVER) == -EALREADY);
	EXPECT(atomic_load(&f.ran));
	EXPECT_SOON(atomic_load(&f.ran));
}

TEST_WITH_THREADS(a_loop_holds_up_no_fibers)
{
	in_a_task(loop_beside_a_sleeper, w);
}

static void loop_beside_a_task(void *argument)
{
	struct flag             f = { .give_up = sennit_after(GIVE_UP) };
	sennit_parallel_options o = on(argument, 1000);

	must_schedule_here(raise_flag, &f);
	EXPECT(sennit_parallel_for(0, SIZE_MAX, until_flag, &f, &o,
				   SENNIT_NEVER) == -EALREADY);
	EXPECT(atomic_load(&f.ran));
}

TEST_WITH_WORKERS(a_loop_holds_up_no_same_thread_tasks)
{
	in_a_task(loop_beside_a_task, w);
}
