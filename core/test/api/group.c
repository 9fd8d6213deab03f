/* SPDX-License-Identifier: Apache-2.0 */
/* group.c - promises of groups wherever they are opened: counting, copies. The
 * generated programs (../programs) check errors and ends. */
#include "members.h"
#include "testing/with_workers.h"

#include <errno.h>

/* --- counting ----------------------------------------------------------- */

static int count(void *argument)
{
	atomic_fetch_add((atomic_uint *)argument, 1);
	return 0;
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

TEST_IN_EACH_PLACE_OF(members_spawn_into_their_own_group)
{
	atomic_uint  ran = 0;
	sennit_group g;
	struct tree  root = { &g, &ran, 8 };

	open_on(world, &g, 0);
	must_spawn(&g, grow, &root);
	EXPECT(sennit_group_wait(&g) == 0);
	EXPECT(atomic_load(&ran) == 511);
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

/* --- waiting until a deadline ------------------------------------------- */

static int wait_for_event(void *event)
{
	return sennit_event_wait(event);
}

/* The opener waits with a deadline again and again until all members have
 * ended. */
static bool all_end(sennit_group *g)
{
	return !sennit_group_wait_until(g, sennit_after(GIVE_UP));
}

TEST_IN_EACH_PLACE_OF(the_opener_may_spawn_between_its_waits)
{
	sennit_event go = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	sennit_group g;
	uint32_t     round;

	open_on(world, &g, 0);
	EXPECT(sennit_group_members(&g) == 0);
	for (round = 1; round <= 5; round++) {
		must_spawn(&g, wait_for_event, &go);
		EXPECT(sennit_group_members(&g) == round);
		EXPECT(sennit_group_wait_until(
			       &g, sennit_after(SENNIT_MILLISECOND)) ==
		       -ETIMEDOUT);
		EXPECT(sennit_group_members(&g) == round);
	}
	sennit_event_set(&go);
	EXPECT(all_end(&g));
	must_spawn(&g, end_at_once, NULL);
	EXPECT(all_end(&g));
	must_spawn(&g, end_at_once, NULL);
	EXPECT(sennit_group_wait(&g) == 0);
}

TEST_IN_EACH_PLACE_OF(a_drain_does_not_cancel_members_that_end_in_time)
{
	sennit_group g;

	open_on(world, &g, 0);
	for (int i = 0; i < 20; i++)
		must_spawn(&g, end_at_once, NULL);
	EXPECT(sennit_group_drain(&g, sennit_after(GIVE_UP)) == 0);
}

/* --- arguments ---------------------------------------------------------- */

TEST_IN_EACH_PLACE_OF(a_member_without_function_is_refused)
{
	sennit_group g;

	open_on(world, &g, 0);
	EXPECT(sennit_group_spawn(&g, NULL, NULL) == -EINVAL);
	EXPECT(sennit_group_spawn_copy(&g, NULL, "x", 1) == -EINVAL);
	EXPECT(sennit_group_wait(&g) == 0);
}

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

TEST_IN_EACH_PLACE_OF(members_get_copies_of_any_size)
{
	atomic_uint   read = 0;
	struct letter l = { .read = &read };
	atomic_uint  *note = &read;
	sennit_group  g;

	for (size_t i = 0; i < sizeof(l.text); i++)
		l.text[i] = (unsigned char)(i * 7);
	open_on(world, &g, 0);
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
