/* SPDX-License-Identifier: Apache-2.0 */
/* inbox.c - two threads push nodes and one takes them. Each node must come
 * once, a chain in its order, with the data that its producer wrote. One of the
 * producers must find the inbox empty.
 *
 * Detected in every order: a push that stores instead of compare-and-set.
 * Detected only by a checker: a push that does not release, or a take that does
 * not acquire (inbox.push). */
#include "litmus.h"

#include "queue/inbox.h"

enum { NODES = 3 };

struct item {
	struct node node;
	uint32_t    number; /* plain: published by the inbox */
};

static struct inbox inbox;
static struct item  items[NODES];
static uint32_t     seen[NODES]; /* owner; main after the round */
static uint32_t     last;
static bool         was_empty[2];

static void take(void)
{
	struct node *tail;
	struct node *n = sn_inbox_take(&inbox, &tail);

	for (; n; n = n->next) {
		uint32_t i = container_of(n, struct item, node)->number - 1;

		assert(i < NODES);
		assert(!seen[i]);
		assert(i != 2 || seen[1]); /* the chain, oldest first */
		assert(n->next || n == tail);
		seen[i] = ++last;
	}
}

static void before(void)
{
	a_init(&inbox.head, NULL);
	last = 0;
	for (uint32_t i = 0; i < NODES; i++) {
		items[i].number = 0;
		seen[i] = 0;
	}
}

static void *lone(void *unused)
{
	items[0].number = 1;
	was_empty[0] = sn_inbox_push(&inbox, &items[0].node, &items[0].node);
	return unused;
}

static void *chain(void *unused)
{
	items[1].number = 2;
	items[2].number = 3;
	items[2].node.next = &items[1].node;
	was_empty[1] = sn_inbox_push(&inbox, &items[2].node, &items[1].node);
	return unused;
}

static void *owner(void *unused)
{
	take();
	return unused;
}

static void after(void)
{
	take();
	assert(last == NODES);
	assert(was_empty[0] || was_empty[1]);
}

LITMUS_MAIN_3(before, lone, chain, owner, after)
