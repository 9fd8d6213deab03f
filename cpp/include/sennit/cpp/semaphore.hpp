/* SPDX-License-Identifier: Apache-2.0 */
/* semaphore.hpp - semaphore.h with the member functions of
 * std::counting_semaphore, for any number of permits at once. */
#ifndef SENNIT_CPP_SEMAPHORE_HPP
#define SENNIT_CPP_SEMAPHORE_HPP

#include "sennit/cpp/error.hpp"
#include "sennit/cpp/time.hpp"
#include "sennit/semaphore.h"

SENNIT_CPP_BEGIN

class semaphore
{
public:
	explicit semaphore(std::uint32_t count) noexcept
	{
		sennit_semaphore_init(&s_, count);
	}
	semaphore(const semaphore &) = delete;
	semaphore &operator=(const semaphore &) = delete;

	static constexpr std::uint32_t max() noexcept
	{
		return SENNIT_SEMAPHORE_MAX;
	}

	void acquire(std::uint32_t n = 1)
	{
		detail::for_ever(sennit_semaphore_acquire_until, &s_, n);
	}
	[[nodiscard]] bool try_acquire(std::uint32_t n = 1) noexcept
	{
		return detail::at_once(sennit_semaphore_acquire_until, &s_,
				       n) == 0;
	}
	template <typename Rep, typename Period>
	[[nodiscard]] bool try_acquire_for(
		const std::chrono::duration<Rep, Period> &d,
		std::uint32_t                             n = 1)
	{
		return detail::within(d, sennit_semaphore_acquire_until, &s_,
				      n) == 0;
	}
	template <typename Clock, typename Duration>
	[[nodiscard]] bool try_acquire_until(
		const std::chrono::time_point<Clock, Duration> &t,
		std::uint32_t                                   n = 1)
	{
		return detail::until(t, sennit_semaphore_acquire_until, &s_,
				     n) == 0;
	}
	void release(std::uint32_t n = 1) noexcept
	{
		sennit_semaphore_release(&s_, n);
	}
	std::uint32_t count() const noexcept
	{
		return sennit_semaphore_count(&s_);
	}

	sennit_semaphore *native_handle() noexcept
	{
		return &s_;
	}

private:
	sennit_semaphore s_;
};

SENNIT_CPP_END

#endif
