/* SPDX-License-Identifier: Apache-2.0 */
/* groups_end_vs_cancels.c - groups inside groups open, end, are cancelled and
 * get earlier deadlines, on several threads, while those around them do. A wait
 * ends only for a group around it, and each wait does when such a group says
 * so. */
#include "testing/with_workers.h"
#include "testing/random.h"
#include "deadlines.h"

#include <errno.h>

enum { DEPTH = 4, BRANCHES = 3, BYSTANDERS = 20 };

struct forest {
	sennit_event never;
	atomic_uint  streams;
	atomic_uint  waits; /* that have ended */
};

struct tree {
	struct forest *forest;
	struct tree   *outer;
	sennit_group  *g;
	atomic_uint ends; /* not 0 before it is cancelled or has a deadline */
	unsigned    depth;
};

static bool ends_around(const struct tree *t)
{
	for (; t; t = t->outer)
		if (atomic_load(&t->ends))
			return true;
	return false;
}

static int wait_in_vain(void *argument)
{
	struct tree *t = argument;
	int          err = sennit_event_wait(&t->forest->never);

	EXPECT(err == -ECANCELED || err == -ETIMEDOUT);
	EXPECT(ends_around(t));
	atomic_fetch_add(&t->forest->waits, 1);
	return 0;
}

/* Cancel the group of t or one around it, or give it a deadline. That ends the
 * waits of t in any case. */
static void end_some(struct tree *t, uint64_t *random)
{
	while (t->outer && !random_below(random, 3))
		t = t->outer;
	atomic_fetch_add(&t->ends, 1);
	if (random_below(random, 3))
		sennit_group_cancel(t->g);
	else
		sennit_group_set_deadline(t->g, soon(random));
}

static int grow(void *argument);

static int hold_tree(struct tree *t, uint64_t *random)
{
	sennit_group g;
	int          err = 0;

	t->g = &g;
	sennit_group_init(&g, SENNIT_NEVER,
			  random_below(random, 2) ? SENNIT_GROUP_KEEP_GOING
						  : 0);
	for (unsigned i = 0; i < BRANCHES && !err; i++)
		err = sennit_group_spawn(
			&g, random_below(random, 2) ? grow : wait_in_vain, t);
	for (unsigned i = random_below(random, 12); i; i--)
		let_others_run();
	end_some(t, random);
	(void)sennit_group_wait(&g);
	memset(&g, 0xa5, sizeof(g));
	return 0;
}

static int grow(void *argument)
{
	struct tree *outer = argument;
	struct tree  t = { .forest = outer->forest, .outer = outer };
	uint64_t     random =
		random_stream(atomic_fetch_add(&outer->forest->streams, 1));

	t.depth = outer->depth + 1;
	return t.depth == DEPTH ? wait_in_vain(outer) : hold_tree(&t, &random);
}

/* Beside waits of the same tree that only the last cancel ends. */
static void hold_forest(struct world *w, struct forest *f)
{
	struct tree  root = { .forest = f };
	sennit_group g;

	root.g = &g;
	sennit_group_init_on(&g, w->s, SENNIT_NEVER, SENNIT_GROUP_KEEP_GOING);
	atomic_store(&f->waits, 0);
	for (unsigned i = 0; i < BYSTANDERS; i++)
		EXPECT(!sennit_group_spawn(&g, wait_in_vain, &root));
	for (unsigned i = 0; i < BRANCHES; i++)
		(void)!sennit_group_spawn(&g, grow, &root);
	while (sennit_group_members(&g) > BYSTANDERS &&
	       !atomic_load(&root.ends))
		let_others_run();
	atomic_fetch_add(&root.ends, 1);
	sennit_group_cancel(&g);
	EXPECT(sennit_group_wait(&g) == -ECANCELED);
	EXPECT(atomic_load(&f->waits) >= BYSTANDERS);
}

static void hold_forests(void *argument)
{
	struct forest f = { .never = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL) };

	for (unsigned i = 0; i < scaled(LOAD(200)); i++)
		hold_forest(argument, &f);
}

TEST_WITH_WORKERS(a_wait_ends_for_a_group_around_it_only)
{
	hold_forests(w);
}

TEST_WITH_WORKERS(also_with_an_opener_in_a_task)
{
	in_a_task(hold_forests, w);
}
