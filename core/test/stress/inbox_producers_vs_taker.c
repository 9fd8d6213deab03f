/* SPDX-License-Identifier: Apache-2.0 */
/* inbox_producers_vs_taker.c - three producers push single nodes and chains,
 * one owner takes. No node is lost, each producer's order is kept, and whenever
 * the inbox fills, one producer learns that it was empty. */
#include "queue/inbox.h"
#include "os/os.h"

#include "testing/random.h"

#include <pthread.h>
#include "testing/test.h"

enum { PRODUCERS = 3, CHAIN = 6 };

struct letter {
	struct node node;
	uint32_t    producer; /* plain: published by the inbox */
	uint32_t    number;
};

struct producer {
	struct inbox  *inbox;
	struct letter *letters;
	uint32_t       count;
	uint32_t       index;
	uint32_t       firsts; /* pushes that found it empty */
	pthread_t      thread;
};

static void *produce(void *argument)
{
	struct producer *me = argument;
	uint64_t         random = random_stream(me->index + 1);

	for (uint32_t next = 0; next < me->count;) {
		uint32_t       length = 1 + random_below(&random, CHAIN);
		struct letter *oldest = &me->letters[next];
		struct node   *newest = NULL;

		for (; length && next < me->count; length--, next++) {
			struct letter *l = &me->letters[next];

			l->producer = me->index;
			l->number = next;
			l->node.next = newest;
			newest = &l->node;
		}
		me->firsts += sn_inbox_push(me->inbox, newest, &oldest->node);
		if (random_below(&random, 64) == 0)
			os_thread_yield();
	}
	return NULL;
}

TEST(nothing_is_lost_and_order_is_kept)
{
	uint32_t        count = (uint32_t)scaled(1000000);
	struct inbox    inbox = { { NULL } };
	struct producer p[PRODUCERS];
	uint32_t        next[PRODUCERS] = { 0 };
	uint32_t        wrong = 0;
	uint32_t        takes = 0;
	uint32_t        firsts = 0;
	struct node    *last;

	random_stream(0); /* chooses the seed before there are several
			   * threads */
	for (uint32_t i = 0; i < PRODUCERS; i++) {
		p[i] = (struct producer){ &inbox, NULL, count, i, 0, 0 };
		p[i].letters = test_calloc(count, sizeof(*p[i].letters));
		assert_int_equal(
			pthread_create(&p[i].thread, NULL, produce, &p[i]), 0);
	}
	for (uint32_t left = PRODUCERS * count; left;) {
		struct node *n = sn_inbox_take(&inbox, &last);

		if (!n) {
			os_thread_yield();
			continue;
		}
		takes++;
		for (; n; n = n->next, left--) {
			struct letter *l = container_of(n, struct letter, node);

			wrong += l->number != next[l->producer]++;
			wrong += !n->next && n != last;
		}
	}
	for (uint32_t i = 0; i < PRODUCERS; i++) {
		pthread_join(p[i].thread, NULL);
		firsts += p[i].firsts;
		test_free(p[i].letters);
	}
	assert_int_equal(wrong, 0);
	assert_int_equal(firsts, takes);
	assert_true(sn_inbox_is_empty(&inbox));
}
