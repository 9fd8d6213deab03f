/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include "marl/event.h"
#include "marl/waitgroup.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace
{

using marl::Scheduler;

class SchedulerTasksOf : public World
{
};
ON_WORKERS(SchedulerTasksOf);

using SchedulerAlone = Alone;

TEST_P(SchedulerTasksOf, passes_arguments_as_they_were_when_scheduled)
{
	marl::WaitGroup  left(1);
	std::string      text = "before";
	std::string      seen;
	std::atomic<int> sum{ 0 };

	marl::schedule(
		[&](const std::string &a, int b, marl::WaitGroup wg) {
			seen = a;
			sum = b;
			wg.done();
		},
		text, 7, left);
	text = "after";
	left.wait();
	EXPECT_EQ(seen, "before");
	EXPECT_EQ(sum, 7);
}

static std::atomic<int> plain_calls;

static void plain_function()
{
	plain_calls++;
}

TEST_P(SchedulerTasksOf, takes_anything_that_can_be_called)
{
	struct Counter {
		std::atomic<int> n{ 0 };

		void add(int k)
		{
			n += k;
		}
	};
	Counter               counter;
	std::function<void()> function = [&] { counter.add(1); };
	marl::Task            task([&] { counter.add(10); });

	auto returns = [&] {
		counter.add(100);
		return 5;
	};

	plain_calls = 0;
	marl::schedule(plain_function);
	marl::schedule(function);
	marl::schedule(task);
	marl::schedule(marl::Task(function));
	marl::schedule(returns);
	marl::schedule(&Counter::add, &counter, 1000);
	marl::schedule(std::bind(&Counter::add, &counter, 10000));
	Scheduler::unbind();
	scheduler.reset();
	EXPECT_EQ(plain_calls, 1);
	EXPECT_EQ(counter.n, 11112);
}

TEST_P(SchedulerTasksOf, takes_functions_that_can_only_be_moved)
{
	struct Only {
		std::unique_ptr<int> value;
		std::atomic<int>    *to;

		void operator()()
		{
			*to = *value;
		}
	};
	std::atomic<int> seen{ 0 };

	marl::schedule(Only{ std::unique_ptr<int>(new int(7)), &seen });
	Scheduler::unbind();
	scheduler.reset();
	EXPECT_EQ(seen, 7);
}

/* Any size and alignment: each is constructed and destroyed equally often. */
template <size_t SIZE, size_t ALIGNMENT> struct alignas(ALIGNMENT) Fat {
	explicit Fat(std::atomic<int> *alive_) : alive(alive_)
	{
		for (size_t i = 0; i < SIZE; ++i)
			bytes[i] = static_cast<unsigned char>(i * 7);
		(*alive)++;
	}
	Fat(const Fat &other) : alive(other.alive)
	{
		for (size_t i = 0; i < SIZE; ++i)
			bytes[i] = other.bytes[i];
		(*alive)++;
	}
	~Fat()
	{
		(*alive)--;
	}
	void operator()() const
	{
		EXPECT_EQ(reinterpret_cast<uintptr_t>(this) % ALIGNMENT, 0u);
		for (size_t i = 0; i < SIZE; ++i)
			EXPECT_EQ(bytes[i], static_cast<unsigned char>(i * 7));
	}

	std::atomic<int> *alive;
	unsigned char     bytes[SIZE];
};

TEST_P(SchedulerTasksOf, destroys_what_tasks_captured_whatever_its_size)
{
	std::atomic<int> alive{ 0 };

	for (int i = 0; i < 300; ++i) {
		marl::schedule(Fat<1, 8>(&alive));
		marl::schedule(Fat<40, 8>(&alive));
		marl::schedule(Fat<56, 8>(&alive));
		marl::schedule(Fat<57, 8>(&alive));
		marl::schedule(Fat<1000, 8>(&alive));
		marl::schedule(Fat<10, 64>(&alive));
	}
	Scheduler::unbind();
	scheduler.reset();
	EXPECT_EQ(alive, 0);
}

template <size_t SIZE, size_t ALIGNMENT> struct alignas(ALIGNMENT) Plain {
	std::atomic<int> *ran;
	unsigned char     bytes[SIZE];

	void operator()() const
	{
		EXPECT_EQ(reinterpret_cast<uintptr_t>(this) % ALIGNMENT, 0u);
		EXPECT_EQ(bytes[0], 1);
		EXPECT_EQ(bytes[SIZE - 1], SIZE == 1 ? 1 : 2);
		(*ran)++;
	}
};

template <size_t SIZE, size_t ALIGNMENT>
static void schedule_plain(std::atomic<int> *ran)
{
	Plain<SIZE, ALIGNMENT> f = {};

	f.ran = ran;
	f.bytes[SIZE - 1] = 2;
	f.bytes[0] = 1;
	marl::schedule(f);
}

TEST_P(SchedulerTasksOf, copies_plain_functions_whatever_their_size)
{
	std::atomic<int> ran{ 0 };

	schedule_plain<1, 8>(&ran);
	schedule_plain<40, 8>(&ran);
	schedule_plain<41, 8>(&ran);
	schedule_plain<10, 16>(&ran);
	schedule_plain<10, 64>(&ran);
	schedule_plain<5000, 8>(&ran);
	Scheduler::unbind();
	scheduler.reset();
	EXPECT_EQ(ran, 6);
}

/* Blocks move from the threads that run tasks to the threads that create them,
 * which may end. With AddressSanitizer they come from the heap. */
TEST_P(SchedulerTasksOf, passes_captures_between_threads_that_come_and_go)
{
	std::atomic<int> alive{ 0 };
	marl::WaitGroup  left;

	for (int thread = 0; thread < 5; ++thread)
		std::thread([&, left] {
			scheduler->bind();
			for (int i = 0; i < 500; ++i) {
				Fat<30, 8> fat(&alive);

				left.add();
				marl::schedule([fat, left] {
					fat();
					left.done();
				});
			}
			left.wait();
			Scheduler::unbind();
		}).join();
	Scheduler::unbind();
	scheduler.reset();
	EXPECT_EQ(alive, 0);
}

TEST_P(SchedulerTasksOf, has_destroyed_a_task_before_it_ends)
{
	auto shared = std::make_shared<int>(1);

	for (int i = 0; i < 100; ++i)
		marl::schedule([shared] {});
	Scheduler::unbind();
	scheduler.reset();
	EXPECT_EQ(shared.use_count(), 1);
}

TEST_P(SchedulerTasksOf, runs_tasks_of_tasks_of_tasks)
{
	std::atomic<int> ran{ 0 };
	marl::WaitGroup  left(1 + 10 + 100);

	marl::schedule([=, &ran] {
		for (int i = 0; i < 10; ++i)
			marl::schedule([=, &ran] {
				for (int k = 0; k < 10; ++k)
					marl::schedule([=, &ran] {
						ran++;
						left.done();
					});
				left.done();
			});
		left.done();
	});
	left.wait();
	EXPECT_EQ(ran, 100);
}

/* --- the order ---------------------------------------------------------- */

TEST_F(SchedulerAlone, without_workers_runs_tasks_in_order_when_it_unbinds)
{
	Scheduler   s(Scheduler::Config().setAllocator(&memory));
	std::string order;

	s.bind();
	for (char c : { '0', '1', '2' })
		marl::schedule([&order, c] { order += c; });
	marl::schedule([&order] {
		order += 'a';
		marl::schedule([&order] { order += 'A'; });
	});
	marl::schedule([&order] { order += 'b'; });
	EXPECT_EQ(order, "");
	Scheduler::unbind();
	EXPECT_EQ(order, "012abA");
}

/* Let this schedule tasks, in a task of the only worker or, while the worker is
 * busy, on this thread. */
template <typename Function>
void schedule_in_a_task(const Scheduler::Config &config, Function function)
{
	Scheduler s(config);

	s.enqueue(marl::Task(function));
}

template <typename Function>
void schedule_outside(const Scheduler::Config &config, bool bound,
		      Function function)
{
	Scheduler        s(config);
	std::atomic<int> stage{ 0 };

	if (bound)
		s.bind();
	s.enqueue(marl::Task([&] {
		for (stage = 1; stage == 1;)
			std::this_thread::yield();
	}));
	while (stage == 0)
		std::this_thread::yield();
	function(s);
	stage = 2;
	if (bound)
		Scheduler::unbind();
}

/* Tasks of tasks, too, are behind those that wait. */
TEST_F(SchedulerAlone, runs_what_a_task_schedules_oldest_first)
{
	std::string order;

	schedule_in_a_task(
		Scheduler::Config().setAllocator(&memory).setWorkerThreadCount(
			1),
		[&] {
			for (char c = 'a'; c <= 'z'; c++)
				marl::schedule([&order, c] {
					order += c;
					marl::schedule([&order, c] {
						order += char(c - 'a' + 'A');
					});
				});
		});
	EXPECT_EQ(order,
		  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

TEST_F(SchedulerAlone, runs_what_threads_schedule_oldest_first)
{
	for (bool bound : { false, true }) {
		std::string order;

		schedule_outside(
			Scheduler::Config()
				.setAllocator(&memory)
				.setWorkerThreadCount(1),
			bound, [&](Scheduler &s) {
				for (char c = 'a'; c <= 'z'; c++)
					s.enqueue(marl::Task(
						[&order, c] { order += c; }));
			});
		EXPECT_EQ(order, "abcdefghijklmnopqrstuvwxyz");
	}
}

/* With SPREAD a task's tasks take the way of those from outside. */
TEST_F(SchedulerAlone, runs_tasks_in_the_order_that_it_was_told)
{
	auto config =
		Scheduler::Config().setAllocator(&memory).setWorkerThreadCount(
			1);
	std::string order;
	auto        schedule = [&] {
                for (char c = 'a'; c <= 'h'; c++)
                        marl::schedule([&order, c] { order += c; });
	};

	config.setOrder(SENNIT_ORDER_NEWEST);
	schedule_in_a_task(config, schedule);
	EXPECT_EQ(order, "hgfedcba");
	order.clear();
	config.setPlacement(SENNIT_PLACEMENT_SPREAD);
	schedule_in_a_task(config, schedule);
	EXPECT_EQ(order, "abcdefgh");
}

TEST_F(SchedulerAlone, with_workers_runs_tasks_on_them_only)
{
	Scheduler s(
		Scheduler::Config().setAllocator(&memory).setWorkerThreadCount(
			3));
	std::mutex                lock;
	std::set<std::thread::id> threads;
	marl::WaitGroup           left(1000);

	s.bind();
	for (int i = 0; i < 1000; ++i)
		marl::schedule([&, left] {
			{
				std::lock_guard<std::mutex> held(lock);

				threads.insert(std::this_thread::get_id());
			}
			left.done();
		});
	left.wait();
	Scheduler::unbind();
	EXPECT_LE(threads.size(), 3u);
	EXPECT_EQ(threads.count(std::this_thread::get_id()), 0u);
}

TEST_P(SchedulerTasksOf, keeps_a_same_thread_task_on_its_thread)
{
	marl::WaitGroup left(100);

	for (int i = 0; i < 50; ++i) {
		auto here = std::this_thread::get_id();

		marl::schedule(marl::Task(
			[=] {
				EXPECT_EQ(std::this_thread::get_id(), here);
				left.done();
			},
			marl::Task::Flags::SameThread));
		marl::schedule([this, left] {
			auto there = std::this_thread::get_id();

			scheduler->enqueue(marl::Task(
				[=] {
					EXPECT_EQ(std::this_thread::get_id(),
						  there);
					left.done();
				},
				marl::Task::Flags::SameThread));
		});
	}
	left.wait();
}

/* Each waits for the one before. As in marl, no more than one has begun. */
static void run_a_chain()
{
	constexpr size_t         links = 1000;
	std::vector<marl::Event> turn(links + 1);
	size_t                   begun = 0;
	marl::WaitGroup          done(links);

	turn[0].signal();
	for (size_t i = 0; i < links; ++i)
		marl::schedule(marl::Task(
			[&turn, &begun, done, i] {
				EXPECT_EQ(begun++, i);
				turn[i].wait();
				turn[i + 1].signal();
				done.done();
			},
			marl::Task::Flags::SameThread));
	done.wait();
}

TEST_P(SchedulerTasksOf, runs_same_thread_tasks_oldest_first)
{
	marl::WaitGroup done(1);

	run_a_chain();
	marl::schedule([done] {
		run_a_chain();
		done.done();
	});
	done.wait();
}

TEST_F(SchedulerAlone, takes_tasks_from_threads_that_are_not_bound)
{
	Scheduler s(
		Scheduler::Config().setAllocator(&memory).setWorkerThreadCount(
			2));
	marl::WaitGroup left(100);

	for (int i = 0; i < 100; ++i)
		s.enqueue(marl::Task([=, &s] {
			EXPECT_EQ(Scheduler::get(), &s);
			left.done();
		}));
	left.wait();
}

TEST_P(SchedulerTasksOf, is_known_to_its_tasks)
{
	marl::WaitGroup left(20);

	for (int i = 0; i < 20; ++i)
		marl::schedule([this, left] {
			EXPECT_EQ(Scheduler::get(), scheduler.get());
			EXPECT_NE(Scheduler::Fiber::current(), nullptr);
			left.done();
		});
	left.wait();
}

/* A task that polls by scheduling itself again, until older ones have run. Each
 * step takes 20 us, so that 1 ms for each older task is a number of steps. */
struct Poll {
	std::atomic<int> *left;
	std::atomic<int> *steps;
	marl::WaitGroup   done;

	void operator()() const
	{
		const auto begin = std::chrono::steady_clock::now();

		while (std::chrono::steady_clock::now() - begin <
		       std::chrono::microseconds(20))
			;
		if (*left > 0 && ++*steps < 100 * 50)
			marl::schedule(*this);
		else
			done.done();
	}
};

TEST_P(SchedulerTasksOf, ends_a_program_that_polls_by_rescheduling_itself)
{
	std::atomic<int> left{ 100 }, steps{ 0 };
	marl::WaitGroup  done(1), all(100);

	marl::schedule([&] {
		for (int i = 0; i < 100; ++i)
			marl::schedule([&, all] {
				--left;
				all.done();
			});
		marl::schedule(Poll{ &left, &steps, done });
	});
	done.wait();
	EXPECT_EQ(left, 0);
	all.wait();
}

/* marl b8406ab: the same. Each of these tasks has run once before any runs
 * again. */
TEST_F(SchedulerAlone, runs_older_tasks_before_one_that_reschedules_itself)
{
	for (int workers : { 0, 1 }) {
		Scheduler        s(Scheduler::Config()
					   .setAllocator(&memory)
					   .setWorkerThreadCount(workers));
		marl::WaitGroup  done(1), all(100);
		std::atomic<int> left{ 100 }, steps{ 0 };

		s.bind();
		marl::schedule([&] {
			marl::schedule(Poll{ &left, &steps, done });
			for (int i = 0; i < 100; ++i)
				marl::schedule([&, all] {
					--left;
					all.done();
				});
		});
		done.wait();
		EXPECT_EQ(left, 0);
		EXPECT_EQ(steps, 1);
		all.wait();
		Scheduler::unbind();
	}
}

/* marl b8406ab: the same. A task makes tasks of which each waits for the one
 * before: none has to wait, so they need no stacks of their own. */
TEST_F(SchedulerAlone, runs_a_chain_on_few_stacks)
{
	const size_t      links = 10000;
	Scheduler::Config config;

	config.setAllocator(&memory).setWorkerThreadCount(1);

	Scheduler                s(config);
	std::vector<marl::Event> turn(links + 1);
	sennit_stats             stats = {};

	s.bind();
	turn[0].signal();
	marl::schedule([&] {
		for (size_t i = 0; i < links; ++i)
			marl::schedule([&, i] {
				turn[i].wait();
				turn[i + 1].signal();
			});
	});
	turn[links].wait();
	stats.size = sizeof(stats);
	sennit_scheduler_get_stats(s.native_handle(), &stats);
	EXPECT_LE(stats.fibers_peak, 4u);
	Scheduler::unbind();
}

} // namespace
