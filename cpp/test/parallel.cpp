/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.cpp - loops, sums, scans and sorts of C++ values: correct, in order,
 * and ended by exceptions. */
#include "world.hpp"

#include <deque>
#include <numeric>
#include <random>

namespace
{

class loops : public world
{
};
ON_WORKERS(loops);

/* A string, so that forgotten values leak and double frees are detected. */
std::string text_of(int i)
{
	return "a text that no small string holds: " + std::to_string(i);
}

std::vector<std::string> texts(int n)
{
	std::vector<std::string> all;

	for (int i = 0; i < n; i++)
		all.push_back(text_of(static_cast<int>(
			static_cast<unsigned>(i) * 7919u % 1009u)));
	return all;
}

/* --- for ---------------------------------------------------------------- */

TEST_P(loops, call_for_every_index_once)
{
	in_each_place([this] {
		const auto o = sennit::parallel_options().on(s);
		std::vector<std::atomic<int>> hits(1000);

		if (!GetParam() && !sennit_scheduler_current())
			return;
		sennit::parallel_for(
			0, hits.size(), [&](std::size_t i) { ++hits[i]; }, o);
		sennit::parallel_for(
			-5, 5, [&](int i) { hits[std::size_t(i + 5)] += 2; },
			o);
		sennit::parallel_for(
			5, -5, [&](int) { ADD_FAILURE(); }, o);
		for (std::size_t i = 0; i < hits.size(); i++)
			EXPECT_EQ(hits[i], i < 10 ? 3 : 1);
	});
}

TEST_P(loops, call_for_pieces_if_so_asked)
{
	std::atomic<unsigned> sum{ 0 };

	sennit::parallel_for(
		3u, 1000u,
		[&](unsigned begin, unsigned end) {
			EXPECT_TRUE(begin < end && end - begin <= 10);
			EXPECT_EQ((begin - 3) % 10, 0u);
			sum += end - begin;
		},
		sennit::parallel_options().with_grain(10));
	EXPECT_EQ(sum, 997u);
}

TEST_P(loops, call_for_every_element)
{
	auto                             all = texts(500);
	std::deque<std::unique_ptr<int>> boxes;
	int                              plain[] = { 1, 2, 3 };

	sennit::parallel_for_each(all, [](std::string &t) { t += "!"; });
	for (int i = 0; i < 100; i++)
		boxes.push_back(std::make_unique<int>(i));
	sennit::parallel_for_each(boxes.begin() + 50, boxes.end(),
				  [](const std::unique_ptr<int> &b) {
					  sennit::this_fiber::yield();
					  *b *= -1;
				  });
	sennit::parallel_for_each(plain, [](int &i) { i *= 2; });
	for (const auto &t : all)
		EXPECT_EQ(t.back(), '!');
	for (int i = 0; i < 100; i++)
		EXPECT_EQ(*boxes[std::size_t(i)], i < 50 ? i : -i);
	EXPECT_EQ(plain[2], 6);
}

/* --- exceptions ----------------------------------------------------------- */

TEST_P(loops, throw_what_is_thrown_within)
{
	std::atomic<int> begun{ 0 };

	EXPECT_THROW(sennit::parallel_for(
			     0, 1000,
			     [&](int i) {
				     ++begun;
				     sennit::this_fiber::yield();
				     if (i % 100 == 7)
					     throw text_of(i);
			     },
			     sennit::parallel_options().with_grain(1)),
		     std::string);
	EXPECT_LT(begun, 1000);
	EXPECT_THROW(sennit::parallel_for(
			     0, 10, [](int i) { return i == 3 ? -EXDEV : 0; }),
		     std::system_error);
}

TEST_P(loops, end_at_their_deadline_and_with_their_group)
{
	const auto      past = std::chrono::steady_clock::now() - 1s;
	auto            o = sennit::parallel_options().until(past);
	std::error_code code;
	sennit::group   g;

	try {
		sennit::parallel_for(
			0, 10, [](int) { ADD_FAILURE(); }, o);
		ADD_FAILURE();
	} catch (const std::system_error &e) {
		EXPECT_EQ(e.code(), std::errc::timed_out);
	}
	EXPECT_EQ(sennit::parallel_reduce(
			  0, 10, std::string("none"),
			  [](std::string &, int) { ADD_FAILURE(); },
			  [](std::string &, std::string &) { ADD_FAILURE(); },
			  o.error_to(code)),
		  "none");
	EXPECT_EQ(code, std::errc::timed_out);
	sennit::parallel_for(
		0, 1, [](int) {}, sennit::parallel_options().error_to(code));
	EXPECT_FALSE(code);
	EXPECT_TRUE(g.spawn([&] {
		g.cancel();
		EXPECT_THROW(sennit::parallel_for(0, 10, [](int) {}),
			     sennit::cancelled);
	}));
	EXPECT_THROW(g.wait(), sennit::cancelled);
}

/* --- reduce --------------------------------------------------------------- */

TEST_P(loops, reduce_values_of_any_type_in_order)
{
	for (bool same : { false, true }) {
		auto o = sennit::parallel_options().with_grain(3);
		auto add = [](std::string &all, int i) {
			sennit::this_fiber::yield();
			all += char('a' + i % 26);
		};
		auto join = [](std::string &left, std::string &right) {
			left += std::move(right);
		};
		std::string serial;

		if (same)
			o.deterministic();
		for (int i = 0; i < 300; i++)
			add(serial, i);
		EXPECT_EQ(sennit::parallel_reduce(0, 300, std::string(), add,
						  join, o),
			  serial);
	}
}

struct interval {
	int  begin = 0, end = 0;
	char more[100] = {};
};

TEST_P(loops, reduce_plain_values_and_pieces)
{
	const auto all = sennit::parallel_reduce(
		10, 5000, interval(),
		[](interval &i, int begin, int end) {
			EXPECT_TRUE(!i.end || i.end == begin);
			if (!i.end)
				i.begin = begin;
			i.end = end;
		},
		[](interval &left, const interval &right) {
			if (!left.end)
				left = right;
			else if (right.end)
				left.end = right.end;
		},
		sennit::parallel_options().with_grain(7));

	EXPECT_EQ(all.begin, 10);
	EXPECT_EQ(all.end, 5000);
}

TEST_P(loops, reduce_what_iterators_show)
{
	std::vector<int> v(1000);
	const auto       t = texts(200);

	std::iota(v.begin(), v.end(), 1);
	EXPECT_EQ(sennit::parallel_reduce(v.begin(), v.end(), 5L), 500505L);
	EXPECT_EQ(sennit::parallel_reduce(v.begin(), v.begin(), 5L), 5L);
	EXPECT_EQ(sennit::parallel_reduce(
			  v.begin(), v.end(), 0,
			  [](int a, int b) { return std::max(a, b); }),
		  1000);
	EXPECT_EQ(sennit::parallel_reduce(t.begin(), t.end(),
					  std::string("all: ")),
		  std::accumulate(t.begin(), t.end(), std::string("all: ")));
}

TEST_P(loops, reductions_drop_their_sums_when_something_is_thrown)
{
	const auto o = sennit::parallel_options().with_grain(1);
	auto       add = [](std::string &all, int i) { all += text_of(i); };
	auto       join = [](std::string &left, std::string &right) {
                left += right;
	};

	EXPECT_THROW(sennit::parallel_reduce(
			     0, 500, std::string(),
			     [&](std::string &all, int i) {
				     add(all, i);
				     sennit::this_fiber::yield();
				     if (i == 250)
					     throw 1;
			     },
			     join, o),
		     int);
	EXPECT_THROW(sennit::parallel_reduce(
			     0, 500, std::string(), add,
			     [&](std::string &left, std::string &right) {
				     join(left, right);
				     throw 1L;
			     },
			     sennit::parallel_options(o).deterministic()),
		     long);
}

/* --- scan ----------------------------------------------------------------- */

TEST_P(loops, scan_as_the_standard_library_does)
{
	std::vector<int> v(3000), ours(3000), theirs(3000);

	std::iota(v.begin(), v.end(), -1000);
	EXPECT_EQ(sennit::parallel_inclusive_scan(v.begin(), v.end(),
						  ours.begin()),
		  ours.end());
	std::inclusive_scan(v.begin(), v.end(), theirs.begin());
	EXPECT_EQ(ours, theirs);
	for (bool same : { false, true }) {
		auto o = sennit::parallel_options();

		if (same)
			o.deterministic();
		ours = v;
		sennit::parallel_exclusive_scan(ours.begin(), ours.end(),
						ours.begin(), 17, std::plus<>(),
						o);
		std::exclusive_scan(v.begin(), v.end(), theirs.begin(), 17);
		EXPECT_EQ(ours, theirs);
	}
	EXPECT_THROW(
		sennit::parallel_inclusive_scan(
			v.begin(), v.end(), ours.begin(),
			[](int, int) -> int { throw std::string("scan"); }),
		std::string);
}

/* --- sort ----------------------------------------------------------------- */

TEST_P(loops, sort_plain_elements_wherever_they_lie)
{
	std::mt19937     random(1);
	std::vector<int> v(20000);
	std::deque<int>  d;

	for (int &i : v)
		i = static_cast<int>(random() % 1000);
	d.assign(v.begin(), v.end());

	auto sorted = v;

	std::sort(sorted.begin(), sorted.end());
	sennit::parallel_sort(v);
	EXPECT_EQ(v, sorted);
	sennit::parallel_sort(d.begin(), d.end());
	EXPECT_TRUE(std::equal(d.begin(), d.end(), sorted.begin()));
	sennit::parallel_sort(v.data(), v.data() + v.size(),
			      [](int a, int b) noexcept { return a > b; });
	EXPECT_TRUE(std::is_sorted(v.rbegin(), v.rend()));
	v.clear();
	sennit::parallel_sort(v);
}

TEST_P(loops, sort_other_elements_stably)
{
	using pair = std::pair<std::unique_ptr<std::string>, int>;

	std::vector<pair> v;
	auto              all = texts(6000);

	for (int i = 0; i < 6000; i++)
		v.emplace_back(
			std::make_unique<std::string>(all[std::size_t(i)]), i);
	auto less = [](const pair &a, const pair &b) {
		return *a.first < *b.first;
	};
	sennit::parallel_sort(v, less,
			      sennit::parallel_options().with_grain(100));
	for (std::size_t i = 1; i < v.size(); i++)
		EXPECT_TRUE(less(v[i - 1], v[i]) ||
			    (*v[i - 1].first == *v[i].first &&
			     v[i - 1].second < v[i].second));
}

/* Sort v with a comparison that throws after `comparisons` calls. */
template <typename V> void sort_until(V &v, long comparisons)
{
	std::atomic<long> left{ comparisons };

	EXPECT_THROW(sennit::parallel_sort(
			     v,
			     [&](const auto &a, const auto &b) {
				     if (left-- == 0)
					     throw std::string("compare");
				     return a < b;
			     },
			     sennit::parallel_options().with_grain(50)),
		     std::string);
}

TEST_P(loops, sorts_whose_comparison_throws_lose_nothing)
{
	const std::vector<std::string> all = texts(1500);
	std::vector<int>               numbers(1500);

	for (long n = 0; n < 12000; n += n / 2 + 100) {
		auto v = all;

		std::iota(numbers.rbegin(), numbers.rend(), 0);
		std::rotate(numbers.begin(), numbers.begin() + 700,
			    numbers.end());
		sort_until(numbers, n % 4000);
		std::sort(numbers.begin(), numbers.end());
		for (std::size_t i = 0; i < numbers.size(); i++)
			EXPECT_EQ(numbers[i], static_cast<int>(i));
		sort_until(v, n);
		EXPECT_EQ(v, all);
	}
}

} // namespace
