/* SPDX-License-Identifier: Apache-2.0 */
/* barrier.hpp - barrier.h as a class. */
#ifndef SENNIT_CPP_BARRIER_HPP
#define SENNIT_CPP_BARRIER_HPP

#include "sennit/barrier.h"
#include "sennit/cpp/error.hpp"
#include "sennit/cpp/time.hpp"

#include <optional>

SENNIT_CPP_BEGIN

class barrier
{
public:
	explicit barrier(std::uint32_t parties) noexcept
	{
		sennit_barrier_init(&b_, parties);
	}
	barrier(const barrier &) = delete;
	barrier &operator=(const barrier &) = delete;

	/* Returns whether the caller arrived last, which is true for one party
	 * of each phase. A group does not end this wait: the caller has
	 * arrived, and the others count on it. */
	bool arrive_and_wait() noexcept
	{
		return sennit_barrier_wait(&b_);
	}
	/* Like arrive_and_wait(), or returns nothing if the phase was not
	 * complete in time; then the caller has not arrived. */
	template <typename Rep, typename Period>
	[[nodiscard]] std::optional<bool> arrive_and_wait_for(
		const std::chrono::duration<Rep, Period> &d)
	{
		return is_last(
			detail::within(d, sennit_barrier_wait_until, &b_));
	}
	template <typename Clock, typename Duration>
	[[nodiscard]] std::optional<bool> arrive_and_wait_until(
		const std::chrono::time_point<Clock, Duration> &t)
	{
		return is_last(
			detail::until(t, sennit_barrier_wait_until, &b_));
	}

	sennit_barrier *native_handle() noexcept
	{
		return &b_;
	}

private:
	static std::optional<bool> is_last(int result) noexcept
	{
		if (result < 0)
			return std::nullopt;
		return result == 1;
	}

	sennit_barrier b_;
};

SENNIT_CPP_END

#endif
