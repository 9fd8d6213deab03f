/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.hpp - parallel.h with lambdas, iterators and exceptions.
 *
 *	sennit::parallel_for(0, n, [&](int i) { x[i] = f(y[i]); });
 *	sennit::parallel_for_each(parts, [](part &p) { p.fetch(); });
 *	sum = sennit::parallel_reduce(v.begin(), v.end(), 0.0);
 *	sennit::parallel_inclusive_scan(v.begin(), v.end(), sums.begin());
 *	sennit::parallel_sort(v, std::greater<>());	(parallel_sort.hpp)
 *
 * Iterators are random access ones. What is called is called by several workers
 * at once, by reference: it is not copied. What it throws stops the loop, and
 * is thrown again, the first alone, when no piece is under way any more.
 * sennit::cancelled is thrown when the caller's group is cancelled,
 * std::system_error for std::errc::timed_out at the deadline, std::bad_alloc
 * before anything was called.
 */
#ifndef SENNIT_CPP_PARALLEL_HPP
#define SENNIT_CPP_PARALLEL_HPP

#include "sennit/cpp/parallel_for.hpp"
#include "sennit/cpp/parallel_reduce.hpp"
#include "sennit/cpp/parallel_scan.hpp"

#endif
