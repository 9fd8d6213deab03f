/* SPDX-License-Identifier: Apache-2.0 */
/* future_base.hpp - what futures and shared futures have in common. */
#ifndef SENNIT_CPP_FUTURE_BASE_HPP
#define SENNIT_CPP_FUTURE_BASE_HPP

#include "sennit/cpp/outcome.hpp"
#include "sennit/cpp/time.hpp"
#include "sennit/future.h"

#include <memory>

SENNIT_CPP_BEGIN

namespace detail
{

template <typename T> struct future_state {
	sennit_future f = SENNIT_FUTURE_INIT;
	outcome<T>    result; /* owned by the producer until f is set */
};

inline constexpr char stateless[] = "the future has no state: made by default, "
				    "moved from, shared, or got already";

template <typename T> class future_base
{
public:
	/* Whether this future has a state. It has none after get(), share() or
	 * a move. All other calls need one, and report it as misuse if there is
	 * none. */
	bool valid() const noexcept
	{
		return state_ != nullptr;
	}
	bool is_ready() const noexcept
	{
		return sennit_future_is_set(
			&state("sennit::future::is_ready").f);
	}
	/* Whether the outcome is a value and not an error. The future must be
	 * ready. */
	bool has_value() const noexcept
	{
		return state("sennit::future::has_value").result.has_value();
	}

	/* Wait until the future is ready. If the wait throws, the future is as
	 * before. */
	void wait() const
	{
		for_ever(sennit_future_wait_until,
			 &state("sennit::future::wait").f);
	}
	template <typename Rep, typename Period>
	[[nodiscard]] bool wait_for(
		const std::chrono::duration<Rep, Period> &d) const
	{
		return within(d, sennit_future_wait_until,
			      &state("sennit::future::wait_for").f) == 0;
	}
	template <typename Clock, typename Duration>
	[[nodiscard]] bool wait_until(
		const std::chrono::time_point<Clock, Duration> &t) const
	{
		return until(t, sennit_future_wait_until,
			     &state("sennit::future::wait_until").f) == 0;
	}

	sennit_future *native_handle() const noexcept
	{
		return &state("sennit::future::native_handle").f;
	}

protected:
	using shared_state = std::shared_ptr<future_state<T>>;

	future_base() noexcept = default;
	explicit future_base(shared_state s) noexcept : state_(std::move(s))
	{
	}

	/* The state, which this call needs. */
	future_state<T> &state(const char *call) const noexcept
	{
		return *needed(state_.get(), call, stateless);
	}

	shared_state state_;
};

} // namespace detail

SENNIT_CPP_END

#endif
