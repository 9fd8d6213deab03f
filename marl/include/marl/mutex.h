/* SPDX-License-Identifier: Apache-2.0 */
/* mutex.h - a lock that suspends a waiting fiber, and its scope.
 *
 * It may be held across any wait. A waiter lets its worker run other tasks,
 * where marl's mutex blocks the thread. Its owner is the fiber or the unbound
 * thread that locked it. The owner unlocks it, and neither binds nor unbinds
 * meanwhile.
 *
 * wait_locked(), wait_until_locked() and the waits of a lock are for a
 * std::condition_variable. As in marl they block the thread. Their wake-ups are
 * not lost for this reason: such a waiter holds the bridge from before it
 * unlocks until it sleeps, and the next caller that locks the mutex passes
 * through the bridge. So no caller can change what the waiter has checked, and
 * notify, before it sleeps. Each program and shared library has a bridge; the
 * waiter that came first decides which one is used.
 */
#ifndef marl_mutex_h
#define marl_mutex_h

#include "detail/language.h"
#if MARL_HAS_CPP11

#include "detail/system.h"
#include "export.h"
#include "tsa.h"

#include "sennit/mutex.h"

#include <condition_variable>
#include <mutex>
#include <utility>

namespace marl
{

class lock;

namespace detail
{

inline MARL_OWN std::mutex &bridge()
{
	static std::mutex one;

	return one;
}

} // namespace detail

class CAPABILITY("mutex") mutex
{
public:
	constexpr mutex() = default;
	mutex(const mutex &) = delete;
	mutex &operator=(const mutex &) = delete;

	void lock() ACQUIRE()
	{
		sennit_mutex_lock(&native_);
		entered();
	}

	bool try_lock() TRY_ACQUIRE(true)
	{
		if (sennit_mutex_lock_until(&native_, 0))
			return false;
		entered();
		return true;
	}

	void unlock() RELEASE()
	{
		sennit_mutex_unlock(&native_);
	}

	/* Wait for the condition until the predicate returns true. */
	template <typename Predicate>
	void wait_locked(std::condition_variable &condition, Predicate &&holds)
		REQUIRES(this)
	{
		while (!holds())
			leave([&](std::unique_lock<std::mutex> &outside) {
				condition.wait(outside);
			});
	}

	/* Wait at most until this time. Returns what the predicate returned
	 * last. */
	template <typename Predicate, typename Time>
	bool wait_until_locked(std::condition_variable &condition, Time &&time,
			       Predicate &&holds) REQUIRES(this)
	{
		bool in_time = true;

		while (in_time && !holds())
			leave([&](std::unique_lock<std::mutex> &outside) {
				in_time = condition.wait_until(outside, time) ==
					  std::cv_status::no_timeout;
			});
		return in_time || holds();
	}

	/* For calls of sennit. Their waiters must call entered() when they hold
	 * the lock again. */
	sennit_mutex *native_handle()
	{
		return &native_;
	}

	void entered()
	{
		if (outside_ == 0)
			return;
		bridge_->lock();
		bridge_->unlock();
	}

private:
	/* Unlock, sleep(bridge), lock. */
	template <typename Sleep> void leave(Sleep sleep)
	{
		if (outside_++ == 0)
			bridge_ = &detail::bridge();
		{
			std::unique_lock<std::mutex> over(*bridge_);

			sennit_mutex_unlock(&native_);
			sleep(over);
		}
		sennit_mutex_lock(&native_);
		outside_--;
		entered();
	}

	sennit_mutex native_ = SENNIT_MUTEX_INIT;
	unsigned     outside_ = 0;      /* under native_: waiters in leave() */
	std::mutex  *bridge_ = nullptr; /* under native_: if there are any */
};

class SCOPED_CAPABILITY lock
{
public:
	lock(mutex &m) ACQUIRE(m) : lock_(m)
	{
	}
	~lock() RELEASE() = default;
	lock(const lock &) = delete;
	lock &operator=(const lock &) = delete;

	/* The analysis does not know that lock_ is the mutex that it saw. */
	template <typename Predicate>
	void wait(std::condition_variable &condition,
		  Predicate              &&holds) NO_THREAD_SAFETY_ANALYSIS
	{
		guarded()->wait_locked(condition,
				       std::forward<Predicate>(holds));
	}

	template <typename Predicate, typename Time>
	bool wait_until(std::condition_variable &condition, Time &&time,
			Predicate &&holds) NO_THREAD_SAFETY_ANALYSIS
	{
		return guarded()->wait_until_locked(
			condition, std::forward<Time>(time),
			std::forward<Predicate>(holds));
	}

	bool owns_lock() const
	{
		return lock_.owns_lock();
	}

	/* Lock and unlock where the thread safety analysis does not look. */
	void lock_no_tsa()
	{
		lock_.lock();
	}
	void unlock_no_tsa()
	{
		lock_.unlock();
	}

	/* Return the mutex of this lock. */
	marl::mutex *guarded() const
	{
		return lock_.mutex();
	}

private:
	std::unique_lock<marl::mutex> lock_;
};

} // namespace marl

#endif
#endif
