/* SPDX-License-Identifier: Apache-2.0 */
/* fiber.hpp - calls for the running fiber or unbound thread. */
#ifndef SENNIT_CPP_FIBER_HPP
#define SENNIT_CPP_FIBER_HPP

#include "sennit/cpp/error.hpp"
#include "sennit/cpp/time.hpp"
#include "sennit/fiber.h"

namespace sennit::this_fiber
{

inline void yield() noexcept
{
	sennit_yield();
}

/* Sleep. Returns true, or false if the deadline of the caller's group passed
 * first. Throws sennit::cancelled if the group is cancelled. */
template <typename Rep, typename Period>
bool sleep_for(const std::chrono::duration<Rep, Period> &d)
{
	return detail::waited(sennit_sleep_until(detail::after(d)));
}
template <typename Clock, typename Duration>
bool sleep_until(const std::chrono::time_point<Clock, Duration> &t)
{
	for (;;) {
		const auto left = t - Clock::now();

		if (left <= left.zero())
			return true;
		if (!sleep_for(left))
			return false;
	}
}

} // namespace sennit::this_fiber

#endif
