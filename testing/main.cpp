/* SPDX-License-Identifier: Apache-2.0 */
/* main.cpp - as main.c, for tests in C++: `test_cpp group` runs those of
 * cpp/test/group.cpp, `test_cpp --list` prints the names of all files. A
 * program of one file needs no name. Options of googletest come behind it. */
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <string>

namespace
{

std::string name_of(const std::string &file)
{
	const std::size_t from = file.find_last_of('/') + 1;

	return file.substr(from, file.find_last_of('.') - from);
}

/* The filter that chooses a file's tests, for each file. */
std::map<std::string, std::string> files()
{
	const testing::UnitTest &all = *testing::UnitTest::GetInstance();
	std::map<std::string, std::string> filters;

	for (int i = 0; i < all.total_test_suite_count(); i++) {
		const testing::TestSuite &suite = *all.GetTestSuite(i);

		for (int k = 0; k < suite.total_test_count(); k++) {
			const testing::TestInfo &test = *suite.GetTestInfo(k);

			filters[name_of(test.file())] +=
				std::string(suite.name()) + "." + test.name() +
				":";
		}
	}
	return filters;
}

} // namespace

int main(int argc, char **argv)
{
	const std::string word = argc > 1 ? argv[1] : "";

	testing::InitGoogleTest(&argc, argv);
	const auto filters = files();
	const auto chosen = filters.find(word);

	if (word == "--list") {
		for (const auto &file : filters)
			std::cout << file.first << "\n";
		return 0;
	}
	if (chosen != filters.end())
		testing::GTEST_FLAG(filter) = chosen->second;
	else if (filters.size() != 1) {
		std::cerr << "usage: " << argv[0] << " TEST | --list\n";
		return 2;
	}
	return RUN_ALL_TESTS();
}
