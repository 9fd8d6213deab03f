/* SPDX-License-Identifier: Apache-2.0 */
/* chained.cpp - asks three mirrors at once and uses the first answer. A
 * continuation processes the answer when it comes. */
#include <sennit.hpp>

#include <chrono>
#include <cstdio>
#include <string>

using namespace std::chrono_literals;

static std::string ask(const char *mirror, std::chrono::milliseconds distance)
{
	sennit::this_fiber::sleep_for(distance); /* other tasks run meanwhile */
	return std::string("answer of ") + mirror;
}

int main()
{
	sennit::scheduler s{ sennit::config() };
	sennit::binding   bound(s);

	auto near = sennit::async(ask, "near", 2ms);
	auto far = sennit::async(ask, "far", 20ms);
	auto lost = sennit::async(ask, "lost", 50ms);

	const std::size_t first = sennit::wait_any(near, far, lost);
	auto             &winner = first == 0 ? near : first == 1 ? far : lost;
	auto length = std::move(winner).then([](const std::string &answer) {
		std::printf("%s\n", answer.c_str());
		return answer.size();
	});

	if (length.wait_for(30s))
		std::printf("%zu letters\n", length.get());
	return 0;
}
