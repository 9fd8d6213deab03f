/* SPDX-License-Identifier: Apache-2.0 */
/* lambdas.cpp - from C++: tasks are lambdas, and an exception of one ends the
 * group. */
#include <sennit.hpp>

#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

static std::vector<std::string> lengths_of(const std::vector<std::string> &all)
{
	sennit::mutex            lock;
	std::vector<std::string> result;
	sennit::group            group;

	for (const std::string &one : all)
		group.spawn([&] {
			if (one.empty())
				throw std::invalid_argument("an empty string");
			std::lock_guard<sennit::mutex> guard(lock);
			result.push_back(std::to_string(one.size()));
		});
	group.wait(); /* throws what a member has thrown */
	return result;
}

int main()
{
	sennit::scheduler s{ sennit::config().with_workers(2) };
	sennit::binding   bound(s);
	std::size_t       count = lengths_of({ "warp", "weft", "reed" }).size();

	std::printf("%zu lengths\n", count);
	try {
		lengths_of({ "warp", "", "reed" });
	} catch (const std::invalid_argument &e) {
		std::printf("%s\n", e.what());
		return count == 3 ? 0 : 1;
	}
	return 1;
}
