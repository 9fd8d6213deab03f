/* SPDX-License-Identifier: Apache-2.0 */
/* gate.c - which thread becomes the sweeper, how a sweep ends, and which may
 * still enter. */
#include "park/gate.h"
#include "os/os.h"

#include "testing/child.h"

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

TEST(the_last_worker_out_is_the_sweeper)
{
	struct gate g = gate_with(0, 3);

	assert_false(sn_gate_leave(&g));
	assert_false(sn_gate_leave(&g));
	assert_true(sn_gate_leave(&g));
}

TEST(the_last_reference_out_is_the_sweeper)
{
	struct gate g = gate_with(3, 0);

	assert_false(sn_gate_release(&g));
	assert_false(sn_gate_release(&g));
	assert_true(sn_gate_release(&g));
}

TEST(nobody_sweeps_while_a_reference_is_held)
{
	struct gate g = gate_with(1, 1);

	assert_false(sn_gate_leave(&g));
	assert_true(sn_gate_enter(&g));
	assert_false(sn_gate_leave(&g));
	assert_true(sn_gate_release(&g));
}

TEST(nobody_sweeps_while_a_worker_is_active)
{
	struct gate g = gate_with(1, 1);

	assert_false(sn_gate_release(&g));
	assert_true(sn_gate_retain(&g)); /* although there was none */
	assert_false(sn_gate_release(&g));
	assert_true(sn_gate_leave(&g));
}

TEST(references_are_counted)
{
	struct gate g = gate_with(2, 5);

	assert_int_equal(sn_gate_references(&g), 2);
	assert_true(sn_gate_retain(&g));
	assert_true(sn_gate_enter(&g));
	assert_int_equal(sn_gate_references(&g), 3);
	assert_false(sn_gate_release(&g));
	assert_false(sn_gate_leave(&g));
	assert_int_equal(sn_gate_references(&g), 2);
}

/* --- the verdict --------------------------------------------------------- */

TEST(a_sweep_that_finds_nothing_completes)
{
	struct gate g = suspended_gate();

	assert_false(sn_gate_is_done(&g));
	assert_int_equal(sn_gate_settle(&g, false), GATE_COMPLETED);
	assert_true(sn_gate_is_done(&g));
}

TEST(nobody_comes_in_once_it_is_done)
{
	struct gate g = suspended_gate();

	assert_int_equal(sn_gate_settle(&g, false), GATE_COMPLETED);
	assert_false(sn_gate_retain(&g));
	assert_false(sn_gate_enter(&g));
	assert_int_equal(sn_gate_references(&g), 0);
}

TEST(found_work_rolls_back)
{
	struct gate g = suspended_gate();

	assert_int_equal(sn_gate_settle(&g, true), GATE_ROLLED_BACK);
	assert_false(sn_gate_is_done(&g));
	assert_true(sn_gate_enter(&g));
	assert_true(sn_gate_leave(&g)); /* the next one to leave tries again */
	assert_int_equal(sn_gate_settle(&g, false), GATE_COMPLETED);
}

TEST(a_reference_taken_during_the_sweep_rolls_back)
{
	struct gate g = suspended_gate();

	assert_true(sn_gate_retain(&g));
	assert_int_equal(sn_gate_settle(&g, false), GATE_ROLLED_BACK);
	assert_true(sn_gate_release(&g));
	assert_int_equal(sn_gate_settle(&g, false), GATE_COMPLETED);
}

TEST(a_reference_come_and_gone_makes_the_sweeper_look_again)
{
	struct gate g = suspended_gate();

	assert_true(sn_gate_retain(&g));
	assert_false(sn_gate_release(&g)); /* there is already a sweeper */
	assert_int_equal(sn_gate_settle(&g, false), GATE_AGAIN);
	assert_false(sn_gate_is_done(&g));
	assert_int_equal(sn_gate_settle(&g, false), GATE_COMPLETED);
}

TEST(found_work_does_not_hide_a_knock)
{
	struct gate g = suspended_gate();

	assert_true(sn_gate_retain(&g));
	assert_false(sn_gate_release(&g));
	assert_int_equal(sn_gate_settle(&g, true), GATE_AGAIN);
	assert_int_equal(sn_gate_settle(&g, true), GATE_ROLLED_BACK);
}

TEST(a_reference_that_stays_is_no_knock)
{
	struct gate g = suspended_gate();

	assert_true(sn_gate_retain(&g));
	assert_true(sn_gate_retain(&g));
	assert_false(sn_gate_release(&g));
	assert_int_equal(sn_gate_settle(&g, false), GATE_ROLLED_BACK);
	assert_int_equal(sn_gate_references(&g), 1);
}

TEST(an_abandoned_gate_is_done_and_has_no_sweeper)
{
	struct gate g = gate_with(2, 1);

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

TEST(who_knocks_is_let_in_by_the_rollback)
{
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

TEST(who_knocks_is_sent_away_when_it_is_done)
{
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

TEST(everyone_at_the_gate_is_let_in)
{
	struct visitor v[4];
	struct gate    g = suspended_gate();

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

TEST(one_release_too_many_is_misuse)
{
	assert_aborts(release_what_nobody_holds,
		      "misuse of sennit_scheduler_release");
}

TEST(references_do_not_wrap)
{
	assert_aborts(retain_without_end, "too many references");
}

static int begin_all(void)
{
	alarm(300); /* ends a test that hangs after a lost wake */
	return 0;
}

BEFORE_ALL(begin_all);
