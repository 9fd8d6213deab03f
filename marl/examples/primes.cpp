/* SPDX-License-Identifier: Apache-2.0 */
/* primes.cpp - primes [LIMIT]: counts the primes below LIMIT, range by range.
 *
 * Each range is a task. The tasks end in any order. A ticket for each makes
 * them report in the order of the ranges.
 */
#include "marl/defer.h"
#include "marl/scheduler.h"
#include "marl/ticket.h"
#include "marl/waitgroup.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

static const long RANGE = 50000;

static bool is_prime(long n)
{
	if (n < 2)
		return false;
	for (long d = 2; d * d <= n; ++d)
		if (n % d == 0)
			return false;
	return true;
}

static long count(long first, long last)
{
	long primes = 0;

	for (long n = first; n <= last; ++n)
		primes += is_prime(n);
	return primes;
}

int main(int argc, char **argv)
{
	const long limit = argc > 1 ? std::atol(argv[1]) : 500000;

	marl::Scheduler scheduler(marl::Scheduler::Config::allCores());

	scheduler.bind();
	defer(scheduler.unbind());

	marl::Ticket::Queue queue;
	marl::WaitGroup     left;
	std::atomic<long>   all{ 0 };

	for (long first = 0; first < limit; first += RANGE) {
		marl::Ticket turn = queue.take();
		long         last = first + RANGE <= limit ? first + RANGE - 1
							   : limit - 1;

		left.add();
		marl::schedule([=, &all] {
			defer(left.done());
			long primes = count(first, last);

			turn.wait();
			std::printf("%7ld to %7ld: %5ld\n", first, last,
				    primes);
			turn.done();
			all += primes;
		});
	}
	left.wait();
	std::printf("primes below %ld: %ld\n", limit, all.load());
	return argc > 1 || all == 41538 ? 0 : 1;
}
