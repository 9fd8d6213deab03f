/* SPDX-License-Identifier: Apache-2.0 */
/* barrier.hpp - barrier.h as a class. */
#ifndef SENNIT_CPP_BARRIER_HPP
#define SENNIT_CPP_BARRIER_HPP

#include "sennit/barrier.h"
#include "sennit/cpp/error.hpp"
#include "sennit/cpp/time.hpp"

#include <optional>

namespace sennit
{

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
	 * of each phase. */
	bool arrive_and_wait() noexcept
	{
		return sennit_barrier_wait(&b_);
	}
	/* Like arrive_and_wait(), or returns nothing if the phase was not
	 * complete in time; then the caller has not arrived. */
	template <typename Rep, typename Period>
	std::optional<bool> arrive_and_wait_for(
		const std::chrono::duration<Rep, Period> &d)
	{
		return place(sennit_barrier_wait_until(&b_, detail::after(d)));
	}
	template <typename Clock, typename Duration>
	std::optional<bool> arrive_and_wait_until(
		const std::chrono::time_point<Clock, Duration> &t)
	{
		return place(detail::until(t, [this](sennit_time deadline) {
			return sennit_barrier_wait_until(&b_, deadline);
		}));
	}

	sennit_barrier *native_handle() noexcept
	{
		return &b_;
	}

private:
	static std::optional<bool> place(int answer)
	{
		if (answer >= 0)
			return answer == 1;
		static_cast<void>(detail::waited(answer));
		return std::nullopt;
	}

	sennit_barrier b_;
};

} // namespace sennit

#endif
