/* SPDX-License-Identifier: Apache-2.0 */
/* fiber.hpp - calls for the running fiber or unbound thread. */
#ifndef SENNIT_CPP_FIBER_HPP
#define SENNIT_CPP_FIBER_HPP

#include "sennit/cpp/error.hpp"
#include "sennit/cpp/time.hpp"
#include "sennit/fiber.h"

SENNIT_CPP_BEGIN

namespace this_fiber
{

inline void yield() noexcept
{
	sennit_yield();
}

/* Sleep. If the caller's group ends the sleep early, it throws like all waits
 * (time.hpp). */
template <typename Rep, typename Period>
void sleep_for(const std::chrono::duration<Rep, Period> &d)
{
	const int err = detail::within(d, sennit_sleep_until);

	if (err)
		detail::fail(detail::code_of(err), "sleep");
}
template <typename Clock, typename Duration>
void sleep_until(const std::chrono::time_point<Clock, Duration> &t)
{
	static_assert(!std::is_same_v<Clock, uncancelled_clock>,
		      "sennit: a sleep until sennit::uncancelled never ends");
	for (auto left = t - Clock::now(); left > left.zero();
	     left = t - Clock::now())
		sleep_for(left);
}

} // namespace this_fiber

SENNIT_CPP_END

#endif
