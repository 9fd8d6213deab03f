/* SPDX-License-Identifier: Apache-2.0 */
/* wait_group.hpp - wait_group.h as a class. */
#ifndef SENNIT_CPP_WAIT_GROUP_HPP
#define SENNIT_CPP_WAIT_GROUP_HPP

#include "sennit/cpp/callable.hpp"
#include "sennit/cpp/error.hpp"
#include "sennit/cpp/time.hpp"
#include "sennit/wait_group.h"

#include <utility>

SENNIT_CPP_BEGIN

class wait_group
{
public:
	/* One unit of the count, subtracted by the destructor. Move it into the
	 * task, as the first of its captures: they are destroyed in the reverse
	 * order, and a waiter may free the objects that the other captures
	 * refer to. */
	class share
	{
	public:
		explicit share(wait_group &g) noexcept : g_(&g)
		{
			g.add();
		}
		share(share &&other) noexcept
		    : g_(std::exchange(other.g_, nullptr))
		{
		}
		share &operator=(share other) noexcept
		{
			std::swap(g_, other.g_);
			return *this;
		}
		~share()
		{
			if (g_)
				g_->done();
		}

	private:
		wait_group *g_;
	};

	constexpr wait_group() noexcept = default;
	explicit wait_group(std::uint32_t count) noexcept
	{
		sennit_wait_group_init(&g_, count);
	}
	wait_group(const wait_group &) = delete;
	wait_group &operator=(const wait_group &) = delete;

	void add(std::uint32_t n = 1) noexcept
	{
		sennit_wait_group_add(&g_, n);
	}
	/* Subtract one. Returns whether the count became zero; *this may have
	 * been destroyed by then. */
	bool done() noexcept
	{
		return sennit_wait_group_done(&g_);
	}

	/* Add one and schedule f(args...) on the bound scheduler; one is
	 * subtracted when the task has ended. wait() may run it as a plain
	 * call. An exception that leaves the task ends the program. Throws
	 * std::bad_alloc, or what moving f or the arguments throws. */
	template <typename F, typename... Args>
	void spawn(F &&f, Args &&...args)
	{
		spawn_call(detail::make_call(std::forward<F>(f),
					     std::forward<Args>(args)...));
	}

	/* A group does not end this wait, so that it may be in a destructor. */
	void wait() noexcept
	{
		sennit_wait_group_wait(&g_);
	}
	[[nodiscard]] bool try_wait() noexcept
	{
		return detail::at_once(sennit_wait_group_wait_until, &g_) == 0;
	}
	template <typename Rep, typename Period>
	[[nodiscard]] bool wait_for(const std::chrono::duration<Rep, Period> &d)
	{
		return detail::within(d, sennit_wait_group_wait_until, &g_) ==
		       0;
	}
	template <typename Clock, typename Duration>
	[[nodiscard]] bool wait_until(
		const std::chrono::time_point<Clock, Duration> &t)
	{
		return detail::until(t, sennit_wait_group_wait_until, &g_) == 0;
	}

	sennit_wait_group *native_handle() noexcept
	{
		return &g_;
	}

private:
	template <typename F> void spawn_call(F &&f)
	{
		using callable = std::decay_t<F>;
		void *argument;
		int   err = detail::pack<callable>(nullptr, std::forward<F>(f),
                                                 argument);

		if (!err) {
			err = sennit_wait_group_spawn(
				&g_, detail::run<callable>, argument);
			if (err)
				detail::drop<callable>(nullptr, argument);
		}
		detail::check(err, "wait_group::spawn");
	}

	sennit_wait_group g_ = SENNIT_WAIT_GROUP_INIT;
};

SENNIT_CPP_END

#endif
