/* SPDX-License-Identifier: Apache-2.0 */
/* misuse_ended.c - calls on objects that have ended, and a second end. Each is
 * reported as misuse, or is allowed and returns what its header says.
 *
 * Other files have the objects that are not ended, or too early:
 * misuse_group_end.c, misuse_left_locked.c and the misuse_*.c of each object.
 * Calls on memory that the library has freed at the end are not detected.
 */
#include "testing/misuse.h"
#include "sennit/dag.h"
#include "sennit/domain.h"
#include "sennit/end.h"
#include "sennit/local.h"

#include <errno.h>

/* --- misuse --------------------------------------------------------------- */

/* A scheduler or domain that has ended, whose memory a weak handle keeps. */
static sennit_scheduler *ended_scheduler(const struct offence *o)
{
	sennit_scheduler *s = NULL;

	if (sennit_scheduler_create(&s, SENNIT_CONFIG(.workers = o->workers)) ||
	    !sennit_scheduler_weak(s) ||
	    sennit_scheduler_shutdown(s, SENNIT_NEVER))
		_exit(4);
	return s;
}

static sennit_domain *ended_domain(const struct offence *o)
{
	sennit_domain *d = NULL;

	if (sennit_domain_create(&d, o->s, NULL, NULL) ||
	    !sennit_domain_weak(d) || sennit_domain_shutdown(d, SENNIT_NEVER))
		_exit(4);
	return d;
}

MISUSE_BY(an_ended_scheduler_is_not_retained, "sennit_scheduler_retain",
	  sennit_scheduler_retain(ended_scheduler(o)));
MISUSE_BY(an_ended_scheduler_is_not_released, "sennit_scheduler_release",
	  sennit_scheduler_release(ended_scheduler(o)));
MISUSE_BY(an_ended_scheduler_is_not_shut_down, "sennit_scheduler_shutdown",
	  (void)!sennit_scheduler_shutdown(ended_scheduler(o), 0));
MISUSE_BY(an_ended_domain_is_not_retained, "sennit_domain_retain",
	  sennit_domain_retain(ended_domain(o)));
MISUSE_BY(an_ended_domain_is_not_released, "sennit_domain_release",
	  sennit_domain_release(ended_domain(o)));
MISUSE_BY(an_ended_domain_is_not_shut_down, "sennit_domain_shutdown",
	  (void)!sennit_domain_shutdown(ended_domain(o), 0));

static sennit_channel channel;
static int            number;

static sennit_channel *ended_channel(size_t capacity)
{
	if (sennit_channel_init(&channel, capacity, sizeof(int), NULL))
		_exit(4);
	if (capacity)
		(void)!sennit_channel_send_until(&channel, &(int){ 1 }, 0);
	sennit_channel_destroy(&channel);
	return &channel;
}

static void select_from(sennit_channel *c)
{
	sennit_case receive = sennit_case_receive(c, &number);

	(void)!sennit_select(&receive, 1, NULL);
}

MISUSE_BY(an_ended_channel_is_not_destroyed, "sennit_channel_destroy",
	  sennit_channel_destroy(ended_channel(2)));
MISUSE_BY(an_ended_channel_without_room_is_not_destroyed,
	  "sennit_channel_destroy", sennit_channel_destroy(ended_channel(0)));
MISUSE_BY(an_ended_unbounded_channel_is_not_destroyed, "sennit_channel_destroy",
	  sennit_channel_destroy(ended_channel(SENNIT_CHANNEL_UNBOUNDED)));
MISUSE_BY(an_ended_channel_is_not_sent_to, "a channel",
	  (void)!sennit_channel_send_until(ended_channel(2), &number, 0));
MISUSE_BY(an_ended_channel_is_not_received_from, "a channel",
	  (void)!sennit_channel_receive(ended_channel(SENNIT_CHANNEL_UNBOUNDED),
					&number));
MISUSE_BY(an_ended_channel_is_not_selected, "a channel",
	  select_from(ended_channel(2)));

static sennit_pool pool;
static void       *lent;

static sennit_pool *ended_pool(size_t count)
{
	const sennit_pool_config c = { .size = sizeof(c),
				       .item_size = 8,
				       .count = count };

	if (sennit_pool_init(&pool, &c) || sennit_pool_borrow(&pool, &lent))
		_exit(4);
	sennit_pool_return(&pool, lent);
	sennit_pool_destroy(&pool);
	return &pool;
}

MISUSE_BY(an_ended_pool_is_not_destroyed, "sennit_pool_destroy",
	  sennit_pool_destroy(ended_pool(2)));
MISUSE_BY(an_ended_pool_is_not_borrowed_from, "sennit_pool_borrow",
	  (void)!sennit_pool_borrow(ended_pool(2), &lent));
MISUSE_BY(an_ended_unbounded_pool_is_not_borrowed_from, "sennit_pool_borrow",
	  (void)!sennit_pool_borrow(ended_pool(0), &lent));
MISUSE_BY(an_ended_pool_is_not_returned_to, "sennit_pool_return", ended_pool(2),
	  sennit_pool_return(&pool, lent));

static sennit_local_key ended_key(void)
{
	sennit_local_key key;

	if (sennit_local_key_create(&key, NULL))
		_exit(4);
	sennit_local_key_destroy(key);
	return key;
}

MISUSE_BY(a_deleted_key_is_not_deleted, "sennit_local_key_destroy",
	  sennit_local_key_destroy(ended_key()));
MISUSE_BY(a_deleted_key_is_not_set, "sennit_local_set",
	  (void)!sennit_local_set(ended_key(), o->s));

/* --- what is allowed ------------------------------------------------------ */

TEST_WITH_WORKERS(a_closed_channel_may_be_closed_and_says_so)
{
	sennit_channel c = SENNIT_CHANNEL_INIT(sizeof(int));
	int            value = 1;

	sennit_channel_close(&c);
	sennit_channel_close(&c);
	assert_int_equal(sennit_channel_send(&c, &value), -EPIPE);
	assert_int_equal(sennit_channel_receive(&c, &value), -EPIPE);
	sennit_channel_destroy(&c);
}

TEST_WITH_WORKERS(a_ticket_that_is_done_may_be_waited_for_and_taken)
{
	sennit_ticket_queue q = SENNIT_TICKET_QUEUE_INIT;
	sennit_ticket       t;

	for (int i = 0; i < 2; i++) {
		sennit_ticket_queue_take(&q, &t);
		sennit_ticket_done(&t);
		assert_true(sennit_ticket_is_due(&t));
		assert_int_equal(sennit_ticket_wait(&t), 0);
	}
	sennit_ticket_queue_destroy(&q);
	sennit_ticket_queue_destroy(&q);
}

static void must_not_run(void *unused)
{
	EXPECT(false);
}

static int must_not_be_tried(void *unused)
{
	must_not_run(unused);
	return 0;
}

static void run_once(void *runs)
{
	++*(int *)runs;
}

TEST_WITH_WORKERS(a_once_that_is_done_runs_nothing)
{
	sennit_once o = SENNIT_ONCE_INIT;
	int         runs = 0;

	sennit_once_call(&o, run_once, &runs);
	sennit_once_call(&o, must_not_run, NULL);
	assert_int_equal(
		sennit_once_attempt_until(&o, must_not_be_tried, NULL, 0), 0);
	assert_int_equal(runs, 1);
	sennit_once_destroy(&o);
	sennit_once_destroy(&o);
}

TEST_WITH_WORKERS(a_wait_group_that_is_over_counts_again)
{
	sennit_wait_group g = SENNIT_WAIT_GROUP_INIT;

	for (int i = 0; i < 2; i++) {
		sennit_wait_group_add(&g, 1);
		assert_true(sennit_wait_group_done(&g));
		sennit_wait_group_wait(&g);
	}
	sennit_wait_group_destroy(&g);
	sennit_wait_group_destroy(&g);
}

TEST_WITH_WORKERS(a_key_that_was_deleted_shows_nothing)
{
	sennit_local_key key;

	assert_int_equal(sennit_local_key_create(&key, NULL), 0);
	sennit_local_key_destroy(key);
	assert_null(sennit_local_get(key));
}

TEST_WITH_WORKERS(a_builder_that_was_destroyed_is_empty)
{
	sennit_dag_builder b = SENNIT_DAG_BUILDER_INIT;
	uint32_t           node = 7;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			sennit_dag_builder_add(&b, NULL, NULL, NULL, &node), 0);
		assert_int_equal(node, 0);
		sennit_dag_builder_destroy(&b);
		sennit_dag_builder_destroy(&b);
	}
}

TEST_WITH_WORKERS(a_future_that_is_set_refuses_another_value)
{
	sennit_future f = SENNIT_FUTURE_INIT;

	sennit_future_set(&f, w);
	assert_int_equal(sennit_future_try_set(&f, NULL), -EALREADY);
	assert_int_equal(sennit_future_wait(&f), 0);
	sennit_future_destroy(&f);
}
