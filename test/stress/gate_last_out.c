/* SPDX-License-Identifier: Apache-2.0 */
/* gate_last_out.c - threads come and go as workers and as holders of references
 * until all is done: one of them completes the gate, once, with nothing left,
 * and nobody holds anything of a gate that is done. */
#include "core/gate.h"
#include "os/os.h"

#include "../random.h"

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <unistd.h>

enum { THREADS = 4, TASKS = 4000, MOST_HELD = 3 };

struct play {
	struct gate gate;
	a_u32       tasks;     /* run by who is active; none is added */
	a_u32       held;      /* what is surely held: added to late, taken
				  off early */
	a_u32       sweeping;  /* 1 while somebody does */
	a_u32       completed; /* sweepers who were told so */
	a_u32       wrong;
};

struct actor {
	struct play *play;
	pthread_t    thread;
	uint64_t     random;
	uint32_t     references;
	bool         active;
};

static void expect(struct play *p, bool claim)
{
	if (!claim)
		a_add_rlx(&p->wrong, 1);
}

/* Look, settle, until there is a verdict. */
static void sweep(struct actor *a)
{
	struct play      *p = a->play;
	enum gate_verdict verdict;

	do {
		bool found;

		expect(p, a_swap_acqrel(&p->sweeping, 1) == 0);
		found = a_load_acq(&p->tasks) != 0;
		if (random_below(&a->random, 4) == 0)
			os_thread_yield();
		a_store_rel(&p->sweeping, 0);
		verdict = sn_gate_settle(&p->gate, found);
	} while (verdict == GATE_AGAIN);
	if (verdict != GATE_COMPLETED)
		return;
	a_add_acqrel(&p->completed, 1);
	expect(p, a_load_acq(&p->held) == 0);
	expect(p, a_load_acq(&p->tasks) == 0);
}

static void took(struct actor *a)
{
	a_add_acqrel(&a->play->held, 1);
	expect(a->play, !sn_gate_is_done(&a->play->gate));
}

static void about_to_give(struct actor *a)
{
	expect(a->play, !sn_gate_is_done(&a->play->gate));
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

static void run_task(struct play *p)
{
	uint32_t left = a_load_rlx(&p->tasks);

	while (left && !a_cas_acqrel(&p->tasks, &left, left - 1))
		;
}

/* One step at random. False: the gate is done. */
static bool step(struct actor *a)
{
	struct play *p = a->play;

	switch (random_below(&a->random, 4)) {
	case 0:
		if (a->active)
			run_task(p);
		else if ((a->active = sn_gate_enter(&p->gate)))
			took(a);
		else
			return false;
		return true;
	case 1:
		if (a->references >= MOST_HELD)
			return true;
		if (!sn_gate_retain(&p->gate))
			return false;
		a->references++;
		took(a);
		return true;
	case 2:
		if (a->references)
			release(a);
		return true;
	default:
		while (a->references)
			release(a);
		if (a->active)
			leave(a);
		return true;
	}
}

static void *act(void *argument)
{
	struct actor *a = argument;
	struct play  *p = a->play;
	bool          open = true;

	while (open && a_load_acq(&p->tasks))
		open = step(a);
	for (uint32_t i = random_below(&a->random, 16); open && i; i--)
		open = step(a);
	expect(p, open || (!a->active && !a->references));
	while (a->references)
		release(a);
	if (a->active)
		leave(a);
	return NULL;
}

static void the_last_one_out_completes_once(void **state)
{
	uint64_t random = random_stream(0);

	(void)state;
	for (uint64_t round = scaled(300); round; round--) {
		struct play  p = { .wrong = { 0 } };
		struct actor a[THREADS];

		sn_gate_init(&p.gate, THREADS, 0);
		a_init(&p.tasks, TASKS);
		a_init(&p.held, THREADS);
		for (uint32_t i = 0; i < THREADS; i++) {
			a[i] = (struct actor){ .play = &p, .references = 1 };
			a[i].random = random_from(&random);
			assert_int_equal(
				pthread_create(&a[i].thread, NULL, act, &a[i]),
				0);
		}
		for (uint32_t i = 0; i < THREADS; i++)
			pthread_join(a[i].thread, NULL);
		assert_int_equal(a_load_rlx(&p.wrong), 0);
		assert_int_equal(a_load_rlx(&p.completed), 1);
		assert_int_equal(a_load_rlx(&p.held), 0);
		assert_int_equal(sn_gate_references(&p.gate), 0);
		assert_true(sn_gate_is_done(&p.gate));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_one_out_completes_once),
	};

	alarm(100); /* who is not let in hangs */
	return random_report(cmocka_run_group_tests_name("gate: last one out",
							 tests, NULL, NULL));
}
