/* SPDX-License-Identifier: Apache-2.0 */
/* gate_last_out.c - threads come and go as workers and as holders of references
 * until no task is left. One of them must complete the gate, once, with nothing
 * left, and no one may hold anything of a gate that is done. */
#include "park/gate.h"
#include "os/os.h"

#include "testing/random.h"

#include <pthread.h>
#include "testing/test.h"
#include <unistd.h>

enum { THREADS = 4, MOST_HELD = 3, MOST_TASKS = 16 };

struct play {
	struct gate       gate;
	pthread_barrier_t gather;
	uint64_t          rounds;
	a_u32             tasks;     /* added under a reference or by an active
				      * worker; run by an active worker */
	a_u32             held;      /* a lower bound of what is held: counted
				      * late */
	a_u32             sweeping;  /* 1 during a sweep */
	a_u32             completed; /* sweepers that got GATE_COMPLETED */
	a_u32             wrong;
};

struct actor {
	struct play *play;
	pthread_t    thread;
	uint64_t     random;
	uint32_t     references;
	uint32_t     budget; /* tasks that it may still add in this round */
	bool         active;
};

static void expect_at(struct play *p, bool holds, const char *claim)
{
	if (!holds && a_add_rlx(&p->wrong, 1) < 10)
		fprintf(stderr, "expected: %s\n", claim);
}

#define EXPECT(p, claim) expect_at(p, claim, #claim)

/* Let other threads run between two steps. */
static void dawdle(struct actor *a)
{
	if (random_below(&a->random, 8) == 0)
		os_thread_yield();
	for (uint32_t i = random_below(&a->random, 32); i; i--)
		a_pause();
}

/* Look and settle until there is a verdict. */
static void sweep(struct actor *a)
{
	struct play      *p = a->play;
	enum gate_verdict verdict;

	do {
		bool found;

		EXPECT(p, a_swap_acqrel(&p->sweeping, 1) == 0);
		found = a_load_acq(&p->tasks) != 0;
		dawdle(a);
		a_store_rel(&p->sweeping, 0);
		verdict = sn_gate_settle(&p->gate, found);
	} while (verdict == GATE_AGAIN);
	if (verdict != GATE_COMPLETED)
		return;
	a_add_acqrel(&p->completed, 1);
	EXPECT(p, a_load_acq(&p->held) == 0);
	EXPECT(p, a_load_acq(&p->tasks) == 0);
}

static void took(struct actor *a)
{
	a_add_acqrel(&a->play->held, 1);
	EXPECT(a->play, !sn_gate_is_done(&a->play->gate));
}

static void about_to_give(struct actor *a)
{
	EXPECT(a->play, !sn_gate_is_done(&a->play->gate));
	a_sub_acqrel(&a->play->held, 1);
}

static void leave(struct actor *a)
{
	about_to_give(a);
	a->active = false;
	if (sn_gate_leave(&a->play->gate))
		sweep(a);
}

static void release(struct actor *a)
{
	about_to_give(a);
	a->references--;
	if (sn_gate_release(&a->play->gate))
		sweep(a);
}

static void let_go(struct actor *a)
{
	while (a->references)
		release(a);
	if (a->active)
		leave(a);
}

static bool come_in(struct actor *a)
{
	a->active = sn_gate_enter(&a->play->gate);
	if (a->active)
		took(a);
	return a->active;
}

static bool retain(struct actor *a)
{
	if (!sn_gate_retain(&a->play->gate))
		return false;
	a->references++;
	took(a);
	return true;
}

static void run_task(struct actor *a)
{
	uint32_t left = a_load_rlx(&a->play->tasks);

	while (left && !a_cas_acqrel(&a->play->tasks, &left, left - 1))
		;
}

static void add_task(struct actor *a)
{
	a->budget--;
	a_add_acqrel(&a->play->tasks, 1);
}

/* One random step. Returns false if the gate is done. */
static bool step(struct actor *a)
{
	dawdle(a);
	switch (random_below(&a->random, 4)) {
	case 0:
		if (!a->active)
			return come_in(a);
		run_task(a);
		return true;
	case 1:
		return a->references == MOST_HELD || retain(a);
	case 2:
		if (a->budget && (a->active || a->references))
			add_task(a);
		return true;
	default:
		let_go(a);
		return true;
	}
}

/* An actor that sees a task stays until there is none, so no task is left
 * alone. */
static void play_round(struct actor *a)
{
	struct play *p = a->play;
	bool         open = true;

	a->references = 1;
	a->budget = random_below(&a->random, MOST_TASKS);
	while (open && (a->budget || a_load_acq(&p->tasks)))
		open = step(a);
	EXPECT(p, open || (!a->active && !a->references));
	let_go(a);
}

static void open_gate(struct play *p)
{
	sn_gate_init(&p->gate, THREADS, 0);
	a_store_rlx(&p->tasks, 0);
	a_store_rlx(&p->held, THREADS);
	a_store_rlx(&p->completed, 0);
}

static void look_back(struct play *p)
{
	EXPECT(p, a_load_rlx(&p->completed) == 1);
	EXPECT(p, a_load_rlx(&p->held) == 0);
	EXPECT(p, a_load_rlx(&p->tasks) == 0);
	EXPECT(p, sn_gate_references(&p->gate) == 0);
	EXPECT(p, sn_gate_is_done(&p->gate));
}

/* All threads meet; one of them calls act before any continues. */
static void together(struct play *p, void (*act)(struct play *p))
{
	if (pthread_barrier_wait(&p->gather) == PTHREAD_BARRIER_SERIAL_THREAD)
		act(p);
	pthread_barrier_wait(&p->gather);
}

static void *play_all(void *argument)
{
	struct actor *a = argument;

	for (uint64_t left = a->play->rounds; left; left--) {
		together(a->play, open_gate);
		play_round(a);
		together(a->play, look_back);
	}
	return NULL;
}

TEST(the_last_one_out_completes_once)
{
	struct play  p = { .rounds = scaled(5000) };
	struct actor a[THREADS];

	assert_int_equal(pthread_barrier_init(&p.gather, NULL, THREADS), 0);
	for (uint32_t i = 0; i < THREADS; i++) {
		a[i] = (struct actor){ .play = &p, .random = random_stream(i) };
		assert_int_equal(
			pthread_create(&a[i].thread, NULL, play_all, &a[i]), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(a[i].thread, NULL);
	pthread_barrier_destroy(&p.gather);
	assert_int_equal(a_load_rlx(&p.wrong), 0);
}

static int begin_all(void)
{
	alarm(300); /* ends a test that hangs at the gate */
	return 0;
}

BEFORE_ALL(begin_all);
