/* SPDX-License-Identifier: Apache-2.0 */
/* shared_mutex.hpp - rwlock.h as a SharedTimedLockable, for std::shared_lock
 * and std::unique_lock. */
#ifndef SENNIT_CPP_SHARED_MUTEX_HPP
#define SENNIT_CPP_SHARED_MUTEX_HPP

#include "sennit/cpp/error.hpp"
#include "sennit/cpp/time.hpp"
#include "sennit/rwlock.h"

#include <shared_mutex>

SENNIT_CPP_BEGIN

class shared_mutex
{
public:
	constexpr shared_mutex() noexcept = default;
	shared_mutex(const shared_mutex &) = delete;
	shared_mutex &operator=(const shared_mutex &) = delete;

	void lock() noexcept
	{
		sennit_rwlock_lock(&l_);
	}
	[[nodiscard]] bool try_lock() noexcept
	{
		return detail::at_once(sennit_rwlock_lock_until, &l_) == 0;
	}
	template <typename Rep, typename Period>
	[[nodiscard]] bool try_lock_for(
		const std::chrono::duration<Rep, Period> &d)
	{
		return detail::within(d, sennit_rwlock_lock_until, &l_) == 0;
	}
	template <typename Clock, typename Duration>
	[[nodiscard]] bool try_lock_until(
		const std::chrono::time_point<Clock, Duration> &t)
	{
		return detail::until(t, sennit_rwlock_lock_until, &l_) == 0;
	}
	void unlock() noexcept
	{
		sennit_rwlock_unlock(&l_);
	}

	void lock_shared() noexcept
	{
		sennit_rwlock_lock_shared(&l_);
	}
	[[nodiscard]] bool try_lock_shared() noexcept
	{
		return detail::at_once(sennit_rwlock_lock_shared_until, &l_) ==
		       0;
	}
	template <typename Rep, typename Period>
	[[nodiscard]] bool try_lock_shared_for(
		const std::chrono::duration<Rep, Period> &d)
	{
		return detail::within(d, sennit_rwlock_lock_shared_until,
				      &l_) == 0;
	}
	template <typename Clock, typename Duration>
	[[nodiscard]] bool try_lock_shared_until(
		const std::chrono::time_point<Clock, Duration> &t)
	{
		return detail::until(t, sennit_rwlock_lock_shared_until, &l_) ==
		       0;
	}
	void unlock_shared() noexcept
	{
		sennit_rwlock_unlock_shared(&l_);
	}

	using native_handle_type = sennit_rwlock *;
	native_handle_type native_handle() noexcept
	{
		return &l_;
	}

private:
	sennit_rwlock l_ = SENNIT_RWLOCK_INIT;
};

SENNIT_CPP_END

#endif
