/* SPDX-License-Identifier: Apache-2.0 */
/* sync.cpp - shared locks, semaphores, barriers and once. */
#include "world.hpp"

#include <shared_mutex>

namespace
{

class sync_classes : public world
{
};
ON_WORKERS(sync_classes);

TEST_P(sync_classes, readers_share_what_writers_hold_alone)
{
	sennit::shared_mutex m;
	sennit::wait_group   done(8);
	int                  a = 0, b = 0;

	for (int i = 0; i < 8; i++)
		sennit::schedule([&, i] {
			for (int n = 0; n < 100; n++) {
				if (i % 4) {
					std::shared_lock<sennit::shared_mutex>
						lock(m);
					EXPECT_EQ(a, b);
				} else {
					std::unique_lock<sennit::shared_mutex>
						lock(m);
					a++;
					sennit::this_fiber::yield();
					b++;
				}
			}
			done.done();
		});
	done.wait();
	EXPECT_EQ(a, 200);
}

TEST_P(sync_classes, a_wait_group_ends_with_its_tasks)
{
	sennit::wait_group left;
	std::atomic<int>   sum{ 0 };
	auto               own = std::make_unique<int>(1000);

	for (int i = 0; i < 10; i++)
		left.spawn([&sum, i] { sum += i; });
	left.spawn([&sum](std::unique_ptr<int> n) { sum += *n; },
		   std::move(own));
	left.wait();
	EXPECT_EQ(sum, 1045);
}

TEST_P(sync_classes, shared_locks_time_out)
{
	sennit::shared_mutex                   m;
	std::shared_lock<sennit::shared_mutex> reading(m);
	sennit::event                          tried;

	sennit::schedule([&] {
		std::unique_lock<sennit::shared_mutex> w(m, std::defer_lock);
		std::shared_lock<sennit::shared_mutex> r(m, std::defer_lock);

		EXPECT_FALSE(w.try_lock());
		EXPECT_FALSE(w.try_lock_for(1ms));
		EXPECT_FALSE(w.try_lock_until(std::chrono::system_clock::now() +
					      1ms));
		EXPECT_TRUE(r.try_lock());
		r.unlock();
		EXPECT_TRUE(r.try_lock_for(1h));
		r.unlock();
		EXPECT_TRUE(r.try_lock_until(sennit::never));
		r.unlock(); /* before m may be destroyed */
		tried.set();
	});
	tried.wait();
}

TEST_P(sync_classes, semaphores_count_permits)
{
	sennit::semaphore permits(2);

	in_each_place([&] {
		EXPECT_TRUE(permits.try_acquire(2));
		EXPECT_FALSE(permits.try_acquire());
		EXPECT_FALSE(permits.try_acquire_for(1ms, 1));
		EXPECT_FALSE(permits.try_acquire_until(
			std::chrono::system_clock::now() + 1ms));
		EXPECT_EQ(permits.count(), 0u);
		permits.release(2);
		permits.acquire();
		EXPECT_TRUE(permits.try_acquire_for(1h));
		permits.release(2);
		EXPECT_EQ(permits.count(), 2u);
	});
}

TEST_P(sync_classes, barriers_let_all_go_at_once)
{
	sennit::barrier    b(4);
	sennit::wait_group done(4);
	std::atomic<int>   arrived{ 0 }, last{ 0 };

	for (int i = 0; i < 4; i++)
		sennit::schedule([&] {
			for (int phase = 1; phase <= 10; phase++) {
				++arrived;
				last += b.arrive_and_wait();
				EXPECT_GE(arrived, 4 * phase);
			}
			done.done();
		});
	done.wait();
	EXPECT_EQ(last, 10);
}

TEST_P(sync_classes, barriers_are_left_in_time)
{
	sennit::barrier b(2), single(1);

	EXPECT_FALSE(b.arrive_and_wait_for(1ms));
	EXPECT_FALSE(b.arrive_and_wait_until(std::chrono::system_clock::now()));
	EXPECT_TRUE(single.arrive_and_wait_for(0s).value());
}

TEST_P(sync_classes, once_is_once)
{
	sennit::once       o;
	sennit::wait_group done(8);
	std::atomic<int>   calls{ 0 };

	EXPECT_FALSE(o.is_done());
	for (int i = 0; i < 8; i++)
		sennit::schedule([&, i] {
			if (i % 2)
				o.call([&]() noexcept { ++calls; });
			else
				o.call([&](int n) { calls += n; }, 1);
			EXPECT_EQ(calls, 1);
			done.done();
		});
	done.wait();
	EXPECT_TRUE(o.is_done());
}

TEST_P(sync_classes, once_is_again_when_it_throws)
{
	sennit::once o;
	int          calls = 0;

	EXPECT_THROW(o.call([&] {
		calls++;
		throw std::string("not yet");
	}),
		     std::string);
	EXPECT_FALSE(o.is_done());
	o.call([&] { calls++; });
	o.call([&] { calls++; });
	EXPECT_EQ(calls, 2);
}

} // namespace
