/* SPDX-License-Identifier: Apache-2.0 */
/* deadline.h - durations and time points of any clock as deadlines of sennit.
 *
 * A time point is converted into a time from now once, when the wait begins:
 * steps of its clock during the wait have no effect. Deadlines are rounded up.
 * A time that is too far to count becomes SENNIT_NEVER, and a time that has
 * passed becomes 0.
 */
#ifndef marl_detail_deadline_h
#define marl_detail_deadline_h

#include "sennit/base.h"

#include <chrono>

namespace marl
{
namespace detail
{

template <typename Rep, typename Period>
inline sennit_time after(const std::chrono::duration<Rep, Period> &wait)
{
	using Nanoseconds = std::chrono::nanoseconds;
	using Roughly = std::chrono::duration<double, std::nano>;

	if (!(wait > wait.zero()))
		return 0;
	/* Some 285 years; also keeps the cast below from overflowing. */
	if (!(std::chrono::duration_cast<Roughly>(wait).count() < 9e18))
		return SENNIT_NEVER;
	auto whole = std::chrono::duration_cast<Nanoseconds>(wait);
	if (whole < wait)
		++whole;
	return sennit_after(static_cast<uint64_t>(whole.count()));
}

template <typename Clock, typename Duration>
inline sennit_time until(const std::chrono::time_point<Clock, Duration> &point)
{
	auto now = Clock::now();

	return point > now ? after(point - now) : 0;
}

} // namespace detail
} // namespace marl

#endif
