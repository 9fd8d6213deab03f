/* SPDX-License-Identifier: Apache-2.0 */
/* rounds.h - a litmus test as a program: first in every order, then at full
 * speed.
 *
 * In every order: the test's threads are contexts of one thread. Before each
 * atomic operation another context may run instead, PREEMPTIONS times per
 * round. When a context waits or ends, another one follows. All such rounds
 * run, one after the other, so a failure is reproducible on any machine. If all
 * contexts wait, no one can wake them, and the test fails. Memory is
 * sequentially consistent in this mode.
 *
 * At full speed: all threads begin at the same time, LITMUS_ROUNDS times, or
 * for one second. This exposes the processor's store buffers. Only a checker
 * can detect missing C11 orders that the processor provides anyway. */
#ifndef LITMUS_ROUNDS_H
#define LITMUS_ROUNDS_H

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

enum {
	LITMUS_THREADS = 3,
	LITMUS_CHOICES = 4096, /* per round */
	LITMUS_SPINS = 2000,
	PREEMPTIONS = 2
};

/* The test. */
struct litmus {
	void (*before)(void);
	void *(*run[LITMUS_THREADS])(void *);
	void (*after)(void);
	uint32_t threads;
};

static struct litmus litmus;

/* --- in every order ----------------------------------------------------- */

struct litmus_turn {
	ucontext_t context;
	bool       ended;
	bool       waits;
	uint64_t   seen; /* waiting: the value of `progress` at its last look */
	_Alignas(16) unsigned char stack[64 << 10];
};

static struct litmus_turn litmus_turn[LITMUS_THREADS];
static uint32_t           litmus_me; /* the context that has the turn */

static struct {
	bool       on;
	bool       looks; /* at the condition it waits for */
	uint64_t   progress;
	uint32_t   budget; /* preemptions left */
	uint32_t   depth;  /* choices made in this round */
	uint8_t    choice[LITMUS_CHOICES];
	uint8_t    options[LITMUS_CHOICES];
	ucontext_t main;
} litmus_order;

static bool litmus_can_run(uint32_t i)
{
	const struct litmus_turn *t = &litmus_turn[i];

	return !t->ended && (!t->waits || t->seen != litmus_order.progress);
}

/* Repeat the previous round's choices up to the one that changes, then take the
 * first option. */
static uint32_t litmus_choose(uint32_t options)
{
	uint32_t i = litmus_order.depth;

	if (options < 2)
		return 0;
	assert(i < LITMUS_CHOICES);
	litmus_order.depth++;
	litmus_order.options[i] = (uint8_t)options;
	return litmus_order.choice[i];
}

/* Prepare the next round's choices. Returns false if there is no further
 * round. */
static bool litmus_advance(void)
{
	uint32_t i = litmus_order.depth;

	while (i-- > 0) {
		if (++litmus_order.choice[i] < litmus_order.options[i])
			return true;
		litmus_order.choice[i] = 0;
	}
	return false;
}

/* The number of other contexts that can run. *out becomes the one with index
 * `which`. */
static uint32_t litmus_others(uint32_t me, uint32_t which, uint32_t *out)
{
	uint32_t count = 0;

	for (uint32_t k = 1; k <= litmus.threads; k++) {
		uint32_t i = (me + k) % litmus.threads;

		if (i == me || !litmus_can_run(i))
			continue;
		if (count++ == which)
			*out = i;
	}
	return count;
}

static void litmus_pass(uint32_t to)
{
	uint32_t me = litmus_me;

	litmus_me = to;
	swapcontext(&litmus_turn[me].context, &litmus_turn[to].context);
}

/* Called before each atomic operation. */
static void litmus_point(void)
{
	uint32_t to = 0;
	uint32_t which;

	if (!litmus_order.on || litmus_order.looks)
		return;
	litmus_order.progress++;
	if (!litmus_order.budget)
		return;
	which = litmus_choose(1 + litmus_others(litmus_me, 0, &to));
	if (!which)
		return;
	litmus_order.budget--;
	litmus_others(litmus_me, which - 1, &to);
	litmus_pass(to);
}

/* The running context cannot proceed: switch to another. */
static void litmus_yield(void)
{
	uint32_t to = 0;

	if (!litmus_order.on)
		sched_yield();
	else if (litmus_others(litmus_me, 0, &to))
		litmus_pass(to);
}

/* The same, until another context has made progress. */
static void litmus_wait(void)
{
	struct litmus_turn *t = &litmus_turn[litmus_me];
	uint32_t            to = 0;

	t->waits = true;
	t->seen = litmus_order.progress;
	if (!litmus_others(litmus_me, 0, &to))
		assert(false && "all wait, and nobody wakes them");
	litmus_pass(to);
	t->waits = false;
}

/* The main function of each context. */
static void litmus_take_turn(void)
{
	uint32_t to = 0;
	uint32_t others;

	litmus.run[litmus_me](NULL);
	litmus_turn[litmus_me].ended = true;
	litmus_order.progress++; /* the last operation is progress */
	others = litmus_others(litmus_me, 0, &to);
	if (others) {
		litmus_others(litmus_me, litmus_choose(others), &to);
		litmus_pass(to);
	}
	setcontext(&litmus_order.main);
}

static void litmus_one_order(void)
{
	memset(litmus_memory, 0, litmus_taken);
	litmus_taken = 0;
	litmus.before();
	for (uint32_t i = 0; i < litmus.threads; i++) {
		struct litmus_turn *t = &litmus_turn[i];

		t->ended = t->waits = false;
		getcontext(&t->context);
		t->context.uc_stack.ss_sp = t->stack;
		t->context.uc_stack.ss_size = sizeof(t->stack);
		t->context.uc_link = NULL;
		makecontext(&t->context, litmus_take_turn, 0);
	}
	litmus_order.depth = 0;
	litmus_order.budget = PREEMPTIONS;
	litmus_order.on = true;
	litmus_me = litmus_choose(litmus.threads);
	swapcontext(&litmus_order.main, &litmus_turn[litmus_me].context);
	litmus_order.on = false;
	for (uint32_t i = 0; i < litmus.threads; i++)
		assert(litmus_turn[i].ended && "nobody wakes it");
	litmus.after();
}

#ifdef SN_TSAN
#define CONTEXTS_ARE_SEEN false /* ThreadSanitizer does not see contexts */
#else
#define CONTEXTS_ARE_SEEN true
#endif

static uint32_t litmus_every_order(void)
{
	uint32_t count = 0;

	if (!CONTEXTS_ARE_SEEN)
		return 0;
	do {
		litmus_one_order();
		count++;
	} while (litmus_advance());
	return count;
}

/* --- at full speed ------------------------------------------------------ */

static struct {
	_Atomic(uint32_t) arrived; /* threads that wait for the next round */
	_Atomic(uint32_t) round;   /* the round that has begun */
	bool              over;    /* set by the last one to arrive, before the
				    * round begins */
	uint64_t          end;
} litmus_fast;

static uint64_t litmus_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec;
}

/* A condition that does not hold within one minute never will. */
#define LITMUS_AWAIT_FAST(condition)                     \
	do {                                             \
		uint64_t end_ = litmus_seconds() + 60;   \
		while (!(condition)) {                   \
			assert(litmus_seconds() < end_); \
			sched_yield();                   \
		}                                        \
	} while (0)

/* Wait until the condition holds. It must have no side effects. */
#define LITMUS_AWAIT(condition)                       \
	do {                                          \
		bool holds_;                          \
		if (!litmus_order.on) {               \
			LITMUS_AWAIT_FAST(condition); \
			break;                        \
		}                                     \
		litmus_point();                       \
		for (;;) {                            \
			litmus_order.looks = true;    \
			holds_ = (condition);         \
			litmus_order.looks = false;   \
			if (holds_)                   \
				break;                \
			litmus_wait();                \
		}                                     \
	} while (0)

/* The last thread to arrive ends one round and prepares the next alone. */
static void litmus_prepare(uint32_t round)
{
	if (round > 1)
		litmus.after();
	memset(litmus_memory, 0, litmus_taken);
	litmus_taken = 0;
	litmus_fast.over = round > LITMUS_ROUNDS ||
			   litmus_seconds() > litmus_fast.end;
	if (!litmus_fast.over)
		litmus.before();
	atomic_store(&litmus_fast.arrived, 0);
	atomic_store(&litmus_fast.round, round);
}

/* All threads begin at the same time, except for a few instructions that differ
 * in each round. */
static void litmus_meet(uint32_t round, uint32_t index)
{
	uint32_t late = (round * UINT32_C(2654435761) >> (8 * index)) % 512;

	if (atomic_fetch_add(&litmus_fast.arrived, 1) == litmus.threads - 1)
		litmus_prepare(round);
	for (uint32_t i = 0; i < LITMUS_SPINS; i++)
		if (atomic_load(&litmus_fast.round) == round)
			break;
	LITMUS_AWAIT_FAST(atomic_load(&litmus_fast.round) == round);
	while (late--)
		a_compiler_fence();
}

static void *litmus_run_fast(void *index)
{
	uint32_t me = (uint32_t)(uintptr_t)index;

	for (uint32_t i = 1;; i++) {
		litmus_meet(i, me);
		if (litmus_fast.over)
			return NULL;
		litmus.run[me](NULL);
	}
}

static void litmus_as_fast_as_it_can(void)
{
	pthread_t threads[LITMUS_THREADS];

	litmus_fast.end = litmus_seconds() + 1;
	for (uintptr_t i = 1; i < litmus.threads; i++)
		assert(!pthread_create(&threads[i], NULL, litmus_run_fast,
				       (void *)i));
	litmus_run_fast(NULL);
	for (uint32_t i = 1; i < litmus.threads; i++)
		assert(!pthread_join(threads[i], NULL));
}

/* --- both modes --------------------------------------------------------- */

static int litmus_main(void)
{
	printf("%u orders\n", litmus_every_order());
	litmus_as_fast_as_it_can();
	return 0;
}

#define LITMUS_MAIN_2(b, first, second, a)                          \
	int main(void)                                              \
	{                                                           \
		litmus = (struct litmus){ .before = (b),            \
					  .run = { first, second }, \
					  .after = (a),             \
					  .threads = 2 };           \
		return litmus_main();                               \
	}
#define LITMUS_MAIN_3(b, first, second, third, a)                          \
	int main(void)                                                     \
	{                                                                  \
		litmus = (struct litmus){ .before = (b),                   \
					  .run = { first, second, third }, \
					  .after = (a),                    \
					  .threads = 3 };                  \
		return litmus_main();                                      \
	}

/* In every order: a point before each operation of the code under test. */
#ifndef SENNIT_HELGRIND
#undef TOLD_
#undef TOLD_REL_
#undef TOLD_ACQ_
#undef TOLD_ACQREL_
#define TOLD_(x, operation)        (litmus_point(), (operation))
#define TOLD_REL_(x, operation)    (litmus_point(), (operation))
#define TOLD_ACQ_(x, operation)    (litmus_point(), (operation))
#define TOLD_ACQREL_(x, operation) (litmus_point(), (operation))
#endif

#endif
