/* SPDX-License-Identifier: Apache-2.0 */
/* first_answer.cpp - from C++: asks all mirrors at once, takes the first answer
 * that comes in time, and cancels the others. */
#include <sennit.hpp>

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

using namespace std::chrono_literals;

struct mirror {
	std::string               name;
	std::chrono::microseconds takes;
};

/* Each wait in it throws sennit::cancelled once the group is cancelled. */
static std::string ask(const mirror &m)
{
	sennit::this_fiber::sleep_for(m.takes); /* stands for a receive */
	return m.name;
}

static std::string first_answer(const std::vector<mirror> &mirrors,
				std::chrono::milliseconds  patience)
{
	std::vector<sennit::promise<std::string>> asked(mirrors.size());
	std::vector<sennit::future<std::string>>  answers;
	sennit::group                             group;

	for (std::size_t i = 0; i < mirrors.size(); i++) {
		answers.push_back(asked[i].get_future());
		group.spawn([&, i] {
			asked[i].set_by([&] { return ask(mirrors[i]); });
		});
	}

	const auto first = sennit::wait_any_for(patience, answers);

	if (!first)
		throw std::runtime_error("nobody answers");
	return answers[*first].get();
	/* The group ends first: it cancels its members and waits for them. */
}

static int try_both()
{
	std::printf(
		"%s\n",
		first_answer({ { "far", 1h }, { "near", 1us } }, 60s).c_str());
	try {
		first_answer({ { "far", 1h }, { "dead", 2h } }, 5ms);
	} catch (const std::runtime_error &e) {
		std::printf("%s\n", e.what());
		return 0;
	}
	return 1;
}

int main()
{
	return sennit::run(try_both);
}
