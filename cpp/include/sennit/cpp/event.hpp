/* SPDX-License-Identifier: Apache-2.0 */
/* event.hpp - event.h as a class. */
#ifndef SENNIT_CPP_EVENT_HPP
#define SENNIT_CPP_EVENT_HPP

#include "sennit/cpp/error.hpp"
#include "sennit/cpp/time.hpp"
#include "sennit/event.h"

SENNIT_CPP_BEGIN

enum class event_mode {
	manual = SENNIT_EVENT_MANUAL, /* set until cleared: lets all waiters
				       * through */
	automatic = SENNIT_EVENT_AUTO /* lets one waiter through and clears
				       * itself */
};

class event
{
public:
	constexpr event() noexcept = default;
	explicit event(event_mode mode, bool set = false) noexcept
	{
		sennit_event_init(&e_, static_cast<std::uint32_t>(mode) |
					       (set ? SENNIT_EVENT_SET : 0));
	}
	event(const event &) = delete;
	event &operator=(const event &) = delete;

	void set() noexcept
	{
		sennit_event_set(&e_);
	}
	void clear() noexcept
	{
		sennit_event_clear(&e_);
	}
	bool is_set() const noexcept
	{
		return sennit_event_is_set(&e_);
	}

	void wait()
	{
		detail::for_ever(sennit_event_wait_until, &e_);
	}
	/* Return whether it is set. The call clears an automatic event. */
	[[nodiscard]] bool try_wait() noexcept
	{
		return detail::at_once(sennit_event_wait_until, &e_) == 0;
	}
	template <typename Rep, typename Period>
	[[nodiscard]] bool wait_for(const std::chrono::duration<Rep, Period> &d)
	{
		return detail::within(d, sennit_event_wait_until, &e_) == 0;
	}
	template <typename Clock, typename Duration>
	[[nodiscard]] bool wait_until(
		const std::chrono::time_point<Clock, Duration> &t)
	{
		return detail::until(t, sennit_event_wait_until, &e_) == 0;
	}

	sennit_event *native_handle() noexcept
	{
		return &e_;
	}

private:
	sennit_event e_ = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);
};

SENNIT_CPP_END

#endif
