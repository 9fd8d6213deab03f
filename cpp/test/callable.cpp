/* SPDX-License-Identifier: Apache-2.0 */
/* callable.cpp - tasks run with the captures that they were given, for all
 * types and however the compiler reads a task's argument. At -O2, captures of
 * one word were once garbage. What is larger than a word, as some of these
 * types are on 32 bits, is allocated.
 */
#include "world.hpp"

#include <array>
#include <cstdint>

namespace
{

class captures : public world
{
};
ON_WORKERS(captures);

enum class colour : std::uint16_t { red = 7, blue = 0xbeef };

struct mixed {
	float         f;
	std::int16_t  i;
	unsigned char c;
};

struct two_floats {
	float a, b;
};

struct pointing {
	const char *text;
};

bool operator==(const mixed &x, const mixed &y)
{
	return x.f == y.f && x.i == y.i && x.c == y.c;
}

bool operator==(const two_floats &x, const two_floats &y)
{
	return x.a == y.a && x.b == y.b;
}

bool operator==(const pointing &x, const pointing &y)
{
	return x.text == y.text;
}

/* The result of a task that captures only a T. The task stores it through a
 * pointer in static memory, so that T may fill the word. */
template <typename T> struct arrival {
	static T             value;
	static sennit::event came;
};
template <typename T> T             arrival<T>::value;
template <typename T> sennit::event arrival<T>::came;

template <typename T> auto leave(T given)
{
	auto f = [given] {
		arrival<T>::value = given;
		arrival<T>::came.set();
	};
	static_assert(sennit::detail::is_word<decltype(f)> ||
			      sizeof(T) > sizeof(void *),
		      "it goes through the task's argument");
	return f;
}

template <typename T> T arrived()
{
	arrival<T>::came.wait();
	arrival<T>::came.clear();
	return arrival<T>::value;
}

/* By each call that schedules a task. */
template <typename T> void expect_whole(const sennit::scheduler &s, T given)
{
	sennit::ticket_queue turns;
	sennit::ticket       turn(turns);

	sennit::schedule(leave(given));
	EXPECT_EQ(arrived<T>(), given);
	s.schedule(leave(given));
	EXPECT_EQ(arrived<T>(), given);
	sennit::schedule_here(leave(given));
	EXPECT_EQ(arrived<T>(), given);
	sennit::schedule_background(leave(given));
	EXPECT_EQ(arrived<T>(), given);
	turn.on_call(leave(given));
	EXPECT_EQ(arrived<T>(), given);

	sennit::group g;

	g.spawn(leave(given));
	g.wait();
	EXPECT_EQ(arrived<T>(), given);
	sennit::async(leave(given)).get();
	EXPECT_EQ(arrived<T>(), given);
}

TEST_P(captures, of_one_number_arrive)
{
	expect_whole(s, true);
	expect_whole(s, 'x');
	expect_whole(s, static_cast<short>(-3));
	expect_whole(s, 42);
	expect_whole(s, -1L);
	expect_whole(s, UINT64_C(0x0123456789abcdef));
	expect_whole(s, 1.5f);
	expect_whole(s, -2.25);
	expect_whole(s, colour::blue);
}

TEST_P(captures, of_one_pointer_arrive)
{
	static int number;

	expect_whole(s, &number);
	expect_whole(s, static_cast<const void *>(&number));
	expect_whole(s, "text");
	expect_whole(
		s, +[] { return 1; });
	expect_whole(s, static_cast<int *>(nullptr));
}

TEST_P(captures, of_one_small_struct_arrive)
{
	expect_whole(s, mixed{ 0.5f, -7, 200 });
	expect_whole(s, two_floats{ 1.25f, -3.5f });
	expect_whole(s, pointing{ "there" });
	expect_whole(s, std::array<unsigned char, 7>{ 1, 2, 3, 4, 5, 6, 7 });
	expect_whole(s, std::array<std::uint16_t, 4>{ 1, 2, 3, 4 });
	expect_whole(s, std::array<std::uint16_t, 3>{ 5, 6, 7 });
}

/* Different numbers in a loop: no value may be left over from the previous
 * task. */
TEST_P(captures, of_many_tasks_arrive_each_in_its_own)
{
	static std::atomic<std::uint64_t> sum;
	std::uint64_t                     expected = 0;
	sennit::group                     g;

	sum = 0;
	for (std::uint64_t n = 0; n < 1000; n++) {
		g.spawn([n] { sum += n * n; });
		expected += n * n;
	}
	for (int n = 0; n < 1000; n++) {
		sennit::schedule([n] { sum += std::uint64_t(n); });
		expected += std::uint64_t(n);
	}
	for (float f = 0; f < 1000; f++) {
		sennit::schedule([f] { sum += std::uint64_t(f); });
		expected += std::uint64_t(f);
	}
	g.wait();
	bound.reset();
	s.shutdown();
	EXPECT_EQ(sum, expected);
}

/* int, float, pointer and struct together: two words and more, in memory of the
 * scheduler. */
TEST_P(captures, of_several_kinds_arrive_together)
{
	sennit::event ran;
	int           i = 11;
	float         f = 0.75f;
	const char   *p = "mixed";
	const mixed   m{ 2.5f, -9, 3 };
	double        d = 1e100;

	sennit::schedule([i, &ran] {
		EXPECT_EQ(i, 11);
		ran.set();
	});
	ran.wait();
	ran.clear();
	sennit::schedule([i, f, p, m, d, &ran] {
		EXPECT_EQ(i, 11);
		EXPECT_EQ(f, 0.75f);
		EXPECT_STREQ(p, "mixed");
		EXPECT_TRUE(m == (mixed{ 2.5f, -9, 3 }));
		EXPECT_EQ(d, 1e100);
		ran.set();
	});
	ran.wait();
}

/* A callable may change itself, because it belongs to the task. */
TEST_P(captures, may_be_changed_by_their_task)
{
	static std::atomic<int> seen;
	sennit::group           g;

	seen = 0;
	for (int n = 0; n < 10; n++)
		g.spawn([n]() mutable {
			n *= 2;
			seen += n;
		});
	g.wait();
	EXPECT_EQ(seen, 90);
}

int sums(int a, float b)
{
	return a + static_cast<int>(b);
}

TEST_P(captures, functions_and_arguments_of_a_word_arrive)
{
	static std::atomic<int> seen;
	static const auto       add = [](int a, short b) { seen += a + b; };

	seen = 0;
	EXPECT_EQ(sennit::async(sums, 40, 2.5f).get(), 42);
	sennit::group g;
	g.spawn(add, 40, short(2));
	g.wait();
	EXPECT_EQ(seen, 42);
}

} // namespace
