/* SPDX-License-Identifier: Apache-2.0 */
/* group_here.c - members that stay with the worker that spawns them, with their
 * arguments, errors and cancelling as other members have.
 */
#include "testing/with_workers.h"

#include <errno.h>

enum { MEMBERS = 200 };

struct here {
	sennit_group g;
	pthread_t    thread;
	atomic_uint  ran, elsewhere;
};

struct member {
	struct here *h;
	unsigned     i;
};

static int note(void *argument)
{
	const struct member *m = argument;

	if (!pthread_equal(m->h->thread, pthread_self()))
		atomic_fetch_add(&m->h->elsewhere, 1);
	atomic_fetch_add(&m->h->ran, 1);
	if (m->i % 2)
		sennit_yield();
	return 0;
}

/* Thieves have time to come. */
static int spawn_many(void *argument)
{
	struct here *h = argument;

	h->thread = pthread_self();
	for (unsigned i = 0; i < MEMBERS; i++) {
		struct member m = { h, i };

		EXPECT(!sennit_group_spawn_task(
			&h->g,
			SENNIT_MEMBER(.run = note, .argument = &m,
				      .copy_size = sizeof(m),
				      .flags = SENNIT_MEMBER_SAME_THREAD)));
	}
	for (int i = 0; i < 1000; i++)
		sched_yield();
	return 0;
}

static void spawn_from_member(void *argument)
{
	struct here h = { .ran = 0 };

	sennit_group_init(&h.g, SENNIT_NEVER, 0);
	EXPECT(!sennit_group_spawn(&h.g, spawn_many, &h));
	EXPECT(sennit_group_wait(&h.g) == 0);
	EXPECT(atomic_load(&h.ran) == MEMBERS);
	EXPECT(atomic_load(&h.elsewhere) == 0);
}

TEST_WITH_WORKERS(members_stay_where_they_are_spawned)
{
	spawn_from_member(NULL);
	in_a_task(spawn_from_member, NULL);
}

static void spawn_as_opener(void *argument)
{
	struct here h = { .ran = 0 };

	sennit_group_init(&h.g, SENNIT_NEVER, 0);
	(void)spawn_many(&h);
	EXPECT(sennit_group_wait(&h.g) == 0);
	EXPECT(atomic_load(&h.ran) == MEMBERS);
	EXPECT(atomic_load(&h.elsewhere) == 0);
}

TEST_WITH_WORKERS(an_opener_runs_them_while_it_waits)
{
	spawn_as_opener(NULL);
	in_a_task(spawn_as_opener, NULL);
}

static int end_in_error(void *argument)
{
	return -EIO;
}

static int wait_long(void *argument)
{
	return sennit_sleep_until(sennit_after(GIVE_UP));
}

TEST_WITH_WORKERS(errors_cancel_the_others)
{
	sennit_group g;

	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(
		sennit_group_spawn_task(
			&g, SENNIT_MEMBER(.run = wait_long,
					  .flags = SENNIT_MEMBER_SAME_THREAD)),
		0);
	assert_int_equal(
		sennit_group_spawn_task(
			&g, SENNIT_MEMBER(.run = end_in_error,
					  .flags = SENNIT_MEMBER_SAME_THREAD)),
		0);
	assert_int_equal(sennit_group_wait(&g), -EIO);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	sennit_group_cancel(&g);
	assert_int_equal(
		sennit_group_spawn_task(
			&g, SENNIT_MEMBER(.run = end_in_error,
					  .flags = SENNIT_MEMBER_SAME_THREAD)),
		-ECANCELED);
	assert_int_equal(
		sennit_group_spawn_task(
			&g, SENNIT_MEMBER(.run = NULL,
					  .flags = SENNIT_MEMBER_SAME_THREAD)),
		-ECANCELED);
	assert_int_equal(sennit_group_wait(&g), -ECANCELED);
	sennit_group_init(&g, SENNIT_NEVER, 0);
	assert_int_equal(
		sennit_group_spawn_task(
			&g, SENNIT_MEMBER(.run = NULL,
					  .flags = SENNIT_MEMBER_SAME_THREAD)),
		-EINVAL);
	assert_int_equal(sennit_group_wait(&g), 0);
}
