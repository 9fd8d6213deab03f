/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c - who becomes the sweeper, how a sweep ends, and who may still
 * enter. */
#include "core/gate.h"
#include "os/os.h"

#include "../child.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct gate gate_with(uint32_t references, uint32_t active)
{
	struct gate g;

	sn_gate_init(&g, references, active);
	return g;
}

/* A gate whose last worker has just left. The caller is the sweeper. */
static struct gate suspended_gate(void)
{
	struct gate g = gate_with(0, 1);

	assert_true(sn_gate_leave(&g));
	return g;
}

/* --- the last one out ---------------------------------------------------- */

static void the_last_worker_out_is_the_sweeper(void **state)
{
	struct gate g = gate_with(0, 3);

	(void)state;
	assert_false(sn_gate_leave(&g));
	assert_false(sn_gate_leave(&g));
	assert_true(sn_gate_leave(&g));
}

static void the_last_reference_out_is_the_sweeper(void **state)
{
	struct gate g = gate_with(3, 0);

	(void)state;
	assert_false(sn_gate_release(&g));
	assert_false(sn_gate_release(&g));
	assert_true(sn_gate_release(&g));
}

static void nobody_sweeps_while_a_reference_is_held(void **state)
{
	struct gate g = gate_with(1, 1);

	(void)state;
	assert_false(sn_gate_leave(&g));
	assert_true(sn_gate_enter(&g));
	assert_false(sn_gate_leave(&g));
	assert_true(sn_gate_release(&g));
}

static void nobody_sweeps_while_a_worker_is_active(void **state)
{
	struct gate g = gate_with(1, 1);

	(void)state;
	assert_false(sn_gate_release(&g));
	assert_true(sn_gate_retain(&g)); /* although there was none */
	assert_false(sn_gate_release(&g));
	assert_true(sn_gate_leave(&g));
}

static void references_are_counted(void **state)
{
	struct gate g = gate_with(2, 5);

	(void)state;
	assert_int_equal(sn_gate_references(&g), 2);
	assert_true(sn_gate_retain(&g));
	assert_true(sn_gate_enter(&g));
	assert_int_equal(sn_gate_references(&g), 3);
	assert_false(sn_gate_release(&g));
	assert_false(sn_gate_leave(&g));
	assert_int_equal(sn_gate_references(&g), 2);
}

/* --- the verdict --------------------------------------------------------- */

static void a_sweep_that_finds_nothing_completes(void **state)
{
	struct gate g = suspended_gate();

	(void)state;
	assert_false(sn_gate_is_done(&g));
	assert_int_equal(sn_gate_settle(&g, false), GATE_COMPLETED);
	assert_true(sn_gate_is_done(&g));
}

static void nobody_comes_in_once_it_is_done(void **state)
{
	struct gate g = suspended_gate();

	(void)state;
	assert_int_equal(sn_gate_settle(&g, false), GATE_COMPLETED);
	assert_false(sn_gate_retain(&g));
	assert_false(sn_gate_enter(&g));
	assert_int_equal(sn_gate_references(&g), 0);
}

static void found_work_rolls_back(void **state)
{
	struct gate g = suspended_gate();

	(void)state;
	assert_int_equal(sn_gate_settle(&g, true), GATE_ROLLED_BACK);
	assert_false(sn_gate_is_done(&g));
	assert_true(sn_gate_enter(&g));
	assert_true(sn_gate_leave(&g)); /* the next one to leave tries again */
	assert_int_equal(sn_gate_settle(&g, false), GATE_COMPLETED);
}

static void a_reference_taken_during_the_sweep_rolls_back(void **state)
{
	struct gate g = suspended_gate();

	(void)state;
	assert_true(sn_gate_retain(&g));
	assert_int_equal(sn_gate_settle(&g, false), GATE_ROLLED_BACK);
	assert_true(sn_gate_release(&g));
	assert_int_equal(sn_gate_settle(&g, false), GATE_COMPLETED);
}

static void a_reference_come_and_gone_makes_the_sweeper_look_again(void **state)
{
	struct gate g = suspended_gate();

	(void)state;
	assert_true(sn_gate_retain(&g));
	assert_false(sn_gate_release(&g)); /* there is already a sweeper */
	assert_int_equal(sn_gate_settle(&g, false), GATE_AGAIN);
	assert_false(sn_gate_is_done(&g));
	assert_int_equal(sn_gate_settle(&g, false), GATE_COMPLETED);
}

static void found_work_does_not_hide_a_knock(void **state)
{
	struct gate g = suspended_gate();

	(void)state;
	assert_true(sn_gate_retain(&g));
	assert_false(sn_gate_release(&g));
	assert_int_equal(sn_gate_settle(&g, true), GATE_AGAIN);
	assert_int_equal(sn_gate_settle(&g, true), GATE_ROLLED_BACK);
}

static void a_reference_that_stays_is_no_knock(void **state)
{
	struct gate g = suspended_gate();

	(void)state;
	assert_true(sn_gate_retain(&g));
	assert_true(sn_gate_retain(&g));
	assert_false(sn_gate_release(&g));
	assert_int_equal(sn_gate_settle(&g, false), GATE_ROLLED_BACK);
	assert_int_equal(sn_gate_references(&g), 1);
}

static void an_abandoned_gate_is_done_and_has_no_sweeper(void **state)
{
	struct gate g = gate_with(2, 1);

	(void)state;
	sn_gate_abandon(&g);
	assert_true(sn_gate_is_done(&g));
	assert_false(sn_gate_retain(&g));
	assert_false(sn_gate_enter(&g));
	assert_int_equal(sn_gate_references(&g), 2);
	assert_false(sn_gate_release(&g));
	assert_false(sn_gate_leave(&g));
	assert_false(sn_gate_release(&g));
}

/* --- waiting at the gate ------------------------------------------------- */

enum { ROUNDS = 300 };

struct visitor {
	struct gate *gate;
	pthread_t    thread;
	bool         let_in;
	a_u32        answered;
};

static void *visit(void *argument)
{
	struct visitor *v = argument;

	v->let_in = sn_gate_enter(v->gate);
	a_store_rel(&v->answered, 1);
	return NULL;
}

/* Returns once the visitor has set DIRTY, which changes the word. */
static void start_visitor(struct visitor *v, struct gate *g)
{
	const uint64_t before = a_load_rlx(&g->word);

	*v = (struct visitor){ .gate = g };
	assert_int_equal(pthread_create(&v->thread, NULL, visit, v), 0);
	while (a_load_rlx(&g->word) == before)
		os_thread_yield();
}

/* A sleep at the gate may end spuriously. The visitor then sets DIRTY again. */
static enum gate_verdict settle_at_last(struct gate *g, bool found_work)
{
	enum gate_verdict verdict;

	do
		verdict = sn_gate_settle(g, found_work);
	while (verdict == GATE_AGAIN);
	return verdict;
}

/* Afterwards the visitor may be asleep, or about to sleep. */
static void give_it_time_to_sleep(unsigned yields)
{
	while (yields--)
		os_thread_yield();
}

static void who_knocks_is_let_in_by_the_rollback(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct gate    g = suspended_gate();
		struct visitor v;

		start_visitor(&v, &g);
		assert_int_equal(sn_gate_settle(&g, true), GATE_AGAIN);
		give_it_time_to_sleep(i % 16);
		assert_int_equal(a_load_acq(&v.answered), 0);
		assert_int_equal(settle_at_last(&g, true), GATE_ROLLED_BACK);
		pthread_join(v.thread, NULL);
		assert_true(v.let_in);
		assert_true(sn_gate_leave(&g));
	}
}

static void who_knocks_is_sent_away_when_it_is_done(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct gate    g = suspended_gate();
		struct visitor v;

		start_visitor(&v, &g);
		assert_int_equal(sn_gate_settle(&g, false), GATE_AGAIN);
		give_it_time_to_sleep(i % 16);
		assert_int_equal(a_load_acq(&v.answered), 0);
		assert_int_equal(settle_at_last(&g, false), GATE_COMPLETED);
		pthread_join(v.thread, NULL);
		assert_false(v.let_in);
	}
}

static void everyone_at_the_gate_is_let_in(void **state)
{
	struct visitor v[4];
	struct gate    g = suspended_gate();

	(void)state;
	start_visitor(&v[0], &g);
	for (unsigned i = 1; i < 4; i++) {
		v[i] = (struct visitor){ .gate = &g };
		assert_int_equal(
			pthread_create(&v[i].thread, NULL, visit, &v[i]), 0);
	}
	assert_int_equal(settle_at_last(&g, true), GATE_ROLLED_BACK);
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(v[i].thread, NULL);
		assert_true(v[i].let_in);
	}
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(sn_gate_leave(&g), i == 3);
}

/* --- misuse -------------------------------------------------------------- */

static void release_what_nobody_holds(void)
{
	struct gate g = gate_with(0, 1);

	sn_gate_release(&g);
}

static void retain_without_end(void)
{
	struct gate g = gate_with(UINT32_MAX, 1);

	sn_gate_retain(&g);
}

_Noreturn static void die_of(void (*act)(void))
{
	signal(SIGABRT, SIG_DFL);
	act();
	_exit(0);
}

static void assert_aborts(void (*act)(void), const char *expected)
{
	char        text[512];
	int         words, status;
	const pid_t child = begin_heard_child(&words);

	if (!child)
		die_of(act);
	status = await_words(child, words, text, sizeof(text));
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	if (!strstr(text, expected))
		fail_msg("expected \"%s\", got \"%s\"", expected, text);
}

static void one_release_too_many_is_misuse(void **state)
{
	(void)state;
	assert_aborts(release_what_nobody_holds,
		      "misuse of sennit_scheduler_release");
}

static void references_do_not_wrap(void **state)
{
	(void)state;
	assert_aborts(retain_without_end, "too many references");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_release_too_many_is_misuse),
		cmocka_unit_test(references_do_not_wrap),
		cmocka_unit_test(the_last_worker_out_is_the_sweeper),
		cmocka_unit_test(the_last_reference_out_is_the_sweeper),
		cmocka_unit_test(nobody_sweeps_while_a_reference_is_held),
		cmocka_unit_test(nobody_sweeps_while_a_worker_is_active),
		cmocka_unit_test(references_are_counted),
		cmocka_unit_test(a_sweep_that_finds_nothing_completes),
		cmocka_unit_test(nobody_comes_in_once_it_is_done),
		cmocka_unit_test(found_work_rolls_back),
		cmocka_unit_test(a_reference_taken_during_the_sweep_rolls_back),
		cmocka_unit_test(
			a_reference_come_and_gone_makes_the_sweeper_look_again),
		cmocka_unit_test(found_work_does_not_hide_a_knock),
		cmocka_unit_test(a_reference_that_stays_is_no_knock),
		cmocka_unit_test(an_abandoned_gate_is_done_and_has_no_sweeper),
		cmocka_unit_test(who_knocks_is_let_in_by_the_rollback),
		cmocka_unit_test(who_knocks_is_sent_away_when_it_is_done),
		cmocka_unit_test(everyone_at_the_gate_is_let_in),
	};

	alarm(300); /* ends a test that hangs after a lost wake */
	return cmocka_run_group_tests_name("gate", tests, NULL, NULL);
}
