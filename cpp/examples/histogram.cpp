/* SPDX-License-Identifier: Apache-2.0 */
/* histogram.cpp - computes the lengths of the words of a text on all workers.
 * The steps are a graph that is built once and run for each text. Each step is
 * a parallel loop.
 *
 *	cut --> sort --------> show
 *	    \-> histogram --/
 */
#include <sennit.hpp>
#include <sennit/cpp/dag.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <vector>

static constexpr std::size_t longest = 12;

using histogram = std::array<int, longest + 1>;

struct job {
	std::string                   text;
	std::vector<std::string_view> words;
	std::vector<std::string_view> sorted;
	histogram                     lengths{};
};

/* Find the beginnings of words. For each letter the scan gives the number of
 * words that have begun before it, which is the index of a word that begins
 * there. */
static void cut(job &j)
{
	const std::string &t = j.text;
	std::vector<int>   begins(t.size()), place(t.size());

	sennit::parallel_for(std::size_t(0), t.size(), [&](std::size_t i) {
		begins[i] = t[i] != ' ' && (!i || t[i - 1] == ' ');
	});
	sennit::parallel_exclusive_scan(begins.begin(), begins.end(),
					place.begin(), 0);
	j.words.resize(t.empty() ? 0
				 : std::size_t(place.back() + begins.back()));
	sennit::parallel_for(std::size_t(0), t.size(), [&](std::size_t i) {
		if (begins[i])
			j.words[std::size_t(place[i])] =
				std::string_view(t).substr(i,
							   t.find(' ', i) - i);
	});
}

static void sort(job &j)
{
	j.sorted = j.words; /* another node counts them meanwhile */
	sennit::parallel_sort(j.sorted);
}

static void count(job &j)
{
	j.lengths = sennit::parallel_reduce(
		std::size_t(0), j.words.size(), histogram{},
		[&](histogram &h, std::size_t i) {
			h[std::min(j.words[i].size(), longest)]++;
		},
		[](histogram &left, const histogram &right) {
			for (std::size_t i = 0; i < left.size(); i++)
				left[i] += right[i];
		});
}

static void show(job &j)
{
	const std::string first(j.sorted.front()), last(j.sorted.back());

	std::printf("%zu words, from %s to %s; by length:", j.words.size(),
		    first.c_str(), last.c_str());
	for (std::size_t i = 1; i < j.lengths.size(); i++)
		std::printf(" %d", j.lengths[i]);
	std::puts("");
}

static std::string babble(unsigned seed)
{
	std::mt19937 random(seed);
	std::string  text = "a";

	for (int i = 0; i < 100000; i++)
		text += random() % 6 ? static_cast<char>('a' + random() % 26)
				     : ' ';
	return text;
}

int main()
{
	sennit::scheduler        s{ sennit::config() };
	sennit::binding          bound(s);
	sennit::dag_builder<job> b;

	const auto first = b.add(cut, "cut");
	const auto sorted = b.add(sort, "sort");
	const auto counted = b.add(count, "histogram");
	const auto shown = b.add(show, "show");

	b.order(first, sorted).order(first, counted);
	b.order(sorted, shown).order(counted, shown);

	auto steps = b.build();

	for (unsigned seed = 1; seed <= 3; seed++) {
		job j;

		j.text = babble(seed);
		steps.run(j);
	}
}
