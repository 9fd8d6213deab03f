/* SPDX-License-Identifier: Apache-2.0 */
/* task.cpp - a task gets any callable complete, runs it once, and destroys
 * it. */
#include "world.hpp"

#include <array>

namespace
{

class tasks : public world
{
};
ON_WORKERS(tasks);

/* Counts its live instances. */
struct counted {
	explicit counted(std::atomic<int> &n) : count(&n)
	{
		++*count;
	}
	counted(const counted &other) : count(other.count)
	{
		++*count;
	}
	counted &operator=(const counted &) = delete;
	~counted()
	{
		--*count;
	}
	std::atomic<int> *count;
};

TEST_P(tasks, run_what_captures_one_reference)
{
	sennit::event ran;

	sennit::schedule([&ran] { ran.set(); });
	ran.wait();
}

std::atomic<int> plain_calls;

void plain()
{
	++plain_calls;
}

TEST_P(tasks, run_functions_and_what_captures_nothing)
{
	plain_calls = 0;
	sennit::schedule(plain);
	sennit::schedule([] { plain(); });
	bound.reset();
	s.shutdown();
	EXPECT_EQ(plain_calls, 2);
}

template <std::size_t N> void send(sennit::wait_group &done)
{
	std::array<unsigned char, N> bytes;

	for (std::size_t i = 0; i < N; i++)
		bytes[i] = static_cast<unsigned char>(N + i);
	done.add();
	sennit::schedule([bytes, &done] {
		for (std::size_t i = 0; i < N; i++)
			EXPECT_EQ(bytes[i], static_cast<unsigned char>(N + i));
		done.done();
	});
}

TEST_P(tasks, carry_captures_of_any_size)
{
	sennit::wait_group done;

	send<1>(done);
	send<7>(done);
	send<8>(done);
	send<9>(done);
	send<40>(done);
	send<48>(done);
	send<56>(done);
	send<57>(done);
	send<64>(done);
	send<1000>(done);
	send<100000>(done);
	done.wait();
}

TEST_P(tasks, carry_what_cannot_be_copied)
{
	sennit::event ran;
	auto          number = std::make_unique<int>(42);

	sennit::schedule([n = std::move(number), &ran] {
		EXPECT_EQ(*n, 42);
		ran.set();
	});
	ran.wait();
}

TEST_P(tasks, carry_strings_that_point_into_themselves)
{
	sennit::wait_group done(2);
	const std::string  text = "short";

	sennit::schedule([text, &done] {
		EXPECT_EQ(text, "short");
		done.done();
	});
	sennit::schedule(
		[](std::string &&t, sennit::wait_group *d) {
			EXPECT_EQ(t, "short");
			d->done();
		},
		text, &done);
	done.wait();
}

TEST_P(tasks, carry_what_is_aligned_to_a_cache_line)
{
	struct alignas(64) line {
		int number;
	};
	sennit::event ran;

	sennit::schedule([l = line{ 7 }, &ran] {
		EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&l) % 64, 0u);
		EXPECT_EQ(l.number, 7);
		ran.set();
	});
	ran.wait();
}

TEST_P(tasks, get_arguments_forwarded_as_a_thread_does)
{
	struct adder {
		int  sum = 0;
		void add(int n)
		{
			sum += n;
		}
	};
	adder         a;
	sennit::event ran;
	int           number = 1;

	sennit::schedule(
		[](std::unique_ptr<int> p, int copy, int &ref,
		   sennit::event &e) {
			EXPECT_EQ(*p, 5);
			EXPECT_EQ(copy, 1);
			ref = 2;
			e.set();
		},
		std::make_unique<int>(5), number, std::ref(number),
		std::ref(ran));
	ran.wait();
	EXPECT_EQ(number, 2);
	sennit::schedule(&adder::add, &a, 3);
	bound.reset();
	s.shutdown();
	EXPECT_EQ(a.sum, 3);
}

TEST_P(tasks, destroy_what_they_captured_when_they_end)
{
	std::atomic<int> alive{ 0 };

	for (int i = 0; i < 100; i++)
		sennit::schedule([c = counted(alive)] {
			if (*c.count > 50)
				sennit::this_fiber::yield();
		});
	bound.reset();
	s.shutdown();
	EXPECT_EQ(alive, 0);
}

/* A failed move is reported, and the memory is freed. */
TEST_P(tasks, are_not_scheduled_when_a_copy_throws)
{
	struct reluctant {
		reluctant() = default;
		reluctant(const reluctant &)
		{
			throw std::string("no");
		}
		void operator()() const
		{
			ADD_FAILURE();
		}
		char fill[40];
	};
	const reluctant r{};

	EXPECT_THROW(sennit::schedule(r), std::string);
}

TEST_P(tasks, may_stay_on_their_thread)
{
	const auto    me = std::this_thread::get_id();
	sennit::event ran;

	sennit::schedule_here([&] {
		EXPECT_EQ(std::this_thread::get_id(), me);
		ran.set();
	});
	ran.wait();
}

/* Each waits for the one before. */
void run_a_chain()
{
	constexpr std::size_t      links = 1000;
	std::vector<sennit::event> turn(links + 1);
	std::size_t                begun = 0;

	turn[0].set();
	for (std::size_t i = 0; i < links; i++)
		sennit::schedule_here([&turn, &begun, i] {
			EXPECT_EQ(begun++, i);
			turn[i].wait();
			turn[i + 1].set();
		});
	turn[links].wait();
}

TEST_P(tasks, run_oldest_first_on_their_thread)
{
	sennit::event ran;

	run_a_chain();
	sennit::schedule([&ran] {
		run_a_chain();
		ran.set();
	});
	ran.wait();
	EXPECT_LE(s.stats().stacks, static_cast<unsigned>(GetParam()) + 3);
}

TEST_P(tasks, may_be_scheduled_from_elsewhere)
{
	std::atomic<int> ran{ 0 };

	for (int i = 0; i < 10; i++)
		s.schedule([&] { ++ran; });
	if (GetParam()) {
		std::thread t([&, mine = s] {
			EXPECT_FALSE(mine.try_schedule(
				[&ran, big = std::string(100, 'x')] {
					EXPECT_EQ(big.size(), 100u);
					++ran;
				}));
			++ran;
		});
		t.join();
	} else {
		ran += 2;
	}
	bound.reset();
	s.shutdown();
	EXPECT_EQ(ran, 12);
}

/* --- memory ------------------------------------------------------------- */

struct miser {
	std::atomic<long> live{ 0 };
	std::atomic<bool> closed{ false };

	static void *take(void *context, std::size_t size,
			  std::size_t alignment)
	{
		auto *m = static_cast<miser *>(context);

		if (m->closed)
			return nullptr;
		m->live += static_cast<long>(size);
		return aligned_alloc(alignment, (size + alignment - 1) /
							alignment * alignment);
	}
	static void give(void *context, void *memory, std::size_t size)
	{
		static_cast<miser *>(context)->live -= static_cast<long>(size);
		std::free(memory);
	}
	const sennit_allocator allocator{ take, give, this };
};

TEST_P(tasks, without_memory_report_and_destroy)
{
	miser             m;
	std::atomic<int>  alive{ 0 };
	auto              c = sennit::config().with_workers(workers());
	sennit::scheduler poor;

	c.allocator = &m.allocator;
	bound.reset();
	poor = sennit::scheduler(c);
	{
		sennit::binding b(poor);
		auto            big = [a = counted(alive),
                            fill = std::array<char, 200>()] {
                        static_cast<void>(fill);
                        ADD_FAILURE();
		};

		m.closed = true;
		EXPECT_EQ(sennit::try_schedule(big),
			  std::errc::not_enough_memory);
		EXPECT_THROW(sennit::schedule(big), std::bad_alloc);
		EXPECT_THROW(poor.schedule(big), std::bad_alloc);
		EXPECT_EQ(alive, 1);
		m.closed = false;
	}
	poor.shutdown();
	EXPECT_EQ(alive, 0);
	EXPECT_EQ(m.live, 0);
}

TEST_P(tasks, give_all_memory_back)
{
	miser            m;
	std::atomic<int> ran{ 0 };
	auto             c = sennit::config().with_workers(workers());

	c.allocator = &m.allocator;
	bound.reset();
	{
		sennit::scheduler mine(c);
		{
			sennit::binding b(mine);

			for (int i = 0; i < 1000; i++)
				sennit::schedule(
					[&ran, t = std::string("text"),
					 f = std::vector<int>(3)] { ++ran; });
		}
		mine.shutdown();
	}
	bound.emplace(s);
	EXPECT_EQ(ran, 1000);
	EXPECT_EQ(m.live, 0);
}

} // namespace
