/* SPDX-License-Identifier: Apache-2.0 */
/* tbb.cpp - counts primes by a reduction; a group whose member ends with an
 * exception cancels the rest. */
#include <sennit.hpp>

#include <cstdio>
#include <functional>
#include <stdexcept>

static bool is_prime(long n)
{
	for (long d = 2; d * d <= n; d++)
		if (n % d == 0)
			return false;
	return true;
}

static long count_primes(long end)
{
	return sennit::parallel_reduce(
		2L, end, 0L, [](long &sum, long n) { sum += is_prime(n); },
		[](long &left, long right) { left += right; });
}

int main()
{
	sennit::scheduler s{ sennit::config() };
	sennit::binding   bound(s);
	sennit::group     g;
	long              few = 0;

	g.spawn([&] { few = count_primes(1000); });
	g.spawn([] { throw std::runtime_error("no such file"); });
	try {
		g.wait();
	} catch (const std::exception &e) {
		std::printf("%s\n", e.what());
	}
	std::printf("%ld primes\n", count_primes(100000));
	return 0;
}
