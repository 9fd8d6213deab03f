/* SPDX-License-Identifier: Apache-2.0 */
/* inbox.c - order and emptiness, on one thread. */
#include "queue/inbox.h"

#include "testing/test.h"

/* Links n[from..to], the highest index newest, and pushes the chain. */
static bool push_chain(struct inbox *in, struct node n[], int from, int to)
{
	for (int i = to; i > from; i--)
		n[i].next = &n[i - 1];
	return sn_inbox_push(in, &n[to], &n[from]);
}

/* Take, and check that the nodes are n[0..count-1]. */
static void assert_takes(struct inbox *in, const struct node n[], int count)
{
	struct node       *last;
	const struct node *chain = sn_inbox_take(in, &last);

	for (int i = 0; i < count; i++, chain = chain->next)
		assert_ptr_equal(chain, &n[i]);
	assert_null(chain);
	assert_ptr_equal(last, &n[count - 1]);
}

TEST(nothing_is_taken_from_an_empty_inbox)
{
	struct inbox in = { { NULL } };
	struct node *last;

	assert_true(sn_inbox_is_empty(&in));
	assert_null(sn_inbox_take(&in, &last));
}

TEST(push_tells_whether_it_was_the_first)
{
	struct inbox in = { { NULL } };
	struct node  n[3];
	struct node *last;

	assert_true(sn_inbox_push(&in, &n[0], &n[0]));
	assert_false(sn_inbox_is_empty(&in));
	assert_false(sn_inbox_push(&in, &n[1], &n[1]));
	assert_non_null(sn_inbox_take(&in, &last));
	assert_true(sn_inbox_is_empty(&in));
	assert_true(sn_inbox_push(&in, &n[2], &n[2]));
}

TEST(single_nodes_come_out_in_the_order_they_went_in)
{
	struct inbox in = { { NULL } };
	struct node  n[5];

	for (int i = 0; i < 5; i++)
		sn_inbox_push(&in, &n[i], &n[i]);
	assert_takes(&in, n, 5);
}

TEST(chains_keep_their_order_and_that_of_their_pushes)
{
	struct inbox in = { { NULL } };
	struct node  n[9];

	assert_true(push_chain(&in, n, 0, 3));
	assert_false(push_chain(&in, n, 4, 4));
	assert_false(push_chain(&in, n, 5, 8));
	assert_takes(&in, n, 9);
}

TEST(a_taken_node_may_come_again)
{
	struct inbox in = { { NULL } };
	struct node  n[2];

	for (int round = 0; round < 3; round++) {
		push_chain(&in, n, 0, 1);
		assert_takes(&in, n, 2);
	}
}
