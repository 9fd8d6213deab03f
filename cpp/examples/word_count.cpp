/* SPDX-License-Identifier: Apache-2.0 */
/* word_count.cpp - counts the words of files. Reading blocks, so it runs on
 * helper threads. Counting is spread over the workers. The first file that
 * cannot be read ends the program with an exception.
 *
 *	word_count [FILE...]	without files, its own text
 */
#include <sennit.hpp>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

using counts = std::map<std::string, int>;

static std::string read(const std::string &path)
{
	std::ifstream in(path);

	if (!in)
		throw std::runtime_error("cannot read " + path);
	return { std::istreambuf_iterator<char>(in), {} };
}

static counts count(const std::string &text)
{
	std::istringstream words(text);
	counts             found;

	for (std::string word; words >> word;)
		found[word]++;
	return found;
}

static counts count_all(const std::vector<std::string> &paths)
{
	sennit::mutex lock;
	counts        total;
	sennit::group files;

	for (const auto &path : paths)
		files.spawn([&] {
			const auto text = sennit::blocking_call(read, path);
			const auto mine = count(text);

			std::lock_guard<sennit::mutex> guard(lock);
			for (const auto &[word, n] : mine)
				total[word] += n;
		});
	files.wait();
	return total;
}

int main(int argc, char *argv[])
{
	std::vector<std::string> paths(argv + 1, argv + argc);

	if (paths.empty())
		paths.assign({ "/proc/self/status", "/proc/self/limits" });
	try {
		sennit::scheduler s{ sennit::config() };
		sennit::binding   bound(s);
		int               words = 0;

		for (const auto &entry : count_all(paths))
			words += entry.second;
		std::printf("%d words in %zu files\n", words, paths.size());
	} catch (const std::exception &e) {
		std::fprintf(stderr, "word_count: %s\n", e.what());
		return 1;
	}
	return 0;
}
