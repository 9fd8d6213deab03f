/* SPDX-License-Identifier: Apache-2.0 */
/* time.hpp - times of std::chrono as deadlines.
 *
 * std::chrono::steady_clock is the monotonic clock that the library uses, so
 * its times are deadlines as they are. Times of other clocks are looked at
 * again when the wait is over, in case that clock was set back meanwhile. What
 * is not a whole number of nanoseconds is rounded up; what has passed tries
 * once, without waiting.
 */
#ifndef SENNIT_CPP_TIME_HPP
#define SENNIT_CPP_TIME_HPP

#include "sennit/base.h"

#include <cerrno>
#include <chrono>
#include <type_traits>

namespace sennit
{

/* A deadline that never comes. Waits with it end early only by the caller's
 * group; those that take no time do not even by that. */
inline constexpr auto never = std::chrono::steady_clock::time_point::max();

namespace detail
{

template <typename Rep, typename Period>
sennit_time nanoseconds_of(const std::chrono::duration<Rep, Period> &d)
{
	using namespace std::chrono;

	if (!(d > d.zero()))
		return 0;
	if (duration<double>(d).count() >= 9.2e9) /* does not fit */
		return SENNIT_NEVER;
	return static_cast<sennit_time>(ceil<nanoseconds>(d).count());
}

template <typename Rep, typename Period>
sennit_time after(const std::chrono::duration<Rep, Period> &d)
{
	const sennit_time ns = nanoseconds_of(d);

	return ns ? sennit_after(ns) : 0;
}

/* Do wait(deadline), a call that returns -ETIMEDOUT at its deadline, with the
 * time t for one. When that is not the reason (before the deadline it was the
 * group's) or t has come, that is all; otherwise t's clock was set back. */
template <typename Clock, typename Duration, typename Wait>
int until(const std::chrono::time_point<Clock, Duration> &t, const Wait &wait)
{
	if constexpr (std::is_same_v<Clock, std::chrono::steady_clock>) {
		return wait(nanoseconds_of(t.time_since_epoch()));
	} else {
		for (;;) {
			const sennit_time deadline = after(t - Clock::now());
			const int         err = wait(deadline);

			if (err != -ETIMEDOUT || sennit_now() < deadline ||
			    Clock::now() >= t)
				return err;
		}
	}
}

} // namespace detail
} // namespace sennit

#endif
