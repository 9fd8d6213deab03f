/* SPDX-License-Identifier: Apache-2.0 */
/* group_trees.c - random trees of groups with random errors, cancels and
 * deadlines: accepted members have ended when the wait returns. */
#include "testing/crowd.h"
#include "testing/random.h"

#include <errno.h>

enum { DEPTH = 6 };

static atomic_ulong accepted, ended, refused;
static atomic_uint  streams;

/* A group as its members see it, in its opener's frame. */
struct circle {
	sennit_group   g;
	struct circle *outer;
	atomic_uint    in, out;
};

struct node {
	struct circle *circle;
	unsigned       depth;
};

static int live(void *argument);

static void add(struct circle *c, unsigned depth)
{
	const struct node n = { c, depth };
	int               err;

	atomic_fetch_add(&c->in, 1);
	err = sennit_group_spawn_copy(&c->g, live, &n, sizeof(n));
	if (!err) {
		atomic_fetch_add(&accepted, 1);
		return;
	}
	atomic_fetch_sub(&c->in, 1);
	atomic_fetch_add(&refused, 1);
	EXPECT(err == -ECANCELED);
}

static int nap(uint64_t *random)
{
	return sennit_sleep_until(
		sennit_after(random_below(random, 100) * SENNIT_MICROSECOND));
}

static int wait_in_vain(uint64_t *random)
{
	sennit_event   never = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
	const uint32_t span = random_below(random, 200);
	int            err = sennit_event_wait_until(
			   &never, sennit_after(span * SENNIT_MICROSECOND));

	EXPECT(err == -ETIMEDOUT || err == -ECANCELED);
	return 0;
}

/* Open an inner circle, fill it, and wait for its end. */
static int open_circle(struct circle *outer, unsigned depth, uint64_t *random)
{
	struct circle  c = { .outer = outer };
	const uint32_t kind = random_below(random, 8);
	unsigned       n = random_below(random, 5);
	int            err;

	sennit_group_init(&c.g,
			  kind == 0 ? sennit_after(random_below(random, 500) *
						   SENNIT_MICROSECOND)
				    : SENNIT_NEVER,
			  (kind & 1 ? SENNIT_GROUP_KEEP_GOING : 0) |
				  (kind == 6 ? SENNIT_GROUP_OWN_STACKS : 0));
	while (n--)
		add(&c, depth - 1);
	if (kind == 2)
		sennit_group_cancel(&c.g);
	err = sennit_group_wait(&c.g);
	EXPECT(atomic_load(&c.in) == atomic_load(&c.out));
	memset(&c, 0x5a, sizeof(c));
	return err;
}

static int act(const struct node *n, uint64_t *random)
{
	switch (random_below(random, 16)) {
	case 0:
		return nap(random);
	case 1:
		return wait_in_vain(random);
	case 2:
		sennit_yield();
		return 0;
	case 3:
		return random_below(random, 4) ? 0 : -EIO;
	case 4:
		if (!random_below(random, 4))
			sennit_group_cancel(&n->circle->g);
		return sennit_check_cancelled();
	case 5:
		if (n->circle->outer && n->depth)
			add(n->circle->outer, n->depth - 1);
		return 0;
	case 6:
	case 7:
		if (n->depth)
			add(n->circle, n->depth - 1);
		return 0;
	default:
		return n->depth ? open_circle(n->circle, n->depth, random) : 0;
	}
}

static int live(void *argument)
{
	const struct node n = *(struct node *)argument;
	uint64_t          random = random_stream(atomic_fetch_add(&streams, 1));
	int               err = act(&n, &random);

	atomic_fetch_add(&ended, 1);
	atomic_fetch_add(&n.circle->out, 1);
	return err;
}

static void plant(struct world *w, uint64_t *random)
{
	struct circle c = { .outer = NULL };
	unsigned      n = 1 + random_below(random, 20);

	sennit_group_init_on(&c.g, w->s,
			     random_below(random, 4)
				     ? SENNIT_NEVER
				     : sennit_after(random_below(random, 2000) *
						    SENNIT_MICROSECOND),
			     random_below(random, 2) * SENNIT_GROUP_KEEP_GOING);
	while (n--)
		add(&c, DEPTH);
	sennit_group_wait(&c.g);
	EXPECT(atomic_load(&c.in) == atomic_load(&c.out));
}

struct gardener {
	struct world *w;
	unsigned      rounds;
};

static void garden(void *argument)
{
	struct gardener *gardener = argument;
	uint64_t         random = random_stream(atomic_fetch_add(&streams, 1));

	for (unsigned i = 0; i < gardener->rounds; i++)
		plant(gardener->w, &random);
}

TEST_WITH_WORKERS(what_was_accepted_has_ended)
{
	struct gardener gardener = { .w = w,
				     .rounds = (unsigned)scaled(LOAD(1000)) };
	struct crowd    c = { .run = garden,
			      .argument = &gardener,
			      .tasks = 2,
			      .unbound = w->threads > 0 };

	atomic_store(&accepted, 0);
	atomic_store(&ended, 0);
	gather(&c);
	garden(&gardener);
	disperse(&c);
	assert_true(atomic_load(&accepted) > 0);
	assert_int_equal(atomic_load(&accepted), atomic_load(&ended));
}
