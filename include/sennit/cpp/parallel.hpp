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

#include "sennit/cpp/caught.hpp"
#include "sennit/cpp/mutex.hpp"
#include "sennit/cpp/scheduler.hpp"
#include "sennit/parallel.h"

#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>

namespace sennit
{

/* How to go about it; all of it optional. */
struct parallel_options : sennit_parallel_options {
	parallel_options() noexcept : sennit_parallel_options()
	{
	}

	/* What is worth being a piece; see the C calls. */
	parallel_options &with_grain(std::size_t n) noexcept
	{
		grain = n;
		return *this;
	}
	parallel_options &until(
		std::chrono::steady_clock::time_point t) noexcept
	{
		deadline = detail::nanoseconds_of(t.time_since_epoch());
		if (!deadline)
			deadline = 1; /* long past */
		return *this;
	}
	/* Not on the bound scheduler. s stays until the call has returned. */
	parallel_options &on(const sennit::scheduler &s) noexcept
	{
		scheduler = detail::needed(s.get(),
					   "sennit::parallel_options::on");
		return *this;
	}
	/* SENNIT_PARALLEL_DETERMINISTIC. */
	parallel_options &deterministic() noexcept
	{
		flags |= SENNIT_PARALLEL_DETERMINISTIC;
		return *this;
	}
	/* Errors are stored in code, or 0, and not thrown; exceptions of what
	 * is called still are. */
	parallel_options &error_to(std::error_code &code) noexcept
	{
		error = &code;
		return *this;
	}

	std::error_code *error = nullptr;
};

namespace detail
{

/* A call has returned err: throw what there is to throw. */
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

/* How many there are from begin to end. */
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

	const int err = sennit_parallel_for(0, n, loop::run, &l, &o);

	finish(l.problem, err, o.error, "parallel_for");
}

/* Call f(i) for all i of [begin, end), until one returns an error. */
template <typename F> auto call_each(F &f, std::size_t begin, std::size_t end)
{
	using result = std::invoke_result_t<F &, std::size_t>;

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

/* Call f(i) for every i of [begin, end); or f(b, e) for pieces that make it up,
 * if that is how it can be called. f returns nothing, or an int: 0 or a
 * negative errno value, which stops the loop as an exception does. */
template <typename I, typename J, typename F,
	  typename Index = detail::index_of<I, J>>
void parallel_for(I begin, J end, F &&f,
		  const parallel_options &o = parallel_options())
{
	const Index first = static_cast<Index>(begin);
	const auto  n = detail::count(first, static_cast<Index>(end));

	if constexpr (std::is_invocable_v<F &, Index, Index>) {
		auto piece = [&](std::size_t b, std::size_t e) {
			return f(detail::at(first, b), detail::at(first, e));
		};
		detail::for_pieces(n, piece, o);
	} else {
		auto one = [&](std::size_t i) {
			return f(detail::at(first, i));
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
	auto one = [&](std::size_t i) { return f(detail::element(first, i)); };
	auto piece = [&](std::size_t b, std::size_t e) {
		return detail::call_each(one, b, e);
	};

	detail::for_pieces(static_cast<std::size_t>(last - first), piece, o);
}

/* The same of a container, an array or whatever else has begin and end. */
template <typename Range, typename F,
	  typename = decltype(std::begin(std::declval<Range &>()))>
void parallel_for_each(Range &&range, F &&f,
		       const parallel_options &o = parallel_options())
{
	parallel_for_each(std::begin(range), std::end(range), f, o);
}

/* --- reduce ------------------------------------------------------------- */

namespace detail
{

/* Values of T of which the library moves the address alone: it drops those of a
 * call that stops, and they are deleted here. */
template <typename T> class boxes
{
public:
	struct box {
		T     value;
		box  *next;
		box **link;
	};

	boxes() = default;
	boxes(const boxes &) = delete;
	boxes &operator=(const boxes &) = delete;
	~boxes()
	{
		while (first_)
			drop(first_);
	}
	box *make(const T &value)
	{
		box *const b = new box{ value, nullptr, &first_ };

		const std::lock_guard<mutex> guard(lock_);
		b->next = first_;
		if (first_)
			first_->link = &b->next;
		first_ = b;
		return b;
	}
	void drop(box *b)
	{
		lock_.lock();
		*b->link = b->next;
		if (b->next)
			b->next->link = b->link;
		lock_.unlock();
		delete b;
	}

private:
	mutex lock_;
	box  *first_ = nullptr; /* under lock_ */
};

/* Whether a T may be an accumulator itself. */
template <typename T>
inline constexpr bool is_plain = std::is_trivially_copyable_v<T> &&
				 alignof(T) <= 16;

/* add(sum, begin, end) for indices from 0; join(left, right). */
template <typename T, typename Add, typename Join> class reduction
{
public:
	reduction(const T &identity, Add &add, Join &join)
	    : identity_(identity), add_(add), join_(join)
	{
	}

	T reduce(std::size_t n, const parallel_options &o)
	{
		sennit_reduction how{};
		stored           result = unset();
		int              err;

		how.size = sizeof(stored);
		how.identity = identity;
		how.accumulate = accumulate;
		how.combine = combine;
		err = sennit_parallel_reduce(0, n, &how, this, &result, &o);
		if (!err && problem_.any())
			err = -caught::threw;
		finish(problem_, err, o.error, "parallel_reduce");
		if (err)
			return identity_;
		if constexpr (is_plain<T>)
			return result;
		else
			return std::move(result->value);
	}

private:
	using box = typename boxes<T>::box;
	using stored = std::conditional_t<is_plain<T>, T, box *>;

	stored unset() const
	{
		if constexpr (is_plain<T>)
			return identity_;
		else
			return nullptr;
	}

	/* Of an accumulator of C. NULL: its making has thrown. */
	static T *value_of(void *accumulator)
	{
		stored *const s =
			std::launder(static_cast<stored *>(accumulator));

		if constexpr (is_plain<T>)
			return s;
		else
			return *s ? &(*s)->value : nullptr;
	}

	static void identity(void *context, void *accumulator)
	{
		reduction *const r = static_cast<reduction *>(context);

		if constexpr (is_plain<T>) {
			::new (accumulator) T(r->identity_);
		} else {
			box **b = ::new (accumulator) box *(nullptr);

			r->problem_.run(
				[&] { *b = r->boxes_.make(r->identity_); });
		}
	}
	static int accumulate(void *context, void *accumulator,
			      std::size_t begin, std::size_t end)
	{
		reduction *const r = static_cast<reduction *>(context);
		T *const         sum = value_of(accumulator);

		if (!sum || r->problem_.any())
			return -caught::threw;
		return r->problem_.call(
			[&] { return r->add_(*sum, begin, end); });
	}
	static void combine(void *context, void *left, const void *right)
	{
		reduction *const r = static_cast<reduction *>(context);
		T *const         from = value_of(const_cast<void *>(right));
		T *const         to = value_of(left);

		if (to && from && !r->problem_.any())
			r->problem_.run([&] { r->join_(*to, *from); });
		if constexpr (!is_plain<T>)
			if (from)
				r->boxes_.drop(
					*static_cast<box *const *>(right));
	}

	const T &identity_;
	Add     &add_;
	Join    &join_;
	caught   problem_;
	boxes<T> boxes_;
};

template <typename T, typename Add, typename Join>
T reduce(std::size_t n, const T &identity, Add &add, Join &join,
	 const parallel_options &o)
{
	return reduction<T, Add, Join>(identity, add, join).reduce(n, o);
}

/* A sum of some, or of none. */
template <typename T, typename Op, typename Element>
void add_to(std::optional<T> &sum, Op &op, Element &&e)
{
	if (sum)
		*sum = op(std::move(*sum), std::forward<Element>(e));
	else
		sum.emplace(std::forward<Element>(e));
}

} // namespace detail

/* Reduce [begin, end): add(sum, i), or add(sum, b, e) for a piece, adds to the
 * sum of what is before; join(left, right) adds the sum `right`, which may be
 * moved from, to the sum `left` of what is before that. Every sum begins as a
 * copy of identity. Returns the whole; a copy of identity after an error.
 * Sums are values of any type T that can be copied; trivially copyable ones
 * cost least. add may return an int, as in parallel_for. */
template <typename I, typename J, typename T, typename Add, typename Join,
	  typename Index = detail::index_of<I, J>>
T parallel_reduce(I begin, J end, T identity, Add &&add, Join &&join,
		  const parallel_options &o = parallel_options())
{
	const Index first = static_cast<Index>(begin);
	const auto  n = detail::count(first, static_cast<Index>(end));

	if constexpr (std::is_invocable_v<Add &, T &, Index, Index>) {
		auto piece = [&](T &sum, std::size_t b, std::size_t e) {
			return add(sum, detail::at(first, b),
				   detail::at(first, e));
		};
		return detail::reduce(n, identity, piece, join, o);
	} else {
		auto piece = [&](T &sum, std::size_t b, std::size_t e) {
			auto one = [&](std::size_t i) {
				return add(sum, detail::at(first, i));
			};
			return detail::call_each(one, b, e);
		};
		return detail::reduce(n, identity, piece, join, o);
	}
}

/* op(...op(op(init, *first), ...)...), grouped at will but in order: op must be
 * associative, as far as that matters, and need not be commutative. */
template <typename It, typename T, typename Op = std::plus<>,
	  typename = detail::difference<It>>
T parallel_reduce(It first, It last, T init, Op op = Op(),
		  const parallel_options &o = parallel_options())
{
	using sum = std::optional<T>;

	auto add = [&](sum &s, std::size_t b, std::size_t e) {
		for (std::size_t i = b; i < e; i++)
			detail::add_to(s, op, detail::element(first, i));
	};
	auto join = [&](sum &left, sum &right) {
		if (right)
			detail::add_to(left, op, std::move(*right));
	};
	sum all = detail::reduce(static_cast<std::size_t>(last - first), sum(),
				 add, join, o);

	if (all)
		return op(std::move(init), std::move(*all));
	return init;
}

/* --- scan --------------------------------------------------------------- */

namespace detail
{

/* `put(sum, i)` accumulates and puts out. */
template <typename T, typename It, typename Op, typename Put> struct scan {
	It     first;
	Op    &op;
	Put   &put;
	caught problem;

	using sum = std::optional<T>;
	static_assert(is_plain<sum>,
		      "sums of a scan must be trivially copyable");

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

		how.reduction.size = sizeof(sum);
		how.reduction.identity = identity;
		how.reduction.accumulate = accumulate;
		how.reduction.combine = combine;
		how.put_out = put_out;
		finish(problem,
		       sennit_parallel_scan(0, n, &how, this, nullptr, &o),
		       o.error, "parallel_scan");
	}
};

} // namespace detail

/* out[i] = op(...op(first[0], first[1]), ..., first[i]), for a trivially
 * copyable value type. out may be first. Returns the end of the output. On
 * error any part of it may be there. */
template <typename It, typename Out, typename Op = std::plus<>,
	  typename = detail::difference<It>>
Out parallel_inclusive_scan(It first, It last, Out out, Op op = Op(),
			    const parallel_options &o = parallel_options())
{
	using value = typename std::iterator_traits<It>::value_type;

	auto put = [&](std::optional<value> &sum, std::size_t i) {
		detail::add_to(sum, op, detail::element(first, i));
		detail::element(out, i) = *sum;
	};

	detail::scan<value, It, Op, decltype(put)>{ first, op, put, {} }.run(
		static_cast<std::size_t>(last - first), o);
	return out + (last - first);
}

/* out[i] = op(...op(init, first[0]), ..., first[i-1]), likewise, for a
 * trivially copyable T. */
template <typename It, typename Out, typename T, typename Op = std::plus<>,
	  typename = detail::difference<It>>
Out parallel_exclusive_scan(It first, It last, Out out, T init, Op op = Op(),
			    const parallel_options &o = parallel_options())
{
	/* Without a sum it is the first of all that is put out. */
	auto put = [&](std::optional<T> &sum, std::size_t i) {
		const T before = sum ? *sum : init;

		sum = op(before, detail::element(first, i));
		detail::element(out, i) = before;
	};

	detail::scan<T, It, Op, decltype(put)>{ first, op, put, {} }.run(
		static_cast<std::size_t>(last - first), o);
	return out + (last - first);
}

} // namespace sennit

#endif
