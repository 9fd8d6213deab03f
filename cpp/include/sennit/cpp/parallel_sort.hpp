/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_sort.hpp - sennit_parallel_sort for elements of any type and any
 * comparison.
 *
 *	trivially copyable, contiguous      sorted in place
 *	trivially copyable, elsewhere       copied, sorted, copied back
 *	other elements                      their addresses are sorted; then
 *	                                    they are moved, twice
 */
#ifndef SENNIT_CPP_PARALLEL_SORT_HPP
#define SENNIT_CPP_PARALLEL_SORT_HPP

#include "sennit/cpp/parallel.hpp"

#include <algorithm>
#include <vector>

SENNIT_CPP_BEGIN

namespace detail
{

template <typename It>
inline constexpr bool is_random =
	std::is_base_of_v<std::random_access_iterator_tag,
			  typename std::iterator_traits<It>::iterator_category>;

/* Whether the iterator's type says that the elements of [first, last) are
 * contiguous in memory. */
template <typename It> constexpr bool is_contiguous()
{
#if defined(__cpp_lib_concepts)
	return std::contiguous_iterator<It>;
#else
	using value = typename std::iterator_traits<It>::value_type;

	if constexpr (std::is_same_v<value, bool>)
		return std::is_pointer_v<It>;
	else
		return std::is_pointer_v<It> ||
		       std::is_same_v<It,
				      typename std::vector<value>::iterator>;
#endif
}

/* A sort of Ts, or of pointers to them. */
template <typename T, bool Pointers, typename Less> class sorting
{
public:
	explicit sorting(Less &less) : less_(less)
	{
	}

	int sort(void *base, std::size_t n, const parallel_options &o)
	{
		base_ = base;
		count_ = n;
		options_ = &o;
		if constexpr (may_throw)
			return sort_in_group();
		else
			return run(this);
	}

	caught problem;

private:
	static constexpr bool may_throw =
		SENNIT_CPP_EXCEPTIONS &&
		!std::is_nothrow_invocable_v<Less &, const T &, const T &>;

	static int run(void *self)
	{
		sorting *const s = static_cast<sorting *>(self);

		return sennit_parallel_sort(s->base_, s->count_,
					    Pointers ? sizeof(T *) : sizeof(T),
					    compare, s, nullptr, s->options_,
					    s->options_->deadline);
	}

	/* A comparison that throws cancels the group. From then on its results
	 * need not be consistent. */
	int sort_in_group()
	{
		sennit_scheduler *s = options_->scheduler
					      ? options_->scheduler
					      : sennit_scheduler_current();
		int               err, other;

		if (!s)
			return run(this); /* which is misuse, and reported */
		sennit_group_init_on(&group_, s, SENNIT_NEVER, 0);
		err = sennit_group_spawn(&group_, run, this);
		other = sennit_group_wait(&group_);
		return err ? err : other;
	}

	static const T &element_at(const void *p)
	{
		if constexpr (Pointers)
			return **static_cast<const T *const *>(p);
		else
			return *static_cast<const T *>(p);
	}

	static int compare(const void *left, const void *right, void *context)
	{
		sorting *const s = static_cast<sorting *>(context);
		bool           is_less = false;

		if constexpr (!may_throw) {
			is_less = s->less_(element_at(left), element_at(right));
		} else if (!s->given_up_.load(std::memory_order_acquire) &&
			   !s->problem.run([&] {
				   is_less = s->less_(element_at(left),
						      element_at(right));
			   })) {
			sennit_group_cancel(&s->group_);
			/* Comparisons that see the flag, and may then return
			 * anything, come after the cancellation. */
			s->given_up_.store(true, std::memory_order_release);
		}
		return is_less ? -1 : 0;
	}

	Less                   &less_;
	void                   *base_ = nullptr;
	std::size_t             count_ = 0;
	const parallel_options *options_ = nullptr;
	sennit_group            group_;
	std::atomic<bool>       given_up_{ false };
};

/* Returns whether the elements are sorted. */
template <typename T, bool Pointers, typename Less>
bool sort(void *base, std::size_t n, Less &less, const parallel_options &o)
{
	sorting<T, Pointers, Less> s(less);
	const int                  err = s.sort(base, n, o);

	finish(s.problem, err, o.error, "parallel_sort");
	return !err;
}

/* Arrange the elements in the order of their addresses. All are moved, also
 * after an error. */
template <typename T, typename It>
void arrange(It first, const std::vector<T *> &addresses)
{
	std::vector<T> sorted;

	sorted.reserve(addresses.size());
	for (T *p : addresses)
		sorted.push_back(std::move(*p));
	std::move(sorted.begin(), sorted.end(), first);
}

template <typename It, typename Less>
void sort_range(It first, It last, Less &less, const parallel_options &o)
{
	using value = typename std::iterator_traits<It>::value_type;
	const auto n = static_cast<std::size_t>(last - first);

	if constexpr (!std::is_trivially_copyable_v<value>) {
		std::vector<value *> addresses;

		addresses.reserve(n);
		for (It i = first; i != last; ++i)
			addresses.push_back(std::addressof(*i));
		if (sort<value, true>(addresses.data(), n, less, o))
			arrange(first, addresses);
	} else if constexpr (is_contiguous<It>()) {
		sort<value, false>(n ? std::addressof(*first) : nullptr, n,
				   less, o);
	} else {
		std::vector<value> copies(first, last);

		if (sort<value, false>(copies.data(), n, less, o))
			std::copy(copies.begin(), copies.end(), first);
	}
}

} // namespace detail

/* Sort [first, last), stably. less(a, b) returns whether a goes before b, and
 * must be a strict weak order. An exception of less is rethrown. After it, and
 * after any other error, all elements are there, in any order. */
template <typename It, typename Less = std::less<>,
	  typename = detail::difference<It>>
void parallel_sort(It first, It last, Less less = Less(),
		   const parallel_options &o = parallel_options())
{
	using value = typename std::iterator_traits<It>::value_type;
	constexpr bool compares =
		std::is_invocable_r_v<bool, Less &, const value &,
				      const value &>;

	static_assert(detail::is_random<It>,
		      "sennit: parallel_sort needs random access iterators, as "
		      "std::sort does");
	static_assert(compares, "sennit: parallel_sort needs less(a, b) for "
				"const elements, which returns a bool");
	if constexpr (detail::is_random<It> && compares)
		detail::sort_range(first, last, less, o);
}

/* Sort a container or an array, stably. */
template <typename Range, typename Less = std::less<>,
	  typename = decltype(std::begin(std::declval<Range &>()))>
void parallel_sort(Range &&range, Less less = Less(),
		   const parallel_options &o = parallel_options())
{
	parallel_sort(std::begin(range), std::end(range), std::move(less), o);
}

SENNIT_CPP_END

#endif
