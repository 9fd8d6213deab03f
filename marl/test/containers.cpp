/* SPDX-License-Identifier: Apache-2.0 */
#include "world.h"

#include "marl/containers.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace
{

using ContainersAlone = Alone;

template <typename T, int N> using vector = marl::containers::vector<T, N>;

/* Too long for the small-string optimisation of std::string. */
static std::string word(size_t i)
{
	return "a word that is long, and differs: " + std::to_string(i);
}

template <typename Vector> static void fill(Vector &v, size_t n)
{
	for (size_t i = 0; i < n; ++i)
		v.push_back(word(i));
}

template <typename Vector> static void expect_words(const Vector &v, size_t n)
{
	size_t i = 0;

	ASSERT_EQ(v.size(), n);
	for (const std::string &s : v)
		EXPECT_EQ(s, word(i++));
	EXPECT_EQ(i, n);
	if (n > 0) {
		EXPECT_EQ(v.front(), word(0));
		EXPECT_EQ(v.back(), word(n - 1));
		EXPECT_EQ(v.data(), &v[0]);
	}
}

TEST_F(ContainersAlone, a_vector_begins_inside_itself)
{
	vector<std::string, 4> v(&memory);

	expect_words(v, 0);
	fill(v, 4);
	expect_words(v, 4);
	EXPECT_EQ(memory.stats().numAllocations(), 0u);
	v.push_back(word(4));
	expect_words(v, 5);
	EXPECT_EQ(memory.stats().numAllocations(), 1u);
	EXPECT_EQ(v.allocator, &memory);
}

TEST_F(ContainersAlone, a_vector_grows_and_shrinks)
{
	vector<std::string, 2> v(&memory);

	fill(v, 100);
	expect_words(v, 100);
	for (size_t i = 100; i > 50; --i)
		v.pop_back();
	expect_words(v, 50);
	v.resize(3);
	expect_words(v, 3);
	v.resize(5);
	EXPECT_EQ(v[4], "");
	v.reserve(1000);
	EXPECT_GE(v.cap(), 1000u);
	EXPECT_EQ(v.size(), 5u);
}

TEST_F(ContainersAlone, a_vector_may_be_copied_and_moved)
{
	for (size_t n : { 0u, 1u, 4u, 5u, 50u }) {
		vector<std::string, 4> a(&memory);

		fill(a, n);
		{
			vector<std::string, 4> copy(a);
			vector<std::string, 8> other(a, &memory);
			vector<std::string, 1> assigned(&memory);

			expect_words(copy, n);
			expect_words(other, n);
			for (size_t before : { 0u, 1u, 30u }) {
				assigned.resize(before);
				assigned = a;
				expect_words(assigned, n);
				assigned = copy;
				expect_words(assigned, n);
			}
			copy = *&copy;
			expect_words(copy, n);
		}
		vector<std::string, 4> moved(std::move(a));

		expect_words(moved, n);
		vector<std::string, 2> again(std::move(moved), &memory);

		expect_words(again, n);
		vector<std::string, 2> last(&memory);

		last.push_back("gone");
		last = std::move(again);
		expect_words(last, n);
		EXPECT_EQ(again.size(), 0u);
		again.push_back(word(0));
		expect_words(again, 1);
	}
}

TEST_F(ContainersAlone, a_vector_takes_elements_of_its_own)
{
	vector<std::string, 1> v(&memory);

	v.push_back(word(0));
	for (int i = 0; i < 20; ++i)
		v.push_back(v[0]);
	EXPECT_EQ(v.size(), 21u);
	for (const std::string &s : v)
		EXPECT_EQ(s, word(0));
	EXPECT_EQ(v.front(), v.back());
}

TEST_F(ContainersAlone, a_vector_takes_what_can_only_be_moved)
{
	vector<std::unique_ptr<int>, 1> v(&memory);

	for (int i = 0; i < 20; ++i)
		v.emplace_back(std::unique_ptr<int>(new int(i)));
	v.emplace_back(new int(20));
	for (size_t i = 0; i < 21; ++i)
		EXPECT_EQ(*v[i], int(i));
}

TEST_F(ContainersAlone, a_vector_keeps_alignments)
{
	struct alignas(64) Wide {
		char c;
	};
	vector<Wide, 1> v(&memory);

	for (int i = 0; i < 10; ++i) {
		v.push_back(Wide());
		for (const Wide &w : v)
			EXPECT_EQ(reinterpret_cast<uintptr_t>(&w) % 64, 0u);
	}
}

TEST_F(ContainersAlone, a_vector_destroys_what_it_made)
{
	static int alive;

	struct Counted {
		Counted()
		{
			alive++;
		}
		Counted(const Counted &)
		{
			alive++;
		}
		~Counted()
		{
			alive--;
		}
		Counted &operator=(const Counted &) = default;
	};
	alive = 0;
	{
		vector<Counted, 2> v(&memory);

		for (int i = 0; i < 100; ++i)
			v.push_back(Counted());
		EXPECT_EQ(alive, 100);
		vector<Counted, 2> copy(v);

		copy.resize(10);
		v = copy;
		EXPECT_EQ(alive, 20);
	}
	EXPECT_EQ(alive, 0);
}

TEST_F(ContainersAlone, a_list_puts_new_elements_in_front)
{
	marl::containers::list<std::string> l(&memory);
	std::vector<std::string>            seen;

	EXPECT_EQ(l.size(), 0u);
	EXPECT_TRUE(l.begin() == l.end());
	for (size_t i = 0; i < 30; ++i)
		EXPECT_EQ(*l.emplace_front(word(i)), word(i));
	for (const std::string &s : l)
		seen.push_back(s);
	ASSERT_EQ(seen.size(), 30u);
	for (size_t i = 0; i < 30; ++i)
		EXPECT_EQ(seen[i], word(29 - i));
}

TEST_F(ContainersAlone, a_list_erases_anywhere)
{
	for (int erase = 0; erase < 3; ++erase) {
		marl::containers::list<std::pair<int, int>> l(&memory);
		std::vector<int>                            seen;
		marl::containers::list<std::pair<int, int>>::iterator its[] = {
			l.emplace_front(0, 0), l.emplace_front(1, 10),
			l.emplace_front(2, 20)
		};

		l.erase(its[erase]);
		EXPECT_EQ(l.size(), 2u);
		for (auto it = l.begin(); it != l.end(); ++it) {
			EXPECT_EQ(it->second, it->first * 10);
			seen.push_back(it->first);
		}
		ASSERT_EQ(seen.size(), 2u);
		EXPECT_EQ(seen[0], erase == 2 ? 1 : 2);
		EXPECT_EQ(seen[1], erase == 0 ? 1 : 0);
	}
}

TEST_F(ContainersAlone, a_list_uses_its_memory_again)
{
	marl::containers::list<int> l(&memory);

	for (int i = 0; i < 8; ++i)
		l.emplace_front(i);
	auto before = memory.stats().bytesAllocated();

	for (int i = 0; i < 1000; ++i) {
		l.erase(l.begin());
		l.emplace_front(i);
	}
	EXPECT_EQ(memory.stats().bytesAllocated(), before);
}

TEST_F(ContainersAlone, the_standard_ones_use_the_allocator)
{
	marl::containers::deque<int>              d(&memory);
	marl::containers::map<int, int>           m(&memory);
	marl::containers::set<int>                s(&memory);
	marl::containers::unordered_map<int, int> um(&memory);
	marl::containers::unordered_set<int>      us(&memory);

	d.push_back(1);
	d.push_back(2);
	m[1] = 2;
	s.insert(3);
	um[4] = 5;
	us.insert(6);
	EXPECT_GT(memory.stats().numAllocations(), 0u);
	EXPECT_EQ(marl::containers::take(d), 1);
	EXPECT_EQ(marl::containers::take(d), 2);
	EXPECT_EQ(marl::containers::take(us), 6);
	EXPECT_TRUE(us.empty());
}

using ContainersDeathTest = Alone;

TEST_F(ContainersDeathTest, a_vector_has_no_more_than_it_has)
{
	vector<int, 2> v(&memory);

	EXPECT_DEATH(v.pop_back(), "empty vector");
	EXPECT_DEATH(v.back(), "beyond");
	EXPECT_DEATH(v[0], "beyond");
}

} // namespace
