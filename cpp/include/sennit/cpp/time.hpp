/* SPDX-License-Identifier: Apache-2.0 */
/* time.hpp - times of std::chrono as deadlines, and how waits end.
 *
 * A wait without a deadline of its own (wait, get, receive, sleep_for) throws
 * what ends it: sennit::cancelled if the caller's group is cancelled,
 * sennit::timed_out at the group's deadline. A wait with a deadline of its own
 * (_for, _until) returns a result at that deadline and throws the same for the
 * group; so a loop of such waits ends with its group. Without exceptions the
 * first kind aborts with a line in place of throwing, and for the second kind
 * an end by the group counts as its own deadline.
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
#include "sennit/cpp/error.hpp"

#include <chrono>
#include <type_traits>

SENNIT_CPP_BEGIN

/* A deadline that never comes. Only the caller's group ends a wait with it
 * early. A call that does not have to wait succeeds even then. */
inline constexpr auto never = std::chrono::steady_clock::time_point::max();

/* The clock of the deadline below. Its times are no times of day. */
struct uncancelled_clock {
	using duration = std::chrono::nanoseconds;
	using rep = duration::rep;
	using period = duration::period;
	using time_point = std::chrono::time_point<uncancelled_clock>;
	static constexpr bool is_steady = true;
	static time_point     now() noexcept
	{
		return time_point();
	}
};

/* A deadline that never comes, of a wait that the group does not end either
 * (SENNIT_UNCANCELLED): for what must be done in a cancelled group as well. */
inline constexpr uncancelled_clock::time_point uncancelled{};

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

template <typename Clock, typename Duration>
sennit_time deadline_of(const std::chrono::time_point<Clock, Duration> &t)
{
	if constexpr (std::is_same_v<Clock, uncancelled_clock>)
		return SENNIT_UNCANCELLED;
	else if constexpr (std::is_same_v<Clock, std::chrono::steady_clock>)
		return nanoseconds_of(t.time_since_epoch());
	else
		return after(t - Clock::now());
}

/* Return the result of a wait with this deadline, which is the caller's own.
 * Throw if the caller's group has ended the wait: by -ETIMEDOUT before the
 * deadline. */
inline int settled(int err, sennit_time deadline)
{
	if (err == -ECANCELED ||
	    (err == -ETIMEDOUT &&
	     (deadline == SENNIT_NEVER || sennit_now() < deadline))) {
#if SENNIT_CPP_EXCEPTIONS
		fail(code_of(err), "wait");
#else
		return -ETIMEDOUT;
#endif
	}
	return err;
}

/* The four below call a wait of C, whose last argument is the deadline, and
 * return its result. All but the first throw if the caller's group ends it. */
template <typename Wait, typename... Args> int at_once(Wait wait, Args... args)
{
	const int err = wait(args..., 0);

	return err == -ECANCELED ? -ETIMEDOUT : err;
}

template <typename Wait, typename... Args> int for_ever(Wait wait, Args... args)
{
	const int err = wait(args..., SENNIT_NEVER);

	if (err == -ECANCELED || err == -ETIMEDOUT)
		fail(code_of(err), "wait");
	return err;
}

template <typename Rep, typename Period, typename Wait, typename... Args>
int within(const std::chrono::duration<Rep, Period> &d, Wait wait, Args... args)
{
	const sennit_time deadline = after(d);

	return settled(wait(args..., deadline), deadline);
}

/* If t's clock was set back during the wait, it waits again. */
template <typename Clock, typename Duration, typename Wait, typename... Args>
int until(const std::chrono::time_point<Clock, Duration> &t, Wait wait,
	  Args... args)
{
	for (;;) {
		const sennit_time d = deadline_of(t);
		const int         err = settled(wait(args..., d), d);

		if (err != -ETIMEDOUT || sennit_now() < d || Clock::now() >= t)
			return err;
	}
}

} // namespace detail

SENNIT_CPP_END

#endif
