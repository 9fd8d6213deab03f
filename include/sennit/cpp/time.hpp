/* SPDX-License-Identifier: Apache-2.0 */
/* time.hpp - times of std::chrono as deadlines.
 *
 * std::chrono::steady_clock is the monotonic clock of the library, so its times
 * are deadlines directly. For times of other clocks the wait looks at the clock
 * again at its end, in case the clock was set back meanwhile. Fractions of a
 * nanosecond are rounded up. With a time that has passed a call tries once
 * without waiting.
 */
#ifndef SENNIT_CPP_TIME_HPP
#define SENNIT_CPP_TIME_HPP

#include "sennit/base.h"

#include <cerrno>
#include <chrono>
#include <type_traits>

namespace sennit
{

/* A deadline that never comes. Only the caller's group ends a wait with it
 * early. A call that does not have to wait succeeds even then. */
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

/* Call wait(deadline), which returns -ETIMEDOUT at its deadline, with time t as
 * the deadline. Return its result if that is not -ETIMEDOUT, if it came before
 * the deadline (then it is the group's), or if t has come. Otherwise t's clock
 * was set back: wait again. */
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
