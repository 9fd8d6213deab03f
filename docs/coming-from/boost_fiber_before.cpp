/* SPDX-License-Identifier: Apache-2.0 */
/* boost_fiber_before.cpp - a producer, a channel, a consumer, and a future. */
#include <boost/fiber/all.hpp>

#include <cstdio>

namespace fibers = boost::fibers;

int main()
{
	fibers::buffered_channel<int> numbers(8);
	fibers::future<int>           bonus;
	long                          sum = 0;

	fibers::fiber producer([&] {
		for (int i = 1; i <= 100; i++)
			numbers.push(i);
		numbers.close();
	});
	fibers::fiber consumer([&] {
		for (int n : numbers)
			sum += n;
	});
	bonus = fibers::async([] { return 950; });
	producer.join();
	consumer.join();
	sum += bonus.get();
	std::printf("sum %ld\n", sum);
	return sum == 6000 ? 0 : 1;
}
