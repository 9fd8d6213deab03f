/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.hpp - parallel.h with lambdas, iterators and exceptions.
 *
 *	sennit::parallel_for(0, n, [&](int i) { x[i] = f(y[i]); });
 *	sennit::parallel_for_each(parts, [](part &p) { p.fetch(); });
 *	sum = sennit::parallel_reduce(v.begin(), v.end(), 0.0);
 *	sennit::parallel_inclusive_scan(v.begin(), v.end(), sums.begin());
 *	sennit::parallel_sort(v, std::greater<>());	(parallel_sort.hpp)
 *
 * Iterators must be random access iterators. Several workers call the given
 * function at once, by reference; it is not copied. An exception of the
 * function stops the loop. The call rethrows the first exception once no piece
 * is running. It throws sennit::cancelled if the caller's group is cancelled,
 * std::system_error with std::errc::timed_out at the deadline, and
 * std::bad_alloc before any function is called.
 */
#ifndef SENNIT_CPP_PARALLEL_HPP
#define SENNIT_CPP_PARALLEL_HPP

#include "sennit/cpp/parallel_for.hpp"
#include "sennit/cpp/parallel_reduce.hpp"
#include "sennit/cpp/parallel_scan.hpp"

#endif
