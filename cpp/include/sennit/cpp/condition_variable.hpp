/* SPDX-License-Identifier: Apache-2.0 */
/* condition_variable.hpp - cond.h for std::unique_lock<sennit::mutex>.
 *
 * (std::condition_variable_any also takes locks of sennit, but blocks the
 * thread while it waits.)
 */
#ifndef SENNIT_CPP_CONDITION_VARIABLE_HPP
#define SENNIT_CPP_CONDITION_VARIABLE_HPP

#include "sennit/cond.h"
#include "sennit/cpp/mutex.hpp"

#include <condition_variable>

SENNIT_CPP_BEGIN

class condition_variable
{
public:
	constexpr condition_variable() noexcept = default;
	condition_variable(const condition_variable &) = delete;
	condition_variable &operator=(const condition_variable &) = delete;

	void notify_one() noexcept
	{
		sennit_cond_notify_one(&c_);
	}
	void notify_all() noexcept
	{
		sennit_cond_notify_all(&c_);
	}

	/* The caller holds the lock again in each case, also if a wait
	 * throws. */
	void wait(std::unique_lock<mutex> &lock)
	{
		detail::for_ever(sennit_cond_wait_until, &c_, mutex_of(lock));
	}
	template <typename Predicate>
	void wait(std::unique_lock<mutex> &lock, Predicate holds)
	{
		while (!test(holds))
			wait(lock);
	}

	template <typename Clock, typename Duration>
	std::cv_status wait_until(
		std::unique_lock<mutex>                        &lock,
		const std::chrono::time_point<Clock, Duration> &t)
	{
		return status(detail::until(t, sennit_cond_wait_until, &c_,
					    mutex_of(lock)));
	}
	template <typename Rep, typename Period>
	std::cv_status wait_for(std::unique_lock<mutex>                  &lock,
				const std::chrono::duration<Rep, Period> &d)
	{
		return status(detail::within(d, sennit_cond_wait_until, &c_,
					     mutex_of(lock)));
	}

	/* Return what the predicate returned last. */
	template <typename Clock, typename Duration, typename Predicate>
	bool wait_until(std::unique_lock<mutex>                        &lock,
			const std::chrono::time_point<Clock, Duration> &t,
			Predicate                                       holds)
	{
		while (!test(holds))
			if (wait_until(lock, t) == std::cv_status::timeout)
				return test(holds);
		return true;
	}
	template <typename Rep, typename Period, typename Predicate>
	bool wait_for(std::unique_lock<mutex>                  &lock,
		      const std::chrono::duration<Rep, Period> &d,
		      Predicate                                 holds)
	{
		const sennit_time   deadline = detail::after(d);
		sennit_mutex *const m = mutex_of(lock);

		while (!test(holds))
			if (detail::settled(
				    sennit_cond_wait_until(&c_, m, deadline),
				    deadline))
				return test(holds);
		return true;
	}

	using native_handle_type = sennit_cond *;
	native_handle_type native_handle() noexcept
	{
		return &c_;
	}

private:
	template <typename Predicate> static bool test(Predicate &holds)
	{
		constexpr bool tests = std::is_invocable_r_v<bool, Predicate &>;

		static_assert(tests, "sennit: a wait of a condition_variable "
				     "needs a function without arguments that "
				     "returns a bool");
		if constexpr (tests)
			return holds();
		else
			return true;
	}
	static sennit_mutex *mutex_of(std::unique_lock<mutex> &lock) noexcept
	{
		return detail::needed(lock.mutex(),
				      "sennit::condition_variable",
				      "the std::unique_lock has no mutex")
			->native_handle();
	}
	static std::cv_status status(int err) noexcept
	{
		return err ? std::cv_status::timeout
			   : std::cv_status::no_timeout;
	}

	sennit_cond c_ = SENNIT_COND_INIT;
};

SENNIT_CPP_END

#endif
