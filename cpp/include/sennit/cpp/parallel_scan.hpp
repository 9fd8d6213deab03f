/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_scan.hpp - running sums over ranges (see parallel.hpp). */
#ifndef SENNIT_CPP_PARALLEL_SCAN_HPP
#define SENNIT_CPP_PARALLEL_SCAN_HPP

#include "sennit/cpp/parallel_reduce.hpp"

#include <functional>
#include <new>
#include <optional>

SENNIT_CPP_BEGIN

namespace detail
{

/* Whether sums of T by Op can be scanned. */
template <typename Op, typename T, typename It>
inline constexpr bool scans = is_plain<std::optional<T>>
	&&adds<Op, T, reference<It>> &&adds<Op, T, const T &>;

/* A scan. `put(sum, i)` accumulates and outputs. */
template <typename T, typename It, typename Op, typename Put> struct scan {
	It     first;
	Op    &op;
	Put   &put;
	caught problem;

	using sum = std::optional<T>;
	static sum &sum_of(void *accumulator)
	{
		return *std::launder(static_cast<sum *>(accumulator));
	}
	static void identity(void *, void *accumulator)
	{
		::new (accumulator) sum();
	}
	static int accumulate(void *context, void *accumulator,
			      std::size_t begin, std::size_t end)
	{
		scan &s = *static_cast<scan *>(context);

		return s.problem.call([&] {
			for (std::size_t i = begin; i < end; i++)
				add_to(sum_of(accumulator), s.op,
				       element(s.first, i));
		});
	}
	static int put_out(void *context, void *accumulator, std::size_t begin,
			   std::size_t end)
	{
		scan &s = *static_cast<scan *>(context);

		return s.problem.call([&] {
			for (std::size_t i = begin; i < end; i++)
				s.put(sum_of(accumulator), i);
		});
	}
	static void combine(void *context, void *left, const void *right)
	{
		scan      &s = *static_cast<scan *>(context);
		const sum &more =
			*std::launder(static_cast<const sum *>(right));

		if (more && !s.problem.any())
			s.problem.run(
				[&] { add_to(sum_of(left), s.op, *more); });
	}

	void run(std::size_t n, const parallel_options &o)
	{
		sennit_scan how{};

		how.reduction.accumulator_size = sizeof(sum);
		how.reduction.identity = identity;
		how.reduction.accumulate = accumulate;
		how.reduction.combine = combine;
		how.put_out = put_out;
		finish(problem,
		       sennit_parallel_scan(0, n, &how, this, nullptr, &o,
					    o.deadline),
		       o.error, "parallel_scan");
	}
};

} // namespace detail

/* Store out[i] = op(...op(first[0], first[1]), ..., first[i]), for a trivially
 * copyable value type. out may be first. Returns the end of the output. On
 * error any part of the output may have been written. */
template <typename It, typename Out, typename Op = std::plus<>,
	  typename = detail::difference<It>>
Out parallel_inclusive_scan(It first, It last, Out out, Op op = Op(),
			    const parallel_options &o = parallel_options())
{
	using value = typename std::iterator_traits<It>::value_type;
	constexpr bool scans = detail::scans<Op, value, It>;

	static_assert(scans, "sennit: a scan needs op(sum, element), which "
			     "returns a sum of a trivially copyable type");
	if constexpr (scans) {
		auto put = [&](std::optional<value> &sum, std::size_t i) {
			detail::add_to(sum, op, detail::element(first, i));
			detail::element(out, i) = *sum;
		};

		detail::scan<value, It, Op, decltype(put)>{
			first, op, put, {}
		}.run(static_cast<std::size_t>(last - first), o);
	}
	return out + (last - first);
}

/* Store out[i] = op(...op(init, first[0]), ..., first[i-1]), for a trivially
 * copyable T. out may be first. Returns the end of the output. On error any
 * part of the output may have been written. */
template <typename It, typename Out, typename T, typename Op = std::plus<>,
	  typename = detail::difference<It>>
Out parallel_exclusive_scan(It first, It last, Out out, T init, Op op = Op(),
			    const parallel_options &o = parallel_options())
{
	constexpr bool scans = detail::scans<Op, T, It>;

	static_assert(scans, "sennit: a scan needs op(sum, element), which "
			     "returns a sum of a trivially copyable type");
	if constexpr (scans) {
		/* If there is no sum, i is the first index of the range. */
		auto put = [&](std::optional<T> &sum, std::size_t i) {
			const T before = sum ? *sum : init;

			sum = op(before, detail::element(first, i));
			detail::element(out, i) = before;
		};

		detail::scan<T, It, Op, decltype(put)>{
			first, op, put, {}
		}.run(static_cast<std::size_t>(last - first), o);
	}
	return out + (last - first);
}

SENNIT_CPP_END

#endif
