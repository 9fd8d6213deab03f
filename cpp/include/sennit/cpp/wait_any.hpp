/* SPDX-License-Identifier: Apache-2.0 */
/* wait_any.hpp - waits for the first, or for all, of several futures or several
 * events: those of a list, or of a range, which may hold pointers to them.
 *
 *	std::vector<sennit::future<page>> pages;
 *	...
 *	page first = pages[sennit::wait_any(pages)].get();
 *
 * sennit::select waits for futures and events together.
 */
#ifndef SENNIT_CPP_WAIT_ANY_HPP
#define SENNIT_CPP_WAIT_ANY_HPP

#include "sennit/cpp/event.hpp"
#include "sennit/cpp/future_base.hpp"
#include "sennit/cpp/time.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

SENNIT_CPP_BEGIN

namespace detail
{

template <typename T, typename = void> inline constexpr bool is_range = false;
template <typename T>
inline constexpr bool
	is_range<T, std::void_t<decltype(std::begin(std::declval<T &>()))>> =
		true;

/* The C object of a future or an event, or of what refers to one. */
template <typename T>
sennit_future *native_of(const future_base<T> &f, const char *call) noexcept
{
	return needed(f.valid() ? &f : nullptr, call, stateless)
		->native_handle();
}
inline sennit_event *native_of(event &e, const char *) noexcept
{
	return e.native_handle();
}
template <typename T>
auto native_of(const std::reference_wrapper<T> &r, const char *call) noexcept
{
	return native_of(r.get(), call);
}
template <typename Pointer>
auto native_of(const Pointer &p, const char *call) noexcept
	-> decltype(native_of(*p, call))
{
	return native_of(*p, call);
}

/* The C objects of a list, in an array, or of a range, in a vector. */
template <typename First, typename... Others>
auto natives_of(const char *call, First &first, Others &...others)
{
	if constexpr (is_range<First>) {
		static_assert(sizeof...(Others) == 0,
			      "sennit: one range, or a list without ranges");
		using native = decltype(native_of(*std::begin(first), call));
		std::vector<native> all;

		for (auto &one : first)
			all.push_back(native_of(one, call));
		return all;
	} else {
		using native = decltype(native_of(first, call));

		static_assert((std::is_same_v<native, decltype(native_of(
							      others, call))> &&
			       ...),
			      "sennit: futures or events: sennit::select waits "
			      "for both");
		return std::array<native, 1 + sizeof...(Others)>{
			native_of(first, call), native_of(others, call)...
		};
	}
}

inline int wait_any_until(sennit_future *const all[], std::size_t n,
			  std::size_t *which, sennit_time deadline)
{
	return sennit_future_wait_any_until(all, n, which, deadline);
}
inline int wait_any_until(sennit_event *const all[], std::size_t n,
			  std::size_t *which, sennit_time deadline)
{
	return sennit_event_wait_any_until(all, n, which, deadline);
}
inline int wait_all_until(sennit_future *const all[], std::size_t n,
			  sennit_time deadline)
{
	return sennit_future_wait_all_until(all, n, deadline);
}
inline int wait_all_until(sennit_event *const all[], std::size_t n,
			  sennit_time deadline)
{
	return sennit_event_wait_all_until(all, n, deadline);
}

/* Wait by `how`, a function of a wait of C. */
template <typename How, typename... Things>
std::optional<std::size_t> any_by(const How &how, const char *call,
				  Things &...things)
{
	const auto  all = natives_of(call, things...);
	std::size_t which = 0;
	const int   err = how([&](sennit_time deadline) {
                return wait_any_until(all.data(), all.size(), &which, deadline);
        });

	if (err)
		return std::nullopt;
	return which;
}

template <typename How, typename... Things>
bool all_by(const How &how, const char *call, Things &...things)
{
	const auto all = natives_of(call, things...);

	return how([&](sennit_time deadline) {
		       return wait_all_until(all.data(), all.size(), deadline);
	       }) == 0;
}

} // namespace detail

/* Wait until one of the futures is ready, or one of the events is set; that
 * event is cleared if it is automatic. Returns its index; 0 is the first. If
 * several are when the call begins, it returns the lowest index of futures. At
 * most SENNIT_FUTURE_WAIT_MAX futures, or SENNIT_EVENT_WAIT_MAX events. */
template <typename... Things> std::size_t wait_any(Things &&...things)
{
	return *detail::any_by([](auto wait) { return detail::for_ever(wait); },
			       "sennit::wait_any", things...);
}
/* Like wait_any(), without waiting, or until a deadline. Returns nothing if
 * none was ready in time. */
template <typename... Things>
[[nodiscard]] std::optional<std::size_t> try_wait_any(Things &&...things)
{
	return detail::any_by([](auto wait) { return detail::at_once(wait); },
			      "sennit::try_wait_any", things...);
}
template <typename Rep, typename Period, typename... Things>
[[nodiscard]] std::optional<std::size_t> wait_any_for(
	const std::chrono::duration<Rep, Period> &d, Things &&...things)
{
	return detail::any_by(
		[&](auto wait) { return detail::within(d, wait); },
		"sennit::wait_any_for", things...);
}
template <typename Clock, typename Duration, typename... Things>
[[nodiscard]] std::optional<std::size_t> wait_any_until(
	const std::chrono::time_point<Clock, Duration> &t, Things &&...things)
{
	return detail::any_by([&](auto wait) { return detail::until(t, wait); },
			      "sennit::wait_any_until", things...);
}

/* Wait until all of the futures are ready, or all of the events are set at one
 * moment; see sennit_event_wait_all_until(). */
template <typename... Things> void wait_all(Things &&...things)
{
	detail::all_by([](auto wait) { return detail::for_ever(wait); },
		       "sennit::wait_all", things...);
}
template <typename... Things>
[[nodiscard]] bool try_wait_all(Things &&...things)
{
	return detail::all_by([](auto wait) { return detail::at_once(wait); },
			      "sennit::try_wait_all", things...);
}
template <typename Rep, typename Period, typename... Things>
[[nodiscard]] bool wait_all_for(const std::chrono::duration<Rep, Period> &d,
				Things &&...things)
{
	return detail::all_by(
		[&](auto wait) { return detail::within(d, wait); },
		"sennit::wait_all_for", things...);
}
template <typename Clock, typename Duration, typename... Things>
[[nodiscard]] bool wait_all_until(
	const std::chrono::time_point<Clock, Duration> &t, Things &&...things)
{
	return detail::all_by([&](auto wait) { return detail::until(t, wait); },
			      "sennit::wait_all_until", things...);
}

SENNIT_CPP_END

#endif
