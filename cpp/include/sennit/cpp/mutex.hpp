/* SPDX-License-Identifier: Apache-2.0 */
/* mutex.hpp - mutex.h as a TimedLockable, for std::unique_lock, std::lock_guard
 * and std::scoped_lock.
 *
 * Like std::mutex it can be a constant-initialised static object. Its
 * destructor does nothing.
 */
#ifndef SENNIT_CPP_MUTEX_HPP
#define SENNIT_CPP_MUTEX_HPP

#include "sennit/cpp/error.hpp"
#include "sennit/cpp/time.hpp"
#include "sennit/mutex.h"

#include <mutex>

SENNIT_CPP_BEGIN

class mutex
{
public:
	constexpr mutex() noexcept = default;
	mutex(const mutex &) = delete;
	mutex &operator=(const mutex &) = delete;

	void lock() noexcept
	{
		sennit_mutex_lock(&m_);
	}
	[[nodiscard]] bool try_lock() noexcept
	{
		return detail::at_once(sennit_mutex_lock_until, &m_) == 0;
	}
	template <typename Rep, typename Period>
	[[nodiscard]] bool try_lock_for(
		const std::chrono::duration<Rep, Period> &d)
	{
		return detail::within(d, sennit_mutex_lock_until, &m_) == 0;
	}
	template <typename Clock, typename Duration>
	[[nodiscard]] bool try_lock_until(
		const std::chrono::time_point<Clock, Duration> &t)
	{
		return detail::until(t, sennit_mutex_lock_until, &m_) == 0;
	}
	void unlock() noexcept
	{
		sennit_mutex_unlock(&m_);
	}

	using native_handle_type = sennit_mutex *;
	native_handle_type native_handle() noexcept
	{
		return &m_;
	}

private:
	sennit_mutex m_ = SENNIT_MUTEX_INIT;
};

SENNIT_CPP_END

#endif
