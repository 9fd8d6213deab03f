/* SPDX-License-Identifier: Apache-2.0 */
/* group.c - promises of groups wherever they are opened: counting, errors,
 * copies. */
#include "members.h"
#include "with_workers.h"

#include <errno.h>

/* --- counting ----------------------------------------------------------- */

static int count(void *argument)
{
	atomic_fetch_add((atomic_uint *)argument, 1);
	return 0;
}

static int yield_and_count(void *argument)
{
	sennit_yield();
	return count(argument);
}

static void spawn_many(void *argument)
{
	atomic_uint  ran = 0;
	sennit_group g;

	open_on(argument, &g, 0);
	for (unsigned i = 0; i < 500; i++)
		must_spawn(&g, i % 3 ? count : yield_and_count, &ran);
	EXPECT(sennit_group_wait(&g) == 0);
	EXPECT(atomic_load(&ran) == 500);
	memset(&g, 0xa5, sizeof(g));
}

TEST_WITH_WORKERS(a_wait_ends_when_all_members_have)
{
	in_each_place_of(spawn_many, w);
}

static void open_and_wait(void *argument)
{
	sennit_group g;

	open_on(argument, &g, 0);
	EXPECT(sennit_group_wait(&g) == 0);
}

TEST_WITH_WORKERS(a_group_without_members_is_over)
{
	in_each_place_of(open_and_wait, w);
}

struct tree {
	sennit_group *g;
	atomic_uint  *ran;
	unsigned      depth;
};

static int grow(void *argument)
{
	const struct tree *t = argument;
	const struct tree  child = { t->g, t->ran, t->depth - 1 };

	atomic_fetch_add(t->ran, 1);
	for (int i = 0; i < 2 && t->depth; i++)
		EXPECT(sennit_group_spawn_copy(t->g, grow, &child,
					       sizeof(child)) == 0);
	return 0;
}

static void grow_a_tree(void *argument)
{
	atomic_uint  ran = 0;
	sennit_group g;
	struct tree  root = { &g, &ran, 8 };

	open_on(argument, &g, 0);
	must_spawn(&g, grow, &root);
	EXPECT(sennit_group_wait(&g) == 0);
	EXPECT(atomic_load(&ran) == 511);
}

TEST_WITH_WORKERS(members_spawn_into_their_own_group)
{
	in_each_place_of(grow_a_tree, w);
}

static int nest(void *argument)
{
	struct tree  child = *(struct tree *)argument;
	sennit_group g;

	atomic_fetch_add(child.ran, 1);
	if (!child.depth--)
		return 0;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	must_spawn(&g, nest, &child);
	must_spawn(&g, nest, &child);
	return sennit_group_wait(&g);
}

static void nest_groups(void *argument)
{
	atomic_uint  ran = 0;
	sennit_group g;
	struct tree  root = { NULL, &ran, 8 };

	open_on(argument, &g, 0);
	must_spawn(&g, nest, &root);
	EXPECT(sennit_group_wait(&g) == 0);
	EXPECT(atomic_load(&ran) == 511);
}

TEST_WITH_WORKERS(members_open_groups_of_their_own)
{
	in_each_place_of(nest_groups, w);
}

static void spawn_and_wait_again(void *argument)
{
	atomic_uint  ran = 0;
	sennit_group g;

	for (unsigned i = 1; i <= 200; i++) {
		open_on(argument, &g, 0);
		must_spawn(&g, count, &ran);
		EXPECT(sennit_group_wait(&g) == 0);
		EXPECT(atomic_load(&ran) == i);
	}
}

TEST_WITH_WORKERS(the_memory_of_a_group_may_be_reused_at_once)
{
	in_each_place_of(spawn_and_wait_again, w);
}

/* A thread that is not a member, and that knows that one member has not
 * ended. */
struct guest {
	sennit_group *g;
	atomic_uint  *ran;
	sennit_event  spawned;
};

static void spawn_as_guest(void *argument)
{
	struct guest *guest = argument;

	for (int i = 0; i < 20; i++)
		must_spawn(guest->g, count, guest->ran);
	sennit_event_set(&guest->spawned);
}

static int wait_for_guest(void *argument)
{
	struct guest *guest = argument;

	EXPECT(!sennit_event_wait(&guest->spawned));
	return 0;
}

TEST_WITH_WORKERS(others_may_spawn_while_a_member_has_not_ended)
{
	atomic_uint  ran = 0;
	sennit_group g;
	struct guest guest = { .g = &g, .ran = &ran };

	open_on(w, &g, 0);
	must_spawn(&g, wait_for_guest, &guest);
	if (w->threads)
		in_a_thread(spawn_as_guest, &guest);
	else
		in_a_task(spawn_as_guest, &guest);
	assert_int_equal(sennit_group_wait(&g), 0);
	assert_int_equal(atomic_load(&ran), 20);
}

/* --- errors ------------------------------------------------------------- */

static int fail_io(void *argument)
{
	(void)argument;
	return -EIO;
}

static int wait_for_ever(void *argument)
{
	sennit_event never = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	int          err = sennit_event_wait_until(&never, SENNIT_NEVER);

	EXPECT(err == -ECANCELED);
	count(argument);
	return err;
}

static void fail_beside_waits(void *argument)
{
	atomic_uint  ended = 0;
	sennit_group g;

	open_on(argument, &g, 0);
	for (int i = 0; i < 10; i++)
		must_spawn(&g, wait_for_ever, &ended);
	must_spawn(&g, fail_io, NULL);
	EXPECT(sennit_group_wait(&g) == -EIO);
	EXPECT(atomic_load(&ended) == 10);
}

TEST_WITH_WORKERS(the_first_error_cancels_the_others_and_is_returned)
{
	in_each_place_of(fail_beside_waits, w);
}

static int wait_briefly(void *argument)
{
	EXPECT(sennit_sleep_until(sennit_after(SENNIT_MILLISECOND)) == 0);
	EXPECT(sennit_cancelled() == 0);
	return count(argument);
}

static void fail_and_keep_going(void *argument)
{
	atomic_uint  ended = 0;
	sennit_group g;

	open_on(argument, &g, SENNIT_GROUP_KEEP_GOING);
	must_spawn(&g, fail_io, NULL);
	for (int i = 0; i < 5; i++)
		must_spawn(&g, wait_briefly, &ended);
	EXPECT(sennit_group_wait(&g) == -EIO);
	EXPECT(atomic_load(&ended) == 5);
}

TEST_WITH_WORKERS(with_keep_going_an_error_cancels_nobody)
{
	in_each_place_of(fail_and_keep_going, w);
}

static int fail_once_cancelled(void *argument)
{
	(void)wait_for_ever(argument);
	return -EIO;
}

static void cancel_then_fail(void *argument)
{
	atomic_uint  ended = 0;
	sennit_group g;

	open_on(argument, &g, 0);
	must_spawn(&g, fail_once_cancelled, &ended);
	must_spawn(&g, wait_for_ever, &ended);
	EXPECT(sennit_group_cancel(&g));
	EXPECT(!sennit_group_cancel(&g));
	EXPECT(sennit_group_wait(&g) == -EIO);
}

TEST_WITH_WORKERS(an_error_goes_before_the_cancelling)
{
	in_each_place_of(cancel_then_fail, w);
}

static void cancel_what_has_ended_well(void *argument)
{
	atomic_uint  ran = 0;
	sennit_group g;

	open_on(argument, &g, 0);
	must_spawn(&g, count, &ran);
	EXPECT_SOON(atomic_load(&ran) == 1);
	EXPECT(sennit_group_cancel(&g));
	EXPECT(sennit_group_wait(&g) == -ECANCELED);
}

TEST_WITH_WORKERS(a_cancelled_group_says_so)
{
	in_each_place_of(cancel_what_has_ended_well, w);
}

static void spawn_without_function(void *argument)
{
	sennit_group g;

	open_on(argument, &g, 0);
	EXPECT(sennit_group_spawn(&g, NULL, NULL) == -EINVAL);
	EXPECT(sennit_group_spawn_copy(&g, NULL, "x", 1) == -EINVAL);
	EXPECT(sennit_group_wait(&g) == 0);
}

TEST_WITH_WORKERS(a_member_without_function_is_refused)
{
	in_each_place_of(spawn_without_function, w);
}

/* --- copies ------------------------------------------------------------- */

struct letter {
	atomic_uint  *read;
	unsigned char text[1000];
};

static int read_letter(void *argument)
{
	const struct letter *l = argument;

	EXPECT((uintptr_t)l % 16 == 0);
	for (size_t i = 0; i < sizeof(l->text); i++)
		EXPECT(l->text[i] == (unsigned char)(i * 7));
	return count(l->read);
}

static int read_note(void *argument)
{
	EXPECT((uintptr_t)argument % 16 == 0);
	return count(*(atomic_uint **)argument);
}

static void send_copies(void *argument)
{
	atomic_uint   read = 0;
	struct letter l = { .read = &read };
	atomic_uint  *note = &read;
	sennit_group  g;

	for (size_t i = 0; i < sizeof(l.text); i++)
		l.text[i] = (unsigned char)(i * 7);
	open_on(argument, &g, 0);
	for (int i = 0; i < 50; i++) {
		EXPECT(sennit_group_spawn_copy(&g, read_letter, &l,
					       sizeof(l)) == 0);
		EXPECT(sennit_group_spawn_copy(&g, read_note, &note,
					       sizeof(note)) == 0);
	}
	EXPECT(sennit_group_spawn_copy(&g, count, &read, 0) == 0);
	memset(&l, 0, sizeof(l));
	note = NULL;
	EXPECT(sennit_group_wait(&g) == 0);
	EXPECT(atomic_load(&read) == 101);
}

TEST_WITH_WORKERS(members_get_copies_of_any_size)
{
	in_each_place_of(send_copies, w);
}

/* --- the caller's group -------------------------------------------------- */

struct inside {
	struct world *w;
	sennit_group *g; /* NULL: none */
	atomic_uint  *ran;
};

static int look(void *argument)
{
	const struct inside *i = argument;

	EXPECT(sennit_group_current() == i->g);
	atomic_fetch_add(i->ran, 1);
	return 0;
}

static void look_outside(void *argument)
{
	(void)look(argument);
}

/* Its group is not that of the tasks that it schedules, and a group that it
 * opens is not its own. */
static int look_around(void *argument)
{
	const struct inside *i = argument;
	struct inside        outside = { i->w, NULL, i->ran }, inner = *i;
	sennit_wait_group    left = SENNIT_WAIT_GROUP_INIT;
	sennit_group         g;

	EXPECT(sennit_wait_group_spawn(&left, look_outside, &outside) == 0);
	open_on(i->w, &g, 0);
	inner.g = &g;
	must_spawn(&g, look, &inner);
	(void)look(argument);
	EXPECT(sennit_group_wait(&g) == 0);
	sennit_wait_group_wait(&left);
	sennit_yield();
	return look(argument);
}

/* Starts a member in the name of its caller, as a library does. */
static int spawn_into_current(void *argument)
{
	EXPECT(sennit_group_spawn(sennit_group_current(), look_around,
				  argument) == 0);
	return 0;
}

static void ask_for_current(void *argument)
{
	atomic_uint   ran = 0;
	sennit_group  g;
	struct inside i = { argument, &g, &ran };

	EXPECT(sennit_group_current() == NULL);
	open_on(argument, &g, 0);
	EXPECT(sennit_group_current() == NULL);
	for (int n = 0; n < 20; n++)
		must_spawn(&g, n % 2 ? look_around : spawn_into_current, &i);
	EXPECT(sennit_group_wait(&g) == 0);
	EXPECT(atomic_load(&ran) == 80);
}

TEST_WITH_WORKERS(a_member_knows_its_group)
{
	in_each_place_of(ask_for_current, w);
}
