/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler.c - references to a scheduler, and shutdown. scheduler_work.c has
 * what the end waits for. */
#include "scheduler_life.h"

#include <errno.h>

/* --- references --------------------------------------------------------- */

TEST_WITH_COUNTS(shutdown_of_an_idle_scheduler_tells_once)
{
	struct life l;

	begin_life(&l, w);
	assert_int_equal(atomic_load(&l.ends), 0);
	end_scheduler(l.s);
	assert_int_equal(atomic_load(&l.ends), 1);
}

TEST_WITH_COUNTS(the_last_release_ends_it)
{
	struct life l;

	begin_life(&l, w);
	sennit_scheduler_retain(l.s);
	sennit_scheduler_retain(l.s);
	sennit_scheduler_release(l.s);
	sennit_scheduler_release(l.s);
	assert_int_equal(atomic_load(&l.ends), 0);
	sennit_scheduler_release(l.s);
	assert_soon(atomic_load(&l.ends) == 1);
}

static void release_it(void *argument)
{
	sennit_scheduler_release(((struct life *)argument)->s);
}

TEST_WITH_WORKERS(the_last_release_may_come_from_another_thread)
{
	struct life l;

	begin_life(&l, w);
	in_a_thread(release_it, &l);
	assert_soon(atomic_load(&l.ends) == 1);
}

TEST_WITH_THREAD_COUNTS(the_last_release_may_come_from_an_own_task)
{
	struct life l;

	for (unsigned i = 0; i < 100; i++) {
		begin_life(&l, w);
		must_enqueue(&l, release_it);
		assert_soon(atomic_load(&l.ends) == 1);
	}
}

static void sleep_and_release_it(void *argument)
{
	sennit_sleep(100 * SENNIT_MICROSECOND);
	release_it(argument);
}

TEST_WITH_THREAD_COUNTS(the_last_release_may_come_from_a_resumed_fiber)
{
	struct life l;

	for (unsigned i = 0; i < 20; i++) {
		begin_life(&l, w);
		must_enqueue(&l, sleep_and_release_it);
		assert_soon(atomic_load(&l.ends) == 1);
	}
}

TEST_WITH_COUNTS(the_last_release_may_come_from_a_bound_thread)
{
	struct life l;

	begin_life(&l, w);
	assert_int_equal(sennit_thread_bind(l.s), 0);
	sennit_scheduler_release(l.s);
	in_a_task(count_run, &l);
	assert_int_equal(atomic_load(&l.ends), 0);
	sennit_thread_unbind();
	assert_soon(atomic_load(&l.ends) == 1);
	assert_int_equal(atomic_load(&l.ran), 1);
}

static void retain_it(void *argument)
{
	struct life *l = argument;

	EXPECT(!sennit_event_wait(&l->go));
	sennit_scheduler_retain(l->s);
	atomic_fetch_add(&l->ran, 1);
}

TEST_WITH_THREAD_COUNTS(a_task_may_revive_what_nobody_else_holds)
{
	struct life l;

	begin_life(&l, w);
	must_enqueue(&l, retain_it);
	sennit_scheduler_release(l.s);
	sennit_event_set(&l.go);
	assert_soon(atomic_load(&l.ran) == 1);
	must_enqueue(&l, count_run); /* through the task's reference */
	assert_soon(atomic_load(&l.ran) == 2);
	assert_int_equal(atomic_load(&l.ends), 0);
	sennit_scheduler_release(l.s);
	assert_soon(atomic_load(&l.ends) == 1);
}

/* --- shutdown ----------------------------------------------------------- */

TEST_WITH_THREAD_COUNTS(shutdown_gives_up_at_its_deadline)
{
	struct life       l;
	const sennit_time soon = sennit_after(2 * SENNIT_MILLISECOND);

	begin_life(&l, w);
	must_enqueue(&l, wait_and_count);
	assert_int_equal(sennit_scheduler_shutdown(l.s, soon), -ETIMEDOUT);
	assert_true(sennit_now() >= soon);
	assert_int_equal(atomic_load(&l.ends), 0);
	sennit_event_set(&l.go);
	sennit_scheduler_release(l.s);
	assert_soon(atomic_load(&l.ends) == 1);
	assert_int_equal(atomic_load(&l.ran), 1);
}

TEST_WITH_COUNTS(shutdown_with_deadline_0_only_tries)
{
	struct life l;

	begin_life(&l, w);
	sennit_scheduler_retain(l.s);
	assert_int_equal(sennit_scheduler_shutdown(l.s, 0), -ETIMEDOUT);
	assert_int_equal(atomic_load(&l.ends), 0);
	sennit_scheduler_release(l.s);
	assert_int_equal(atomic_load(&l.ends), 0);
	sennit_scheduler_release(l.s);
	assert_soon(atomic_load(&l.ends) == 1);
}

TEST_WITH_THREAD_COUNTS(who_gave_up_holds_its_reference_again)
{
	struct life l;

	begin_life(&l, w);
	must_enqueue(&l, wait_and_count);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(sennit_scheduler_shutdown(l.s, 0), -ETIMEDOUT);
	sennit_event_set(&l.go);
	assert_soon(atomic_load(&l.ran) == 1);
	must_enqueue(&l, count_run);
	assert_soon(atomic_load(&l.ran) == 2);
	assert_int_equal(atomic_load(&l.ends), 0);
	end_scheduler(l.s);
	assert_int_equal(atomic_load(&l.ends), 1);
}

/* A deadline passes while the last fiber is woken. Either result is right, and
 * both leave the client with the references that they promise. */
TEST_WITH_THREAD_COUNTS(giving_up_may_meet_the_end)
{
	struct life l;
	pthread_t   other;
	int         err;

	for (unsigned i = 0; i < LOAD(200); i++) {
		begin_life(&l, w);
		must_enqueue(&l, wait_and_count);
		assert_soon(fibers_of(l.s) == 1);
		other = must_start_thread(let_go, &l);
		err = sennit_scheduler_shutdown(
			l.s, sennit_after(i * SENNIT_MICROSECOND));
		if (err) {
			assert_int_equal(err, -ETIMEDOUT);
			assert_int_equal(atomic_load(&l.ends), 0);
			end_scheduler(l.s);
		}
		assert_int_equal(atomic_load(&l.ends), 1);
		pthread_join(other, NULL);
	}
}

static void shut_down_other(void *argument)
{
	struct life *l = argument;

	EXPECT(sennit_scheduler_shutdown(l->s, sennit_after(GIVE_UP)) == 0);
}

TEST_WITH_WORKERS(shutdown_may_be_called_by_anothers_task)
{
	struct life l;

	begin_life(&l, w);
	in_a_task(shut_down_other, &l);
	assert_int_equal(atomic_load(&l.ends), 1);
	begin_life(&l, w);
	shut_down_other(&l); /* on a thread that is bound to another
			      * scheduler */
	assert_int_equal(atomic_load(&l.ends), 1);
}
