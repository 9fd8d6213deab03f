/* SPDX-License-Identifier: Apache-2.0 */
/* channel_waiters.c - fibers and threads that wait at a channel: who meets
 * whom, what a close does, the order, and who may free it. */
#include "with_workers.h"

#include <errno.h>

/* --- waiters ------------------------------------------------------------ */

enum { WAITERS = 16 };

struct scene {
	sennit_channel       channel;
	sennit_time          deadline;
	sennit_wait_group    done;
	atomic_uint          next;
	atomic_uint          well, closed, late;
	uint64_t             sent;
	atomic_uint_fast64_t sum;
	atomic_uint          arrived, left;
	unsigned             order[WAITERS];
};

static void set_scene(struct scene *c, size_t capacity, unsigned waiters)
{
	memset(c, 0, sizeof(*c));
	assert_int_equal(sennit_channel_init(&c->channel, sizeof(uint64_t),
					     capacity, NULL),
			 0);
	c->deadline = SENNIT_NEVER;
	sennit_wait_group_init(&c->done, waiters);
}

static void note(struct scene *c, int err, uint64_t v)
{
	EXPECT(err == 0 || err == -EPIPE || err == -ETIMEDOUT);
	if (!err) {
		atomic_fetch_add(&c->sum, v);
		atomic_fetch_add(&c->well, 1);
	} else if (err == -EPIPE) {
		atomic_fetch_add(&c->closed, 1);
	} else {
		atomic_fetch_add(&c->late, 1);
	}
	sennit_wait_group_done(&c->done);
}

static void receive_in_scene(void *argument)
{
	struct scene *c = argument;
	uint64_t      v = 0;
	int err = sennit_channel_receive_until(&c->channel, &v, c->deadline);

	note(c, err, v);
}

static void send_in_scene(void *argument)
{
	struct scene  *c = argument;
	const uint64_t v = atomic_fetch_add(&c->next, 1);
	int err = sennit_channel_send_until(&c->channel, &v, c->deadline);

	note(c, err, v);
}

static void *receive_as_thread(void *argument)
{
	receive_in_scene(argument);
	return NULL;
}

static void *send_as_thread(void *argument)
{
	send_in_scene(argument);
	return NULL;
}

/* The bound thread's own stack, fibers and unbound threads on both sides. */
static void meet(struct scene *c)
{
	pthread_t t[4];
	unsigned  i;

	for (i = 0; i < 4; i++)
		t[i] = must_start_thread(
			i % 2 ? send_as_thread : receive_as_thread, c);
	for (i = 0; i < 100; i++)
		must_schedule(i % 2 ? send_in_scene : receive_in_scene, c);
	must_schedule(send_in_scene, c); /* 53 of each, otherwise one would wait
					  * for ever */
	receive_in_scene(c);
	sennit_wait_group_wait(&c->done);
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(atomic_load(&c->well), 106);
	assert_int_equal(atomic_load(&c->sum), 53 * 52);
}

TEST_WITH_WORKERS(senders_and_receivers_meet)
{
	const size_t capacities[] = { 0, 1, 7, SENNIT_CHANNEL_UNBOUNDED };
	struct scene c;
	unsigned     i;

	for (i = 0; i < 4; i++) {
		set_scene(&c, capacities[i], 106);
		meet(&c);
		assert_int_equal(sennit_channel_length(&c.channel), 0);
		sennit_channel_destroy(&c.channel);
	}
}

TEST_WITH_WORKERS(closing_releases_all_who_wait)
{
	struct scene c;
	pthread_t    t;
	unsigned     i, which;

	for (which = 0; which < 2; which++) {
		set_scene(&c, 0, 41);
		for (i = 0; i < 40; i++)
			must_schedule(which ? send_in_scene : receive_in_scene,
				      &c);
		t = must_start_thread(
			which ? send_as_thread : receive_as_thread, &c);
		assert_soon(fibers_of(w->s) == 40);
		sennit_channel_close(&c.channel);
		sennit_wait_group_wait(&c.done);
		pthread_join(t, NULL);
		assert_int_equal(atomic_load(&c.closed), 41);
		sennit_channel_destroy(&c.channel);
	}
}

/* The sender's value was not sent: receivers get only the buffered values. */
TEST_WITH_WORKERS(closing_sends_back_a_waiting_sender)
{
	struct scene c;
	uint64_t     v = 77;

	set_scene(&c, 1, 1);
	assert_int_equal(sennit_channel_send(&c.channel, &v), 0);
	must_schedule(send_in_scene, &c);
	assert_soon(fibers_of(w->s) == 1);
	sennit_channel_close(&c.channel);
	sennit_wait_group_wait(&c.done);
	assert_int_equal(atomic_load(&c.closed), 1);
	v = 0;
	assert_int_equal(sennit_channel_receive(&c.channel, &v), 0);
	assert_int_equal(v, 77);
	assert_int_equal(sennit_channel_receive(&c.channel, &v), -EPIPE);
	sennit_channel_destroy(&c.channel);
}

TEST_WITH_WORKERS(a_thousand_deadlines_pass)
{
	struct scene c;
	unsigned     i, which;
	uint64_t     v;

	for (which = 0; which < 2; which++) {
		set_scene(&c, 0, LOAD(500));
		c.deadline = sennit_after(3 * SENNIT_MILLISECOND);
		for (i = 0; i < LOAD(500); i++)
			must_schedule(which ? send_in_scene : receive_in_scene,
				      &c);
		sennit_wait_group_wait(&c.done);
		assert_int_equal(atomic_load(&c.late), LOAD(500));
		v = 1; /* waiters that gave up neither take nor give values */
		assert_int_equal(sennit_channel_send_until(&c.channel, &v, 0),
				 -ETIMEDOUT);
		assert_int_equal(
			sennit_channel_receive_until(&c.channel, &v, 0),
			-ETIMEDOUT);
		sennit_channel_destroy(&c.channel);
	}
}

/* --- order -------------------------------------------------------------- */

/* Same-thread tasks and the task that schedules them share a worker. So when
 * the scheduling task runs again, the new task is waiting. */
static void queue_up_to_receive(void *argument)
{
	struct scene *c = argument;
	uint64_t      mine = c->arrived++;
	uint64_t      v = 99;

	EXPECT(sennit_channel_receive(&c->channel, &v) == 0);
	EXPECT(v == mine);
	c->left++;
	sennit_wait_group_done(&c->done);
}

static void queue_up_to_send(void *argument)
{
	struct scene *c = argument;
	uint64_t      mine = c->arrived++;

	EXPECT(sennit_channel_send(&c->channel, &mine) == 0);
	c->left++;
	sennit_wait_group_done(&c->done);
}

static void form_queues(void *argument)
{
	struct scene *c = argument;
	uint64_t      i, v;

	for (i = 0; i < WAITERS; i++) {
		must_schedule_here(queue_up_to_receive, c);
		EXPECT_SOON(c->arrived == i + 1);
	}
	for (i = 0; i < WAITERS; i++)
		EXPECT(sennit_channel_send(&c->channel, &i) == 0);
	EXPECT_SOON(c->left == WAITERS);
	c->arrived = c->left = 0;
	for (i = 0; i < WAITERS; i++) {
		must_schedule_here(queue_up_to_send, c);
		EXPECT_SOON(c->arrived == i + 1);
	}
	for (i = 0; i < WAITERS; i++) {
		EXPECT(sennit_channel_receive(&c->channel, &v) == 0);
		EXPECT(v == i);
	}
	sennit_wait_group_wait(&c->done);
}

TEST_WITH_WORKERS(who_waits_longest_is_served_first)
{
	const size_t capacities[] = { 0, 1, 3 };
	struct scene c;
	unsigned     i;

	for (i = 0; i < 3; i++) {
		set_scene(&c, capacities[i], 2 * WAITERS);
		in_a_task(form_queues, &c);
		sennit_channel_destroy(&c.channel);
	}
}

/* --- memory ------------------------------------------------------------- */

static void send_three(void *argument)
{
	struct scene  *c = argument;
	const uint64_t values[] = { 1, 2, 3 };
	unsigned       i;

	for (i = 0; i < 3; i++)
		EXPECT(sennit_channel_send(&c->channel, &values[i]) == 0);
}

/* The receiver of the last value frees the channel while its sender may still
 * be inside the call. */
static void receive_three_and_free(size_t capacity)
{
	struct scene *c = calloc(1, sizeof(*c));
	uint64_t      i, v = 0;

	EXPECT(sennit_channel_init(&c->channel, sizeof(v), capacity, NULL) ==
	       0);
	must_schedule(send_three, c);
	for (i = 1; i <= 3; i++) {
		EXPECT(sennit_channel_receive(&c->channel, &v) == 0);
		EXPECT(v == i);
	}
	sennit_channel_destroy(&c->channel);
	memset(c, 0xa5, sizeof(*c));
	free(c);
}

static void receive_and_free_often(void *argument)
{
	unsigned i;

	(void)argument;
	for (i = 0; i < 100; i++) {
		receive_three_and_free(0);
		receive_three_and_free(2);
		receive_three_and_free(SENNIT_CHANNEL_UNBOUNDED);
	}
}

TEST_WITH_WORKERS(who_received_the_last_value_may_free_the_channel)
{
	receive_and_free_often(NULL);
	in_a_task(receive_and_free_often, NULL);
}
