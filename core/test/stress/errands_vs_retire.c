/* SPDX-License-Identifier: Apache-2.0 */
/* errands_vs_retire.c - members are sent to certain workers while those retire,
 * are removed and come back, and the scheduler ends when the last reference is
 * released: all that were sent run once, and it ends. */
#include "testing/with_workers.h"
#include "testing/random.h"

#include <errno.h>
#include <unistd.h>

enum { MOST = 4, ROUNDS = 60, SENT = 20 };

struct life {
	sennit_scheduler *s;
	atomic_uint       ran;
	atomic_bool       over;
	uint64_t          random;
};

static int run_one(void *argument)
{
	struct life *l = *(struct life **)argument;

	atomic_fetch_add(&l->ran, 1);
	sennit_yield();
	return 0;
}

static void *change_workers(void *argument)
{
	struct life *l = argument;

	while (!atomic_load(&l->over)) {
		EXPECT(!sennit_scheduler_set_workers(
			l->s, 1 + random_below(&l->random, MOST)));
		usleep((useconds_t)random_below(&l->random, 300));
	}
	return NULL;
}

static void live(uint64_t *random)
{
	struct life  l = { .random = *random ^ 1 }, *at = &l;
	sennit_group g;
	pthread_t    t;
	unsigned     sent = 0;

	assert_int_equal(
		sennit_scheduler_create(
			&l.s,
			SENNIT_CONFIG(.workers = MOST, .retire_ms = 1,
				      .start = 1 + random_below(random, 2))),
		0);
	t = must_start_thread(change_workers, &l);
	sennit_group_init_on(&g, l.s, SENNIT_NEVER, 0);
	for (int i = 0; i < SENT; i++) {
		int err = sennit_group_spawn_task(
			&g, SENNIT_MEMBER(.run = run_one, .argument = &at,
					  .copy_size = sizeof(at),
					  .flags = SENNIT_MEMBER_ON_WORKER,
					  .worker = (uint32_t)random_below(
						  random, MOST)));

		EXPECT(!err || err == -ENOENT);
		sent += !err;
		usleep((useconds_t)random_below(random, 1500));
	}
	atomic_store(&l.over, true);
	pthread_join(t, NULL);
	assert_int_equal(sennit_group_wait(&g), 0);
	assert_int_equal(atomic_load(&l.ran), sent);
	assert_int_equal(sennit_scheduler_shutdown(l.s, SENNIT_NEVER), 0);
}

TEST_ALONE(what_is_sent_to_a_worker_runs_there)
{
	uint64_t random = random_stream(1);

	for (int i = 0; i < ROUNDS; i++)
		live(&random);
}
