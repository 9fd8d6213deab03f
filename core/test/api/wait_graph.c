/* SPDX-License-Identifier: Apache-2.0 */
/* wait_graph.c - which fiber waits for which, and which waits never end. */
#include "testing/words.h"
#include "report_search.h"

#include <errno.h>

/* --- members that lock one thing after the other -------------------------- */

/* Members of a group: cancelling it ends their deadlock. */
struct locks {
	sennit_mutex  first, second;
	sennit_rwlock rwlock;
	sennit_once   once;
	sennit_event  first_held, second_held, third_held;
	sennit_event  over;
	sennit_group  group;
};

/* What a member does next. It unlocks all at its end. */
struct step {
	enum { END, LOCK, READ, WRITE, ENTER, SET, AWAIT, STAY } act;
	size_t at; /* in struct locks */
};

enum { MOST_STEPS = 4 };

#define STEP(act, object)                           \
	{                                           \
		act, offsetof(struct locks, object) \
	}

static int nothing(void *unused)
{
	return 0;
}

static int take_step(const struct step *s, void *object)
{
	switch (s->act) {
	case LOCK:
		return sennit_mutex_lock_until(object, SENNIT_NEVER);
	case READ:
		return sennit_rwlock_lock_shared_until(object, SENNIT_NEVER);
	case WRITE:
		return sennit_rwlock_lock_until(object, SENNIT_NEVER);
	case ENTER:
		return sennit_once_attempt_until(object, nothing, NULL,
						 SENNIT_NEVER);
	case SET:
		sennit_event_set(object);
		return 0;
	case AWAIT:
		return sennit_event_wait_until(object, SENNIT_UNCANCELLED);
	default:
		return sennit_event_wait(object);
	}
}

static void take_back(const struct step *s, void *object)
{
	switch (s->act) {
	case LOCK:
		sennit_mutex_unlock(object);
		break;
	case READ:
		sennit_rwlock_unlock_shared(object);
		break;
	case WRITE:
		sennit_rwlock_unlock(object);
		break;
	default:
		break;
	}
}

static int take_steps(struct locks *l, const struct step steps[])
{
	int err = 0, i;

	for (i = 0; !err && i < MOST_STEPS && steps[i].act; i++)
		err = take_step(&steps[i], (char *)l + steps[i].at);
	for (i -= err != 0; i-- > 0;)
		take_back(&steps[i], (char *)l + steps[i].at);
	return err;
}

/* A member that takes these steps. Reports know it by its function. */
#define MEMBER(name, ...)                                              \
	static int name(void *locks)                                   \
	{                                                              \
		const struct step steps[MOST_STEPS] = { __VA_ARGS__ }; \
                                                                       \
		return take_steps(locks, steps);                       \
	}                                                              \
	struct step

static sennit_task_fn *task_of(sennit_member_fn *member)
{
	union {
		sennit_member_fn *member;
		sennit_task_fn   *task;
	} both = { member };

	return both.task;
}

/* Members that wait for ever, on stacks of their own, until they are
 * cancelled. */
static void run_stuck(struct locks *l, sennit_member_fn *const members[])
{
	sennit_group_init(&l->group, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	for (; *members; members++)
		EXPECT(!sennit_group_spawn(&l->group, *members, l));
	EXPECT(sennit_group_wait(&l->group) == -ECANCELED);
	sennit_event_set(&l->over);
}

/* Their opener. */
#define OPENER(name, ...)                                                    \
	static void name(void *locks)                                        \
	{                                                                    \
		run_stuck(locks,                                             \
			  (sennit_member_fn *const[]){ __VA_ARGS__, NULL }); \
	}                                                                    \
	struct step

static void begin_stuck(struct locks *l, sennit_task_fn *opener)
{
	memset(l, 0, sizeof(*l)); /* manual events, not set */
	must_schedule(opener, l);
}

static void end_stuck(struct locks *l)
{
	sennit_group_cancel(&l->group);
	EXPECT(!sennit_event_wait(&l->over));
}

/* --- locks in opposite orders ------------------------------------------- */

MEMBER(take_first_then_second, STEP(LOCK, first), STEP(SET, first_held),
       STEP(AWAIT, second_held), STEP(LOCK, second));
MEMBER(take_second_then_first, STEP(LOCK, second), STEP(SET, second_held),
       STEP(AWAIT, first_held), STEP(LOCK, first));
OPENER(run_opposite, take_first_then_second, take_second_then_first);

TEST_WITH_WORKERS(locks_in_opposite_orders_are_a_deadlock)
{
	struct locks l;
	struct edges e;
	char         text[8192];

	begin_stuck(&l, run_opposite);
	assert_soon(shows_cycle(w->s, 2, &e));
	assert_true(e.chained);
	assert_int_equal(e.in_cycles, 2);
	assert_true(has_edge(&e, task_of(take_first_then_second),
			     task_of(take_second_then_first),
			     SENNIT_WAITS_FOR_MUTEX, &l.second));
	assert_true(has_edge(&e, task_of(take_second_then_first),
			     task_of(take_first_then_second),
			     SENNIT_WAITS_FOR_MUTEX, &l.first));
	/* The opener waits for both, and is not in the circle. */
	assert_int_equal(e.count, 4);
	assert_true(has_edge(&e, run_opposite, task_of(take_first_then_second),
			     SENNIT_WAITS_FOR_GROUP, &l.group));
	assert_non_null(strstr(printed_report(w->s, text, sizeof(text)),
			       "deadlock of 2 fibers:\n  "));
	end_stuck(&l);
	e = look(w->s);
	assert_int_equal(e.cycles, 0);
}

/* --- a circle of three kinds of locks ------------------------------------ */

MEMBER(mutex_then_rwlock, STEP(LOCK, first), STEP(SET, first_held),
       STEP(AWAIT, second_held), STEP(READ, rwlock));
MEMBER(rwlock_then_once, STEP(WRITE, rwlock), STEP(SET, second_held),
       STEP(AWAIT, third_held), STEP(ENTER, once));
MEMBER(in_the_once, STEP(SET, third_held), STEP(AWAIT, first_held),
       STEP(LOCK, first));

static int once_then_mutex(void *argument)
{
	struct locks *l = argument;

	return sennit_once_attempt_until(&l->once, in_the_once, l,
					 SENNIT_NEVER);
}

OPENER(run_circle, mutex_then_rwlock, rwlock_then_once, once_then_mutex);

TEST_WITH_WORKERS(mutex_rwlock_and_once_form_a_circle)
{
	struct locks l;
	struct edges e;

	begin_stuck(&l, run_circle);
	assert_soon(shows_cycle(w->s, 3, &e));
	assert_true(e.chained);
	assert_true(has_edge(&e, task_of(mutex_then_rwlock),
			     task_of(rwlock_then_once), SENNIT_WAITS_FOR_RWLOCK,
			     &l.rwlock));
	assert_true(has_edge(&e, task_of(rwlock_then_once),
			     task_of(once_then_mutex), SENNIT_WAITS_FOR_ONCE,
			     &l.once));
	assert_true(has_edge(&e, task_of(once_then_mutex),
			     task_of(mutex_then_rwlock), SENNIT_WAITS_FOR_MUTEX,
			     &l.first));
	end_stuck(&l);
}

/* --- groups -------------------------------------------------------------- */

MEMBER(want_first, STEP(LOCK, first));

static void hold_and_wait(struct locks *l, uint32_t flags)
{
	sennit_mutex_lock(&l->first);
	sennit_group_init(&l->group, SENNIT_NEVER, flags);
	EXPECT(!sennit_group_spawn(&l->group, want_first, l));
	EXPECT(sennit_group_wait(&l->group) == -ECANCELED);
	sennit_mutex_unlock(&l->first);
	sennit_event_set(&l->over);
}

static void hold_and_wait_for_other_stack(void *argument)
{
	hold_and_wait(argument, SENNIT_GROUP_OWN_STACKS);
}

static void hold_and_wait_for_same_stack(void *argument)
{
	hold_and_wait(argument, 0);
}

TEST_WITH_WORKERS(opener_holds_what_its_member_wants)
{
	struct locks l;
	struct edges e;

	begin_stuck(&l, hold_and_wait_for_other_stack);
	assert_soon(shows_cycle(w->s, 2, &e));
	assert_true(e.chained);
	assert_true(has_edge(&e, hold_and_wait_for_other_stack,
			     task_of(want_first), SENNIT_WAITS_FOR_GROUP,
			     &l.group));
	assert_true(has_edge(&e, task_of(want_first),
			     hold_and_wait_for_other_stack,
			     SENNIT_WAITS_FOR_MUTEX, &l.first));
	end_stuck(&l);
}

TEST_WITH_WORKERS(member_on_its_openers_stack_waits_for_itself)
{
	struct locks l;
	struct edges e;
	char         text[8192];

	begin_stuck(&l, hold_and_wait_for_same_stack);
	/* Another worker may have stolen the member. */
	assert_soon(shows_cycle(w->s, 1, &e) || shows_cycle(w->s, 2, &e));
	assert_true(e.chained);
	printed_report(w->s, text, sizeof(text));
	if (e.length == 1) {
		assert_ptr_equal(e.waiters[0].inside, &l.group);
		assert_non_null(strstr(text, "on whose stack it runs"));
		assert_non_null(strstr(text, "Unlock the mutex before"));
	} else {
		assert_non_null(strstr(text, "before sennit_group_wait()"));
	}
	end_stuck(&l);
}

/* --- no deadlock ---------------------------------------------------------- */

static void want_mutex(void *argument)
{
	struct locks *l = argument;

	sennit_mutex_lock(&l->first);
	sennit_mutex_unlock(&l->first);
	sennit_event_set(&l->over);
}

static void *look_from_outside(void *argument)
{
	struct world *w = argument;
	struct locks  l;
	struct edges  e;

	memset(&l, 0, sizeof(l));
	sennit_mutex_lock(&l.first);
	EXPECT(!sennit_schedule_task_on(
		w->s, &(sennit_task){ .run = want_mutex, .argument = &l }));
	EXPECT_SOON((e = look(w->s), e.count == 1));
	EXPECT(e.outside[0] && !e.cycles);
	sennit_mutex_unlock(&l.first);
	EXPECT(!sennit_event_wait(&l.over));
	return NULL;
}

TEST_WITH_THREADS(holder_outside_the_scheduler_is_not_named)
{
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, look_from_outside, w), 0);
	assert_int_equal(pthread_join(t, NULL), 0);
}

static void hold_until_set(void *argument)
{
	struct locks *l = argument;

	sennit_mutex_lock(&l->first);
	sennit_event_set(&l->first_held);
	EXPECT(!sennit_event_wait(&l->second_held));
	sennit_mutex_unlock(&l->first);
}

TEST_WITH_WORKERS(holder_that_can_be_woken_is_no_deadlock)
{
	struct locks l;
	struct edges e;
	char         text[8192];

	begin_stuck(&l, hold_until_set);
	EXPECT(!sennit_event_wait(&l.first_held));
	must_schedule(want_mutex, &l);
	assert_soon((e = look(w->s), e.count == 1));
	assert_true(has_edge(&e, want_mutex, hold_until_set,
			     SENNIT_WAITS_FOR_MUTEX, &l.first));
	assert_int_equal(e.cycles, 0);
	assert_null(strstr(printed_report(w->s, text, sizeof(text)),
			   "deadlock of"));
	sennit_event_set(&l.second_held);
	EXPECT(!sennit_event_wait(&l.over));
}

/* --- readers ------------------------------------------------------------- */

MEMBER(read_until_set, STEP(READ, rwlock), STEP(SET, first_held),
       STEP(STAY, second_held));
MEMBER(write_once, STEP(WRITE, rwlock));

static void run_readers(void *argument)
{
	struct locks *l = argument;

	sennit_group_init(&l->group, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	for (int i = 0; i < 3; i++) {
		sennit_event_clear(&l->first_held);
		EXPECT(!sennit_group_spawn(&l->group, read_until_set, l));
		EXPECT(!sennit_event_wait(&l->first_held));
	}
	EXPECT(!sennit_group_spawn(&l->group, write_once, l));
	EXPECT(!sennit_group_wait(&l->group));
	sennit_event_set(&l->over);
}

static unsigned count_readers(const struct edges *e, const struct locks *l)
{
	unsigned n = 0;

	for (unsigned i = 0; i < e->count; i++)
		n += e->relations[i] == SENNIT_WAIT_READER &&
		     e->waiters[i].task == task_of(write_once) &&
		     e->waiters[i].object == &l->rwlock &&
		     e->holders[i].task == task_of(read_until_set);
	return n;
}

TEST_WITH_WORKERS(readers_that_a_writer_waits_for_are_named)
{
	struct locks l;
	struct edges e;
	char         text[8192];

	begin_stuck(&l, run_readers);
	assert_soon((e = look(w->s), count_readers(&e, &l) == 3));
	assert_int_equal(e.cycles, 0);
	assert_non_null(strstr(printed_report(w->s, text, sizeof(text)),
			       ", held by the reader "));
	sennit_event_set(&l.second_held);
	EXPECT(!sennit_event_wait(&l.over));
	e = look(w->s);
	assert_int_equal(count_readers(&e, &l), 0);
}

MEMBER(read_then_write, STEP(READ, rwlock), STEP(WRITE, rwlock));
OPENER(run_upgrade, read_then_write);

TEST_WITH_WORKERS(reader_that_wants_to_write_waits_for_itself)
{
	struct locks l;
	struct edges e;
	char         text[8192];

	begin_stuck(&l, run_upgrade);
	assert_soon(shows_cycle(w->s, 1, &e));
	assert_int_equal(e.relations[0], SENNIT_WAIT_READER);
	printed_report(w->s, text, sizeof(text));
	assert_non_null(strstr(text, "deadlock of a fiber with itself"));
	assert_non_null(strstr(text, "as a reader itself"));
	end_stuck(&l);
}

MEMBER(read_twice_around_a_writer, STEP(READ, rwlock), STEP(SET, first_held),
       STEP(AWAIT, second_held), STEP(READ, rwlock));

static void run_reader_again(void *argument)
{
	struct locks *l = argument;

	sennit_group_init(&l->group, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	EXPECT(!sennit_group_spawn(&l->group, read_twice_around_a_writer, l));
	EXPECT(!sennit_event_wait(&l->first_held));
	EXPECT(!sennit_group_spawn(&l->group, write_once, l));
	EXPECT(sennit_group_wait(&l->group) == -ECANCELED);
	sennit_event_set(&l->over);
}

TEST_WITH_WORKERS(reader_behind_a_writer_waits_for_itself)
{
	struct locks l;
	struct edges e;

	begin_stuck(&l, run_reader_again);
	assert_soon(
		(e = look(w->s), has_edge(&e, task_of(write_once),
					  task_of(read_twice_around_a_writer),
					  SENNIT_WAITS_FOR_RWLOCK, &l.rwlock)));
	assert_int_equal(e.cycles, 0);
	sennit_event_set(&l.second_held);
	assert_soon(shows_cycle(w->s, 1, &e));
	end_stuck(&l);
}

MEMBER(read_then_want_mutex, STEP(READ, rwlock), STEP(SET, first_held),
       STEP(AWAIT, second_held), STEP(LOCK, second));
MEMBER(lock_mutex_then_write, STEP(LOCK, second), STEP(SET, second_held),
       STEP(AWAIT, first_held), STEP(WRITE, rwlock));
OPENER(run_reader_circle, read_then_want_mutex, lock_mutex_then_write);

TEST_WITH_WORKERS(reader_is_part_of_a_circle)
{
	struct locks l;
	struct edges e;

	begin_stuck(&l, run_reader_circle);
	assert_soon(shows_cycle(w->s, 2, &e));
	assert_true(e.chained);
	end_stuck(&l);
}

/* The first reader lets the second one unlock, and then waits for a mutex that
 * a writer holds. The lock has one reader, but two seem to hold it. */
static int read_and_give_away(void *argument)
{
	struct locks *l = argument;
	int           err;

	sennit_rwlock_lock_shared(&l->rwlock);
	sennit_event_set(&l->first_held);
	EXPECT(!sennit_event_wait(&l->second_held));
	err = sennit_mutex_lock_until(&l->second, SENNIT_NEVER);
	if (!err)
		sennit_mutex_unlock(&l->second);
	return err;
}

static int unlock_for_another(void *argument)
{
	struct locks *l = argument;
	int           err;

	EXPECT(!sennit_event_wait(&l->first_held));
	sennit_rwlock_unlock_shared(&l->rwlock);
	sennit_rwlock_lock_shared(&l->rwlock);
	sennit_event_set(&l->third_held);
	err = sennit_event_wait_until(&l->over, SENNIT_NEVER);
	sennit_rwlock_unlock_shared(&l->rwlock);
	return err;
}

MEMBER(write_with_mutex, STEP(AWAIT, third_held), STEP(LOCK, second),
       STEP(SET, second_held), STEP(WRITE, rwlock));

static void run_handed(void *argument)
{
	struct locks *l = argument;

	sennit_group_init(&l->group, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	EXPECT(!sennit_group_spawn(&l->group, read_and_give_away, l));
	EXPECT(!sennit_group_spawn(&l->group, unlock_for_another, l));
	EXPECT(!sennit_group_spawn(&l->group, write_with_mutex, l));
	EXPECT(!sennit_group_wait(&l->group));
	sennit_event_set(&l->first_held);
}

TEST_WITH_WORKERS(reader_that_lets_another_unlock_is_in_no_deadlock)
{
	struct locks l;
	struct edges e;

	begin_stuck(&l, run_handed);
	assert_soon(
		(e = look(w->s), has_edge(&e, task_of(read_and_give_away),
					  task_of(write_with_mutex),
					  SENNIT_WAITS_FOR_MUTEX, &l.second)));
	for (int i = 0; i < 100; i++) {
		e = look(w->s);
		assert_int_equal(e.cycles, 0);
		sennit_yield();
	}
	sennit_event_clear(&l.first_held);
	sennit_event_set(&l.over);
	EXPECT(!sennit_event_wait(&l.first_held));
}

/* --- several schedulers -------------------------------------------------- */

static void hold_second_in_a_group(void *argument)
{
	struct locks *l = argument;
	sennit_group  g;

	sennit_group_init(&g, SENNIT_NEVER, SENNIT_GROUP_OWN_STACKS);
	EXPECT(!sennit_group_spawn(&g, take_second_then_first, l));
	EXPECT(!sennit_group_wait(&g));
	sennit_event_set(&l->third_held);
}

OPENER(hold_first_in_a_group, take_first_then_second);

TEST_WITH_WORKERS(circle_through_two_schedulers_is_one_deadlock)
{
	sennit_scheduler *other =
		start_with(SENNIT_CONFIG(.workers = 1, .name = "other"));
	sennit_scheduler *third = start_with(SENNIT_CONFIG(.workers = 1));
	struct locks      l;
	struct edges      e, all;
	char              text[8192];

	begin_stuck(&l, hold_first_in_a_group);
	assert_int_equal(
		sennit_schedule_task_on(
			other, &(sennit_task){ .run = hold_second_in_a_group,
					       .argument = &l }),
		0);
	assert_soon(shows_cycle(w->s, 2, &e));
	assert_true(e.chained);
	assert_soon(shows_cycle(other, 2, &e));
	all = look(NULL);
	assert_int_equal(all.cycles, 1);
	/* Each opener waits for its member. */
	assert_int_equal(all.count, 4);
	assert_int_equal(e.count, 3);
	e = look(third);
	assert_int_equal(e.count, 0);
	printed_report(w->s, text, sizeof(text));
	assert_non_null(strstr(text, "deadlock of 2 fibers:\n"));
	assert_non_null(strstr(text, "held by other worker 0, thread "));
	end_stuck(&l);
	EXPECT(!sennit_event_wait(&l.third_held));
	end_scheduler(other);
	end_scheduler(third);
}
