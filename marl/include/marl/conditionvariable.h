/* SPDX-License-Identifier: Apache-2.0 */
/* conditionvariable.h - a condition variable for fibers and threads. */
#ifndef marl_condition_variable_h
#define marl_condition_variable_h

#include "detail/language.h"
#if MARL_HAS_CPP11

#include "containers.h"
#include "debug.h"
#include "memory.h"
#include "mutex.h"
#include "scheduler.h"
#include "tsa.h"

#include "detail/deadline.h"

#include "sennit/cond.h"

#include <atomic>
#include <chrono>
#include <condition_variable>

namespace marl
{

class ConditionVariable
{
public:
	/* The allocator is not used: no memory is needed. */
	constexpr ConditionVariable(Allocator * = nullptr)
	{
	}
	ConditionVariable(const ConditionVariable &) = delete;
	ConditionVariable &operator=(const ConditionVariable &) = delete;

	/* Wake the waiter that has waited longest, fiber or thread. */
	void notify_one()
	{
		sennit_cond_notify_one(&native_);
	}

	/* Wake all waiters. */
	void notify_all()
	{
		sennit_cond_notify_all(&native_);
	}

	/* Wait until the predicate returns true. It is called with the lock
	 * held, now and after each notify. */
	template <typename Predicate>
	void wait(marl::lock &lock, Predicate &&holds)
	{
		while (!holds()) {
			(void)!sennit_cond_wait_until(
				&native_, lock.guarded()->native_handle(),
				SENNIT_UNCANCELLED);
			lock.guarded()->entered();
		}
	}

	/* Wait at most this long. Returns what the predicate returned last. */
	template <typename Rep, typename Period, typename Predicate>
	bool wait_for(marl::lock                               &lock,
		      const std::chrono::duration<Rep, Period> &duration,
		      Predicate                               &&holds)
	{
		return wait(lock, detail::after(duration), holds);
	}

	/* Wait at most until this time of any clock. Returns what the predicate
	 * returned last. */
	template <typename Clock, typename Duration, typename Predicate>
	bool wait_until(marl::lock                                     &lock,
			const std::chrono::time_point<Clock, Duration> &timeout,
			Predicate                                     &&holds)
	{
		return wait(lock, detail::until(timeout), holds);
	}

private:
	template <typename Predicate>
	bool wait(marl::lock &lock, sennit_time deadline, Predicate &holds)
	{
		int error = 0;

		while (!holds()) {
			if (error)
				return false;
			error = sennit_cond_wait_until(
				&native_, lock.guarded()->native_handle(),
				deadline);
			lock.guarded()->entered();
		}
		return true;
	}

	sennit_cond native_ = SENNIT_COND_INIT;
};

} // namespace marl

#endif
#endif
