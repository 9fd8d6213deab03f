/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_for.hpp - loops over indices and ranges, and the options of all
 * parallel calls (see parallel.hpp).
 */
#ifndef SENNIT_CPP_PARALLEL_FOR_HPP
#define SENNIT_CPP_PARALLEL_FOR_HPP

#include "sennit/cpp/caught.hpp"
#include "sennit/cpp/scheduler.hpp"
#include "sennit/parallel.h"

#include <cstddef>
#include <iterator>
#include <type_traits>

SENNIT_CPP_BEGIN

/* Options of the parallel calls. */
struct parallel_options : sennit_parallel_options {
	parallel_options() noexcept : sennit_parallel_options()
	{
		size = sizeof(sennit_parallel_options);
	}

	/* The number of indices that is worth being a piece; see the C
	 * calls. */
	parallel_options &with_grain(std::size_t n) noexcept
	{
		grain = n;
		return *this;
	}
	parallel_options &until(
		std::chrono::steady_clock::time_point t) noexcept
	{
		deadline = detail::nanoseconds_of(t.time_since_epoch());
		return *this;
	}
	/* Run on s instead of the bound scheduler. s must exist until the call
	 * has returned. */
	parallel_options &on(const sennit::scheduler &s) noexcept
	{
		scheduler = detail::needed(s.get(),
					   "sennit::parallel_options::on");
		return *this;
	}
	parallel_options &on(const sennit::scheduler &&) = delete;
	/* Set SENNIT_PARALLEL_DETERMINISTIC. */
	parallel_options &deterministic() noexcept
	{
		flags |= SENNIT_PARALLEL_DETERMINISTIC;
		return *this;
	}
	/* Store errors, or 0, in code instead of throwing them. Exceptions of
	 * the given function are still thrown. */
	parallel_options &error_to(std::error_code &code) noexcept
	{
		error = &code;
		return *this;
	}

	std::error_code *error = nullptr;
	sennit_time      deadline = SENNIT_NEVER;
};

namespace detail
{

/* Throw the error or exception of a call that has returned err, if there is
 * one. */
inline void finish(caught &problem, int err, std::error_code *to,
		   const char *what)
{
	problem.rethrow();
	if (to)
		*to = code_of(err);
	else
		check(err, what);
}

template <typename I, typename J>
using index_of =
	std::enable_if_t<std::is_integral_v<I> && std::is_integral_v<J>,
			 std::common_type_t<I, J>>;

/* Return the number of indices from begin to end. */
template <typename I> std::size_t count(I begin, I end) noexcept
{
	return begin < end ? static_cast<std::size_t>(end) -
				     static_cast<std::size_t>(begin)
			   : 0;
}

template <typename I> I at(I begin, std::size_t i) noexcept
{
	return static_cast<I>(static_cast<std::size_t>(begin) + i);
}

template <typename It>
using difference = typename std::iterator_traits<It>::difference_type;

template <typename It>
using reference = typename std::iterator_traits<It>::reference;

/* Whether an F can be called with these arguments and returns a status. */
template <typename F, typename... Args>
inline constexpr bool                     is_body =
	std::is_invocable_v<F, Args...> &&is_status<result_of<F, Args...>>;

template <typename It> decltype(auto) element(const It &first, std::size_t i)
{
	return first[static_cast<difference<It>>(i)];
}

/* Call f(begin, end) for pieces of [0, n). */
template <typename F>
void for_pieces(std::size_t n, F &f, const parallel_options &o)
{
	struct loop {
		F     *f;
		caught problem;

		static int run(void *context, std::size_t begin,
			       std::size_t end)
		{
			loop &l = *static_cast<loop *>(context);

			return l.problem.call(
				[&] { return (*l.f)(begin, end); });
		}
	} l{ &f, {} };

	const int err = sennit_parallel_for(0, n, loop::run, &l, &o,
					    o.deadline);

	finish(l.problem, err, o.error, "parallel_for");
}

/* Call f(i) for all i of [begin, end), until a call returns an error. */
template <typename F> auto call_each(F &f, std::size_t begin, std::size_t end)
{
	using result = result_of<F &, std::size_t>;

	if constexpr (std::is_void_v<result>) {
		for (std::size_t i = begin; i < end; i++)
			f(i);
	} else {
		result err = 0;

		for (std::size_t i = begin; i < end && !err; i++)
			err = f(i);
		return err;
	}
}

} // namespace detail

/* Call f(i) for every i of [begin, end), or f(b, e) for pieces that make it up,
 * if f takes two arguments. f returns nothing, or an int: 0 or a negative errno
 * value, which stops the loop like an exception. */
template <typename I, typename J, typename F,
	  typename Index = detail::index_of<I, J>>
void parallel_for(I begin, J end, F &&f,
		  const parallel_options &o = parallel_options())
{
	static_assert(detail::is_body<F &, Index> ||
			      detail::is_body<F &, Index, Index>,
		      "sennit: parallel_for needs a function of (i) or of "
		      "(begin, end) that returns nothing or an int: 0 or a "
		      "negative errno value");

	const Index first = static_cast<Index>(begin);
	const auto  n = detail::count(first, static_cast<Index>(end));

	if constexpr (std::is_invocable_v<F &, Index, Index>) {
		auto piece = [&](std::size_t b, std::size_t e) {
			return f(detail::at(first, b), detail::at(first, e));
		};
		detail::for_pieces(n, piece, o);
	} else {
		auto one = [&](std::size_t i) {
			return detail::given<Index>(f)(detail::at(first, i));
		};
		auto piece = [&](std::size_t b, std::size_t e) {
			return detail::call_each(one, b, e);
		};
		detail::for_pieces(n, piece, o);
	}
}

/* Call f(*it) for every it of [first, last). */
template <typename It, typename F, typename = detail::difference<It>>
void parallel_for_each(It first, It last, F &&f,
		       const parallel_options &o = parallel_options())
{
	static_assert(
		detail::is_body<F &, detail::reference<It>>,
		"sennit: parallel_for_each needs a function of an element "
		"that returns nothing or an int: 0 or a negative errno "
		"value");

	auto one = [&](std::size_t i) {
		return detail::given<detail::reference<It>>(f)(
			detail::element(first, i));
	};
	auto piece = [&](std::size_t b, std::size_t e) {
		return detail::call_each(one, b, e);
	};

	detail::for_pieces(static_cast<std::size_t>(last - first), piece, o);
}

/* Call f(element) for every element of a container, an array or another type
 * that has begin and end. */
template <typename Range, typename F,
	  typename = decltype(std::begin(std::declval<Range &>()))>
void parallel_for_each(Range &&range, F &&f,
		       const parallel_options &o = parallel_options())
{
	parallel_for_each(std::begin(range), std::end(range), f, o);
}

SENNIT_CPP_END

#endif
