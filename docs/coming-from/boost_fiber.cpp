/* SPDX-License-Identifier: Apache-2.0 */
/* boost_fiber.cpp - a producer, a channel, a consumer, and a future. */
#include <sennit.hpp>

#include <cstdio>

int main()
{
	sennit::scheduler    s{ sennit::config() };
	sennit::binding      bound(s);
	sennit::channel<int> numbers(8);
	sennit::future<int>  bonus;
	sennit::group        fibers;
	long                 sum = 0;

	fibers.spawn([&] {
		for (int i = 1; i <= 100; i++)
			numbers.send(i);
		numbers.close();
	});
	fibers.spawn([&] {
		for (int n : numbers)
			sum += n;
	});
	bonus = sennit::async([] { return 950; });
	fibers.wait();
	sum += bonus.get();
	std::printf("sum %ld\n", sum);
	return sum == 6000 ? 0 : 1;
}
