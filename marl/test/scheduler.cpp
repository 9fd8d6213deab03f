/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include "marl/event.h"
#include "marl/waitgroup.h"

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>

namespace
{

using marl::Scheduler;

class SchedulerOf : public World
{
};
ON_WORKERS(SchedulerOf);

using SchedulerAlone = Alone;

/* Aligns by 16 bytes and by no more, and wants to be asked for no more. */
class Aligning16 : public marl::Allocator
{
public:
	marl::Allocation allocate(
		const marl::Allocation::Request &request) override
	{
		marl::Allocation a = Default->allocate(wider(request));

		EXPECT_GE(request.alignment, 1u);
		EXPECT_LE(request.alignment, 16u);
		a.ptr = static_cast<char *>(a.ptr) + 16;
		a.request = request;
		std::lock_guard<std::mutex> held(lock_);
		blocks_[a.ptr] = request;
		return a;
	}
	void free(const marl::Allocation &a) override
	{
		std::lock_guard<std::mutex> held(lock_);
		auto                        block = blocks_.find(a.ptr);
		marl::Allocation            whole;

		ASSERT_NE(block, blocks_.end());
		EXPECT_EQ(block->second.size, a.request.size);
		EXPECT_EQ(block->second.alignment, a.request.alignment);
		EXPECT_EQ(block->second.usage, a.request.usage);
		blocks_.erase(block);
		freed_++;
		whole.ptr = static_cast<char *>(a.ptr) - 16;
		whole.request = wider(a.request);
		Default->free(whole);
	}
	size_t blocks() const
	{
		return blocks_.size();
	}
	size_t freed() const
	{
		return freed_;
	}

private:
	static marl::Allocation::Request wider(
		marl::Allocation::Request request)
	{
		request.size += 16;
		request.alignment = 32;
		return request;
	}

	std::mutex                                  lock_;
	std::map<void *, marl::Allocation::Request> blocks_;
	size_t                                      freed_ = 0;
};

/* --- making, binding, ending ------------------------------------------- */

TEST_F(SchedulerAlone, ends_without_having_been_bound)
{
	Scheduler s(Scheduler::Config().setAllocator(&memory));
}

/* marl b8406ab: the same. */
TEST_F(SchedulerAlone, asks_its_allocator_for_alignments_of_16_at_most)
{
	for (int workers : { 0, 2 }) {
		Aligning16        narrow;
		Scheduler::Config config;

		config.setAllocator(&narrow).setWorkerThreadCount(workers);
		{
			Scheduler       s(config);
			marl::WaitGroup done(unsigned(load(1000)));

			s.bind();
			for (int i = 0; i < load(1000); ++i)
				marl::schedule([done] { done.done(); });
			done.wait();
			Scheduler::unbind();
		}
		EXPECT_EQ(narrow.blocks(), 0u);
		EXPECT_GT(narrow.freed(), 0u);
	}
}

TEST_F(SchedulerAlone, is_known_to_its_thread_while_bound)
{
	Scheduler s(Scheduler::Config().setAllocator(&memory));

	EXPECT_EQ(Scheduler::get(), nullptr);
	EXPECT_EQ(Scheduler::Fiber::current(), nullptr);
	s.bind();
	EXPECT_EQ(Scheduler::get(), &s);
	Scheduler::unbind();
	EXPECT_EQ(Scheduler::get(), nullptr);
	EXPECT_EQ(Scheduler::Fiber::current(), nullptr);
}

TEST_F(SchedulerAlone, tells_what_it_was_made_of)
{
	auto policy = marl::Thread::Affinity::Policy::anyOf(
		marl::Thread::Affinity::all(&memory), &memory);
	Scheduler s(Scheduler::Config()
			    .setAllocator(&memory)
			    .setFiberStackSize(20 * 1024)
			    .setWorkerThreadCount(3)
			    .setWorkerThreadInitializer([](int) {})
			    .setOrder(SENNIT_ORDER_NEWEST)
			    .setPlacement(SENNIT_PLACEMENT_SPREAD)
			    .setWorkerThreadAffinityPolicy(policy));

	EXPECT_EQ(s.config().allocator, &memory);
	EXPECT_EQ(s.config().order, SENNIT_ORDER_NEWEST);
	EXPECT_EQ(s.config().placement, SENNIT_PLACEMENT_SPREAD);
	EXPECT_EQ(s.config().fiberStackSize, size_t(20 * 1024));
	EXPECT_EQ(s.config().workerThread.count, 3);
	EXPECT_TRUE(s.config().workerThread.initializer);
	EXPECT_EQ(s.config().workerThread.affinityPolicy, policy);
}

TEST_F(SchedulerAlone, defaults_to_no_workers_and_stacks_of_a_mebibyte)
{
	Scheduler::Config c;

	EXPECT_EQ(c.workerThread.count, 0);
	EXPECT_EQ(c.order, SENNIT_ORDER_OLDEST);
	EXPECT_EQ(c.allocator, marl::Allocator::Default);
	EXPECT_EQ(c.fiberStackSize, size_t(1024 * 1024));
}

TEST_F(SchedulerAlone, of_all_cores_has_a_worker_for_each_cpu)
{
	EXPECT_EQ(Scheduler::Config::allCores().workerThread.count,
		  int(marl::Thread::numLogicalCPUs()));
}

TEST_F(SchedulerAlone, takes_a_negative_count_for_none)
{
	Scheduler s(
		Scheduler::Config().setAllocator(&memory).setWorkerThreadCount(
			-1));
	bool ran = false;

	s.bind();
	marl::schedule([&] { ran = true; });
	Scheduler::unbind();
	EXPECT_TRUE(ran);
}

TEST_F(SchedulerAlone, lets_a_thousand_threads_bind_one_after_the_other)
{
	Scheduler s(
		Scheduler::Config().setAllocator(&memory).setWorkerThreadCount(
			2));
	std::atomic<int> ran{ 0 };

	for (int i = 0; i < load(1000); ++i)
		std::thread([&] {
			s.bind();
			marl::schedule([&] { ran++; });
			Scheduler::unbind();
		}).join();
	marl::WaitGroup left(1);

	s.enqueue(marl::Task([&, left] { left.done(); }));
	left.wait();
	while (ran < load(1000))
		std::this_thread::yield();
}

TEST_P(SchedulerOf, ends_only_after_every_task)
{
	std::atomic<int> ran{ 0 };

	for (int i = 0; i < 1000; ++i)
		marl::schedule([&] { ran++; });
	Scheduler::unbind();
	scheduler.reset();
	EXPECT_EQ(ran, 1000);
}

TEST_P(SchedulerOf, ends_only_after_blocked_fibers_that_a_task_lets_go)
{
	marl::WaitGroup  go(1);
	std::atomic<int> ran{ 0 };

	for (int i = 0; i < load(1000); ++i)
		marl::schedule([&, go] {
			go.wait();
			ran++;
		});
	marl::schedule([go] { go.done(); });
	Scheduler::unbind();
	scheduler.reset();
	EXPECT_EQ(ran, load(1000));
}

/* --- worker threads ------------------------------------------------------- */

/* marl b8406ab: the same; the constructor waits for no thread. */
TEST_F(SchedulerAlone, has_initializers_that_wait_for_what_follows_it)
{
	for (bool affine : { false, true }) {
		std::atomic<Scheduler *> made{ nullptr };
		std::atomic<int>         before{ 0 };
		auto                     config = Scheduler::Config()
				      .setAllocator(&memory)
				      .setWorkerThreadCount(3)
				      .setWorkerThreadInitializer([&](int) {
					      while (!made)
						      std::this_thread::yield();
					      before++;
				      });

		if (affine)
			config.setWorkerThreadAffinityPolicy(
				marl::Thread::Affinity::Policy::anyOf(
					marl::Thread::Affinity::all()));
		{
			Scheduler       s(config);
			marl::WaitGroup ran(100);

			for (int i = 0; i < 100; ++i)
				s.enqueue(marl::Task([&, ran] {
					EXPECT_GT(before, 0);
					ran.done();
				}));
			EXPECT_EQ(before, 0);
			made = &s;
			ran.wait();
		}
		EXPECT_EQ(before, 3);
	}
}

TEST_F(SchedulerAlone, calls_the_initializer_once_in_each_worker_thread)
{
	std::mutex                lock;
	std::multiset<int>        ids;
	std::set<std::thread::id> threads;

	{
		Scheduler s(Scheduler::Config()
				    .setAllocator(&memory)
				    .setWorkerThreadCount(4)
				    .setWorkerThreadInitializer([&](int id) {
					    std::lock_guard<std::mutex> held(
						    lock);

					    ids.insert(id);
					    threads.insert(
						    std::this_thread::get_id());
				    }));
	}
	EXPECT_EQ(ids, (std::multiset<int>{ 0, 1, 2, 3 }));
	EXPECT_EQ(threads.size(), 4u);
}

TEST_F(SchedulerAlone, names_its_worker_threads)
{
	Scheduler s(
		Scheduler::Config().setAllocator(&memory).setWorkerThreadCount(
			1));
	marl::WaitGroup left(1);
	char            name[16] = "";

	s.enqueue(marl::Task([&, left] {
		pthread_getname_np(pthread_self(), name, sizeof(name));
		left.done();
	}));
	left.wait();
	EXPECT_STREQ(name, "Thread<00>");
}

TEST_F(SchedulerAlone, runs_workers_where_the_policy_says)
{
	marl::Thread::Affinity all = marl::Thread::Affinity::all(&memory);
	const size_t           count = all.count();
	const auto             last = all[count - 1];
	marl::Thread::Affinity one({ last }, &memory);
	std::atomic<int>       wrong{ 0 };
	std::atomic<int>       calls{ 0 };

	{
		Scheduler s(
			Scheduler::Config()
				.setAllocator(&memory)
				.setWorkerThreadCount(2)
				.setWorkerThreadAffinityPolicy(
					marl::Thread::Affinity::Policy::oneOf(
						std::move(one), &memory))
				.setWorkerThreadInitializer([&](int) {
					auto mine =
						marl::Thread::Affinity::all();

					calls++;
					if (mine.count() != 1 ||
					    !(mine[0] == last))
						wrong++;
				}));
	}
	EXPECT_EQ(calls, 2);
	EXPECT_EQ(wrong, 0);
}

TEST_F(SchedulerAlone, runs_a_worker_anywhere_if_its_cores_do_not_exist)
{
	marl::Thread::Core far = {};

	far.pthread.index = 60000;
	marl::Thread::Affinity none({ far }, &memory);

	Scheduler       s(Scheduler::Config()
				  .setAllocator(&memory)
				  .setWorkerThreadCount(1)
				  .setWorkerThreadAffinityPolicy(
					  marl::Thread::Affinity::Policy::anyOf(
						  std::move(none), &memory)));
	marl::WaitGroup left(1);

	s.enqueue(marl::Task([=] { left.done(); }));
	left.wait();
}

/* --- misuse --------------------------------------------------------------- */

using SchedulerDeathTest = Alone;

TEST_F(SchedulerDeathTest, schedule_needs_a_bound_scheduler)
{
	EXPECT_DEATH(marl::schedule([] {}), "misuse.*no scheduler");
}

TEST_F(SchedulerDeathTest, enqueue_needs_workers_or_a_bound_thread)
{
	Scheduler s(Scheduler::Config().setAllocator(&memory));

	EXPECT_DEATH(s.enqueue(marl::Task([] {})),
		     "Did you forget to call marl::Scheduler::bind");
}

TEST_F(SchedulerDeathTest, a_thread_binds_once)
{
	Scheduler s(Scheduler::Config().setAllocator(&memory));

	EXPECT_DEATH(
		{
			Scheduler t((Scheduler::Config()));
			t.bind();
			t.bind();
		},
		"misuse of sennit_thread_bind");
	EXPECT_DEATH(Scheduler::unbind(), "misuse of sennit_thread_unbind");
}

TEST_F(SchedulerDeathTest, an_exception_out_of_a_task_ends_the_process)
{
	EXPECT_DEATH(
		{
			Scheduler t((Scheduler::Config()));
			t.bind();
			marl::schedule([] { throw 1; });
			Scheduler::unbind();
		},
		"terminate");
}

TEST_F(SchedulerDeathTest, there_is_no_scheduler_of_too_many_workers)
{
	EXPECT_DEATH(Scheduler(Scheduler::Config().setWorkerThreadCount(5000)),
		     "no scheduler with 5000 worker threads");
}

} // namespace
