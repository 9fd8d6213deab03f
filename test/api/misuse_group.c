/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_group.c - misuse of groups. */
#include "members.h"
#include "misuse.h"

static int do_nothing(void *argument)
{
	(void)argument;
	return 0;
}

static void commit_open_unbound(const struct offence *o)
{
	sennit_group g;

	(void)o;
	sennit_unbind();
	sennit_group_init(&g, SENNIT_NEVER, 0);
}

TEST_WITH_COUNTS(opening_a_group_with_no_scheduler_bound)
{
	assert_misuse(w, "sennit_group_init", commit_open_unbound);
}

static void commit_unknown_flags(const struct offence *o)
{
	sennit_group g;

	(void)o;
	sennit_group_init(&g, SENNIT_NEVER, 64);
}

TEST_WITH_COUNTS(opening_a_group_with_unknown_flags)
{
	assert_misuse(w, "sennit_group_init", commit_unknown_flags);
}

static void commit_unknown_flags_on(const struct offence *o)
{
	sennit_group g;

	sennit_group_init_on(&g, o->s, SENNIT_NEVER, 64);
}

TEST_WITH_COUNTS(opening_a_group_on_a_scheduler_with_unknown_flags)
{
	assert_misuse(w, "sennit_group_init_on", commit_unknown_flags_on);
}

static void spawn_unbound(void *argument)
{
	sennit_group g;

	sennit_group_init_on(&g, argument, SENNIT_NEVER, 0);
	must_spawn(&g, do_nothing, NULL);
}

static void commit_spawn_unbound(const struct offence *o)
{
	in_a_thread(spawn_unbound, o->s);
}

TEST_IN_WORLDS(spawning_unbound_where_nobody_works,
	       IN_WORLD(spawning_unbound_where_nobody_works, "_w0", open_count,
			close_count, 0))
{
	assert_misuse(w, "sennit_group_spawn", commit_spawn_unbound);
}

static int return_one(void *argument)
{
	(void)argument;
	return 1;
}

static void commit_positive_error(const struct offence *o)
{
	sennit_group g;

	(void)o;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	must_spawn(&g, return_one, NULL);
	sennit_group_wait(&g);
}

TEST_WITH_COUNTS(returning_a_positive_number)
{
	assert_misuse(w, "sennit_group_spawn", commit_positive_error);
}

static void wait_for_it(void *argument)
{
	sennit_group_wait(argument);
}

static void commit_wait_elsewhere(const struct offence *o)
{
	sennit_group g;

	(void)o;
	sennit_group_init(&g, SENNIT_NEVER, 0);
	in_a_thread(wait_for_it, &g);
}

TEST_WITH_COUNTS(waiting_for_what_another_thread_has_opened)
{
	assert_misuse(w, "sennit_group_wait", commit_wait_elsewhere);
}

static int unlock_it(void *argument)
{
	sennit_mutex_unlock(argument);
	return 0;
}

static void unlock_as_member(void *argument)
{
	sennit_mutex m = SENNIT_MUTEX_INIT;
	sennit_group g;

	(void)argument;
	sennit_mutex_lock(&m);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	must_spawn(&g, unlock_it, &m);
	sennit_group_wait(&g);
}

static void commit_unlock_the_openers(const struct offence *o)
{
	(void)o;
	in_a_task(unlock_as_member, NULL);
}

TEST_WITH_COUNTS(unlocking_what_the_opener_holds)
{
	assert_misuse(w, "sennit_mutex_unlock", commit_unlock_the_openers);
}
