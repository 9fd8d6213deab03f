/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - a seed determines the run: the same seed gives the same run,
 * another seed gives another run. */
#include "explore.h"
#include "sennit/deterministic.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { TASKS = 6, STEPS = 4, SEEDS = 200 };

struct diary {
	uint64_t          digest; /* hash of which thread did what, in which
				   * order */
	sennit_mutex      lock;
	sennit_wait_group done;
};

static struct diary diary;

static void note(uint64_t what)
{
	sennit_mutex_lock(&diary.lock);
	diary.digest = (diary.digest ^ what) * UINT64_C(0x100000001b3);
	sennit_mutex_unlock(&diary.lock);
}

static void live(void *argument)
{
	const uint64_t me = (uintptr_t)argument;

	for (uint64_t i = 0; i < STEPS; i++) {
		note(me << 32 | i << 16 |
		     sennit_fiber_number(sennit_fiber_current()));
		if ((me + i) % 3)
			sennit_yield();
		else
			sennit_sleep(me * SENNIT_MICROSECOND);
	}
	sennit_wait_group_done(&diary.done);
}

static void scenario(void *digest)
{
	sennit_scheduler *s = begin_with(SENNIT_CONFIG(.workers = 3));

	diary = (struct diary){ .digest = 1 };
	sennit_wait_group_init(&diary.done, TASKS);
	for (uintptr_t i = 0; i < TASKS; i++)
		spawn(live, (void *)i);
	sennit_wait_group_wait(&diary.done);
	note(sennit_now());
	end(s);
	note(sn_deterministic_passed());
	*(uint64_t *)digest = diary.digest;
}

static uint64_t digest_of(uint64_t seed)
{
	uint64_t digest = 0;

	assert_int_equal(sennit_explore(seed, 1, scenario, &digest), 0);
	return digest;
}

TEST(a_seed_gives_the_same_run_again)
{
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		const uint64_t once = digest_of(seed);

		(void)digest_of(seed + 7919); /* another run in between */
		assert_int_equal(digest_of(seed), once);
	}
}

TEST(another_seed_gives_another_run)
{
	uint64_t digests[SEEDS];
	unsigned same = 0;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		digests[seed] = digest_of(seed);
		for (uint64_t i = 0; i < seed; i++)
			same += digests[i] == digests[seed];
	}
	assert_int_equal(same, 0);
}

TEST(time_passes_only_by_waiting)
{
	sennit_time before;

	sn_deterministic_begin(1);
	before = sennit_now();
	sennit_sleep(1000 * SENNIT_SECOND);
	assert_in_range(sennit_now() - before, 1000 * SENNIT_SECOND,
			1001 * SENNIT_SECOND);
}

static pthread_t   slow;
static atomic_bool noted;

static void note_thread(void *unused, uint32_t index)
{
	if (index)
		return;
	slow = pthread_self();
	atomic_store(&noted, true);
}

/* Sleep longer than the other threads wait for a thread that has the turn and
 * does not call the library. */
static void doze(int number)
{
	const struct timespec long_enough = { .tv_sec = 1,
					      .tv_nsec = 500000000 };

	nanosleep(&long_enough, NULL);
}

/* On a busy machine a thread may wake long after it was given the turn. The
 * library once took it for absent and never gave it the turn again. */
TEST(who_is_slow_to_take_its_turn_is_waited_for)
{
	sennit_scheduler *s;

	alarm(300);
	signal(SIGUSR1, doze);
	sn_deterministic_begin(1);
	s = begin_with(SENNIT_CONFIG(.workers = 1, .thread_init = note_thread));
	diary = (struct diary){ .digest = 1 };
	sennit_wait_group_init(&diary.done, TASKS);
	while (!atomic_load(&noted))
		sn_deterministic_point();
	assert_int_equal(pthread_kill(slow, SIGUSR1), 0);
	for (uintptr_t i = 0; i < TASKS; i++)
		spawn(live, (void *)i);
	/* Always runnable instead of waiting. */
	while (sennit_wait_group_wait_until(&diary.done, 0))
		sn_deterministic_point();
	end(s);
	alarm(0);
}
