/* SPDX-License-Identifier: Apache-2.0 */
/* locks.cpp - mutexes and condition variables work with the standard library's
 * wrappers. */
#include "world.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>

namespace
{

class locks : public world
{
};
ON_WORKERS(locks);

constexpr int rounds = 200;

/* Adds up in `parties` tasks. The sum is right only if the lock works. */
template <typename Critical> void add_up(int parties, Critical critical)
{
	sennit::wait_group done(static_cast<std::uint32_t>(parties));

	for (int p = 0; p < parties; p++)
		sennit::schedule([&] {
			for (int i = 0; i < rounds; i++)
				critical();
			done.done();
		});
	done.wait();
}

TEST_P(locks, guard_is_a_basic_lockable_user)
{
	sennit::mutex m;
	long          sum = 0;

	add_up(8, [&] {
		std::lock_guard<sennit::mutex> guard(m);
		const long                     before = sum;

		sennit::this_fiber::yield();
		sum = before + 1;
	});
	EXPECT_EQ(sum, 8 * rounds);
}

TEST_P(locks, two_at_once_do_not_deadlock)
{
	sennit::mutex    a, b;
	long             sum = 0;
	std::atomic<int> turn{ 0 };

	add_up(4, [&] {
		if (turn++ % 2) {
			std::scoped_lock both(a, b);
			++sum;
		} else {
			std::scoped_lock both(b, a);
			++sum;
		}
	});
	EXPECT_EQ(sum, 4 * rounds);
}

TEST_P(locks, unique_lock_tries_and_waits)
{
	sennit::mutex m;

	in_each_place([&] {
		std::unique_lock<sennit::mutex> first(m);

		EXPECT_TRUE(first.owns_lock());
		first.unlock();
		EXPECT_TRUE(first.try_lock());
		first.unlock();
		EXPECT_TRUE(first.try_lock_for(1h));
		first.unlock();
		EXPECT_TRUE(first.try_lock_until(sennit::never));
		first.unlock();
		EXPECT_TRUE(first.try_lock_until(
			std::chrono::system_clock::now() + 1h));
	});
}

TEST_P(locks, a_lock_held_elsewhere_times_out)
{
	sennit::mutex m;
	sennit::event held, done, gone;

	sennit::schedule([&] {
		std::unique_lock<sennit::mutex> lock(m);

		held.set();
		done.wait();
		lock.unlock();
		gone.set();
	});
	held.wait();
	in_each_place([&] {
		std::unique_lock<sennit::mutex> lock(m, std::defer_lock);

		EXPECT_FALSE(lock.try_lock());
		EXPECT_FALSE(lock.try_lock_for(1ms));
		EXPECT_FALSE(lock.try_lock_for(-1s));
		EXPECT_FALSE(lock.try_lock_until(
			std::chrono::steady_clock::now() - 1s));
		EXPECT_FALSE(lock.try_lock_until(
			std::chrono::system_clock::now() + 1ms));
	});
	done.set();
	gone.wait();
}

TEST_P(locks, conditions_pass_a_ball)
{
	sennit::mutex              m;
	sennit::condition_variable c;
	sennit::wait_group         done(2);
	int                        turn = 0;

	for (int me = 0; me < 2; me++)
		sennit::schedule([&, me] {
			std::unique_lock<sennit::mutex> lock(m);

			for (int i = 0; i < rounds; i++) {
				c.wait(lock, [&] { return turn % 2 == me; });
				turn++;
				c.notify_one();
			}
			lock.unlock();
			done.done();
		});
	done.wait();
	EXPECT_EQ(turn, 2 * rounds);
}

TEST_P(locks, conditions_time_out_with_the_lock_held)
{
	sennit::mutex              m;
	sennit::condition_variable c;

	in_each_place([&] {
		std::unique_lock<sennit::mutex> lock(m);
		const auto                      no = [] { return false; };

		EXPECT_EQ(c.wait_for(lock, 1ms), std::cv_status::timeout);
		EXPECT_TRUE(lock.owns_lock());
		EXPECT_FALSE(c.wait_for(lock, 1ms, no));
		EXPECT_FALSE(c.wait_until(
			lock, std::chrono::system_clock::now() + 1ms, no));
		EXPECT_EQ(c.wait_until(lock,
				       std::chrono::steady_clock::now() - 1s),
			  std::cv_status::timeout);
		EXPECT_TRUE(c.wait_for(lock, 0s, [] { return true; }));
	});
}

/* It blocks its thread, so the other side needs a thread of its own. */
TEST_P(locks, the_standard_condition_variable_takes_them)
{
	sennit::mutex               m;
	std::condition_variable_any c;
	bool                        ready = false;
	std::thread                 t([&] {
                std::unique_lock<sennit::mutex> lock(m);

                c.wait(lock, [&] { return ready; });
                ready = false;
        });

	{
		std::lock_guard<sennit::mutex> guard(m);

		ready = true;
		c.notify_one();
	}
	t.join();
	EXPECT_FALSE(ready);
}

sennit::mutex static_mutex; /* constant-initialised: usable at once */

TEST(statics, need_no_constructor)
{
	static_assert(std::is_trivially_destructible_v<sennit::mutex>);
	static_assert(
		std::is_trivially_destructible_v<sennit::condition_variable>);
	static_assert(std::is_trivially_destructible_v<sennit::event>);
	static_assert(std::is_trivially_destructible_v<sennit::wait_group>);
	std::lock_guard<sennit::mutex> guard(static_mutex);
}

} // namespace
