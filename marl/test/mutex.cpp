/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include "marl/event.h"
#include "marl/mutex.h"
#include "marl/waitgroup.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace
{

class MutexOn : public World
{
public:
	marl::mutex mutex;
};
ON_WORKERS(MutexOn);

using MutexAlone = Alone;

static marl::mutex global; /* needs no constructor at run time */

TEST_P(MutexOn, lets_one_in)
{
	int             count = 0;
	marl::WaitGroup left(load(1000u));

	for (int i = 0; i < load(1000); ++i)
		marl::schedule([&, left] {
			{
				marl::lock lock(mutex);
				int        was = count;

				sennit_yield();
				count = was + 1;
			}
			left.done();
		});
	left.wait();
	EXPECT_EQ(count, load(1000));
}

TEST_P(MutexOn, sets_aside_who_waits_instead_of_the_thread)
{
	marl::Event     held, go;
	marl::WaitGroup left(11);

	marl::schedule([&, left] {
		{
			marl::lock lock(mutex);

			held.signal();
			go.wait(); /* while ten others wait for the lock */
		}
		left.done();
	});
	held.wait();
	for (int i = 0; i < 10; ++i)
		marl::schedule([&, left] {
			{
				marl::lock lock(mutex);
			}
			left.done();
		});
	marl::schedule([=] { go.signal(); });
	left.wait();
}

TEST_P(MutexOn, is_tried_without_waiting)
{
	mutex.lock();
	std::thread([this] {
		bool got = mutex.try_lock();

		EXPECT_FALSE(got);
		if (got)
			mutex.unlock();
	}).join();
	mutex.unlock();

	bool got = mutex.try_lock();

	EXPECT_TRUE(got);
	if (got)
		mutex.unlock();
}

TEST_F(MutexAlone, works_with_the_locks_of_the_standard_library)
{
	{
		std::lock_guard<marl::mutex> lock(global);
	}
	std::unique_lock<marl::mutex> lock(global, std::try_to_lock);

	EXPECT_TRUE(lock.owns_lock());
}

TEST_F(MutexAlone, is_locked_and_unlocked_within_its_scope)
{
	marl::lock lock(global);

	EXPECT_TRUE(lock.owns_lock());
	lock.unlock_no_tsa();
	EXPECT_FALSE(lock.owns_lock());
	lock.lock_no_tsa();
	EXPECT_TRUE(lock.owns_lock());
}

/* --- with a std::condition_variable --------------------------------------- */

TEST_F(MutexAlone, loses_no_wake_up_of_a_condition_variable_of_threads)
{
	std::condition_variable changed;
	int                     turn = 0;

	auto play = [&](int me) {
		for (int i = 0; i < load(2000); ++i) {
			marl::lock lock(global);

			lock.wait(changed, [&] { return turn % 2 == me; });
			turn++;
			/* With the lock held, and at most one waiter. */
			changed.notify_one();
		}
	};
	std::thread other(play, 1);

	play(0);
	other.join();
	EXPECT_EQ(turn, 2 * load(2000));
}

/* Excluded from the thread-safety analysis, which cannot follow a predicate
 * into its own function. */
static void play_bare(std::condition_variable &changed, int &turn,
		      int me) NO_THREAD_SAFETY_ANALYSIS
{
	for (int i = 0; i < load(2000); ++i) {
		global.lock();
		global.wait_locked(changed, [&] { return turn % 2 == me; });
		turn++;
		global.unlock();
		changed.notify_one();
	}
}

TEST_F(MutexAlone, loses_no_wake_up_that_comes_after_the_unlock)
{
	std::condition_variable changed;
	int                     turn = 0;
	std::thread             other([&] { play_bare(changed, turn, 1); });

	play_bare(changed, turn, 0);
	other.join();
	EXPECT_EQ(turn, 2 * load(2000));
}

TEST_F(MutexAlone, gives_up_on_a_condition_variable_of_threads)
{
	std::condition_variable changed;
	marl::lock              lock(global);

	auto soon = [] {
		return std::chrono::system_clock::now() +
		       std::chrono::milliseconds(2);
	};
	int looks = 0;

	EXPECT_FALSE(lock.wait_until(changed, soon(), [] { return false; }));
	EXPECT_TRUE(
		lock.wait_until(changed, soon(), [&] { return ++looks > 1; }));
	EXPECT_TRUE(lock.owns_lock());
}

/* A waiter holds the bridge until it sleeps. Here this thread holds it instead,
 * so another thread must not get the lock. */
TEST_F(MutexAlone, nobody_locks_before_a_waiter_sleeps)
{
	marl::mutex             mutex;
	std::condition_variable changed;
	std::atomic<bool>       waits{ false }, ready{ false }, in{ false };

	std::thread waiter([&] {
		marl::lock lock(mutex);

		waits = true;
		lock.wait(changed, [&] { return ready.load(); });
	});

	while (!waits)
		std::this_thread::yield();
	{
		marl::lock lock(mutex); /* it has passed the bridge */
	}
	marl::detail::bridge().lock();

	std::thread other([&] {
		marl::lock lock(mutex);

		in = true;
	});

	for (int i = 0; i < 1000 && !in; ++i)
		std::this_thread::yield();
	EXPECT_FALSE(in);
	marl::detail::bridge().unlock();
	other.join();
	{
		marl::lock lock(mutex);

		ready = true;
		changed.notify_one();
	}
	waiter.join();
}

TEST_P(MutexOn, wakes_threads_that_wait_by_fibers_that_do_not)
{
	std::condition_variable changed;
	bool                    ready = false;

	std::thread thread([&] {
		marl::lock lock(mutex);

		lock.wait(changed, [&] { return ready; });
	});

	marl::WaitGroup left(1);

	marl::schedule([&, left] {
		{
			marl::lock lock(mutex);

			ready = true;
		}
		changed.notify_one();
		left.done();
	});
	left.wait();
	thread.join();
}

using MutexDeathTest = Alone;

static void unlock(marl::mutex &m) NO_THREAD_SAFETY_ANALYSIS
{
	m.unlock();
}

TEST_F(MutexDeathTest, is_not_unlocked_by_a_stranger)
{
	marl::mutex mutex;

	EXPECT_DEATH(unlock(mutex), "misuse of sennit_mutex_unlock");
}

} // namespace
