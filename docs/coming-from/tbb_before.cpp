/* SPDX-License-Identifier: Apache-2.0 */
/* tbb_before.cpp - counts primes by a reduction; a task group that ends with an
 * exception cancels the rest. */
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>
#include <tbb/task_group.h>

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
	return tbb::parallel_reduce(
		tbb::blocked_range<long>(2, end), 0L,
		[](const tbb::blocked_range<long> &r, long sum) {
			for (long n = r.begin(); n < r.end(); n++)
				sum += is_prime(n);
			return sum;
		},
		std::plus<long>());
}

int main()
{
	tbb::task_group g;
	long            few = 0;

	g.run([&] { few = count_primes(1000); });
	g.run([] { throw std::runtime_error("no such file"); });
	try {
		g.wait();
	} catch (const std::exception &e) {
		std::printf("%s\n", e.what());
	}
	std::printf("%ld primes\n", count_primes(100000));
	return 0;
}
