/* SPDX-License-Identifier: Apache-2.0 */
/* local_groups.c - local values and names of members that run on the stack of
 * their waiting opener: each task has its own, and the opener's are intact
 * afterwards. */
#include "local_values.h"

static int set_and_name(void *argument)
{
	struct local_case *w = argument;

	EXPECT(!sennit_local_get(w->key));
	must_set(w->key, w);
	sennit_task_set_name("member");
	EXPECT(sennit_local_get(w->key) == w);
	return 0;
}

static void open_with_values(void *argument)
{
	struct local_case *w = argument;
	sennit_group       g;

	must_set(w->key, &w->other);
	sennit_task_set_name("opener");
	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (unsigned i = 0; i < 10; i++)
		EXPECT(sennit_group_spawn(&g, set_and_name, w) == 0);
	EXPECT(sennit_group_wait(&g) == 0);
	EXPECT(sennit_local_get(w->key) == &w->other);
	EXPECT(atomic_load(&w->ended) == 10);
	must_set(w->key, NULL);
}

static void open_without(void *argument)
{
	struct local_case *w = argument;
	sennit_group       g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	for (unsigned i = 0; i < 10; i++)
		EXPECT(sennit_group_spawn(&g, set_and_name, w) == 0);
	EXPECT(sennit_group_wait(&g) == 0);
	EXPECT(!sennit_local_get(w->key));
	EXPECT(atomic_load(&w->ended) == 10);
}

/* Run it in a task, and on the bound thread's own stack. */
static void in_both(sennit_task_fn *open)
{
	struct local_case w = { .ended = 0 };

	w.key = must_create(count_up);
	in_a_task(open, &w);
	atomic_store(&w.ended, 0);
	open(&w);
	sennit_local_key_destroy(w.key);
}

TEST_WITH_WORKERS(a_member_finds_none_of_the_openers_values)
{
	in_both(open_with_values);
}

TEST_WITH_WORKERS(a_members_values_end_with_it)
{
	in_both(open_without);
}
