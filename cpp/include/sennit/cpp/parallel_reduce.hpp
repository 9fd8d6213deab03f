/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_reduce.hpp - sums over indices and ranges (see parallel.hpp). */
#ifndef SENNIT_CPP_PARALLEL_REDUCE_HPP
#define SENNIT_CPP_PARALLEL_REDUCE_HPP

#include "sennit/cpp/mutex.hpp"
#include "sennit/cpp/parallel_for.hpp"

#include <functional>
#include <mutex>
#include <new>
#include <optional>

SENNIT_CPP_BEGIN

namespace detail
{

/* Values of T of which the library moves only the address. If a call stops
 * early the library drops the addresses, and this object deletes the values. */
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

/* A reduction by add(sum, begin, end), for indices from 0, and join(left,
 * right). */
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

		how.accumulator_size = sizeof(stored);
		how.identity = identity;
		how.accumulate = accumulate;
		how.combine = combine;
		err = sennit_parallel_reduce(0, n, &how, this, &result, &o,
					     o.deadline);
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

	/* Return the value of an accumulator of C. NULL: its constructor has
	 * thrown. */
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

/* Whether op(sum, element) is a sum, and an element alone is one. */
template <typename Op, typename T, typename Element>
inline constexpr bool adds = std::is_invocable_v<Op &, T, Element>
		    &&std::is_assignable_v<T &, result_of<Op &, T, Element>>
		    &&std::is_constructible_v<T, Element>;

/* Add an element to the sum of some elements, or of none. */
template <typename T, typename Op, typename Element>
void add_to(std::optional<T> &sum, Op &op, Element &&e)
{
	if (sum)
		*sum = op(std::move(*sum), std::forward<Element>(e));
	else
		sum.emplace(std::forward<Element>(e));
}

} // namespace detail

/* Reduce [begin, end). add(sum, i), or add(sum, b, e) for a piece, adds to the
 * sum of what precedes. join(left, right) adds the sum `right`, which may be
 * moved from, to the sum `left` of what precedes it. Every sum begins as a copy
 * of identity. Returns the sum of all; after an error a copy of identity. Sums
 * are values of any copyable type T; trivially copyable types cost least. add
 * may return an int, as in parallel_for. */
template <typename I, typename J, typename T, typename Add, typename Join,
	  typename Index = detail::index_of<I, J>>
T parallel_reduce(I begin, J end, T identity, Add &&add, Join &&join,
		  const parallel_options &o = parallel_options())
{
	static_assert(detail::is_body<Add &, T &, Index> ||
			      detail::is_body<Add &, T &, Index, Index>,
		      "sennit: parallel_reduce needs add(sum, i) or add(sum, "
		      "begin, end), which returns nothing or an int: 0 or a "
		      "negative errno value");
	static_assert(std::is_invocable_v<Join &, T &, T &>,
		      "sennit: parallel_reduce needs join(left, right), which "
		      "adds the sum `right` to the sum `left`");

	const Index first = static_cast<Index>(begin);
	const auto  n = detail::count(first, static_cast<Index>(end));
	auto      &&joined = detail::given<T &, T &>(join);

	if constexpr (std::is_invocable_v<Add &, T &, Index, Index>) {
		auto piece = [&](T &sum, std::size_t b, std::size_t e) {
			return add(sum, detail::at(first, b),
				   detail::at(first, e));
		};
		return detail::reduce(n, identity, piece, joined, o);
	} else {
		auto piece = [&](T &sum, std::size_t b, std::size_t e) {
			auto one = [&](std::size_t i) {
				return detail::given<T &, Index>(add)(
					sum, detail::at(first, i));
			};
			return detail::call_each(one, b, e);
		};
		return detail::reduce(n, identity, piece, joined, o);
	}
}

/* Return op(...op(op(init, *first), ...)...), in any grouping but in order. op
 * must be associative, as far as the result matters. It need not be
 * commutative. */
template <typename It, typename T, typename Op = std::plus<>,
	  typename = detail::difference<It>>
T parallel_reduce(It first, It last, T init, Op op = Op(),
		  const parallel_options &o = parallel_options())
{
	using sum = std::optional<T>;
	constexpr bool adds = detail::adds<Op, T, detail::reference<It>> &&
			      detail::adds<Op, T, T>;

	static_assert(adds, "sennit: parallel_reduce needs op(sum, element) "
			    "and op(sum, sum), which return a sum");
	if constexpr (adds) {
		auto add = [&](sum &s, std::size_t b, std::size_t e) {
			for (std::size_t i = b; i < e; i++)
				detail::add_to(s, op,
					       detail::element(first, i));
		};
		auto join = [&](sum &left, sum &right) {
			if (right)
				detail::add_to(left, op, std::move(*right));
		};
		sum all = detail::reduce(static_cast<std::size_t>(last - first),
					 sum(), add, join, o);

		if (all)
			return op(std::move(init), std::move(*all));
	}
	return init;
}

SENNIT_CPP_END

#endif
