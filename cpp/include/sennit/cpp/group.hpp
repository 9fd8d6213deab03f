/* SPDX-License-Identifier: Apache-2.0 */
/* group.hpp - group.h with exceptions: an exception of a member cancels the
 * group, and the wait rethrows it.
 *
 *	sennit::group g;
 *	for (auto &part : parts)
 *		g.spawn([&part] { part.fetch(); });
 *	g.wait();
 *
 * The destructor of a group that was not waited for, because of an exception on
 * the way, cancels the members and waits for them. After a wait, or a drain, no
 * call is allowed any more: it is misuse, as in group.h.
 */
#ifndef SENNIT_CPP_GROUP_HPP
#define SENNIT_CPP_GROUP_HPP

#include "sennit/cpp/callable.hpp"
#include "sennit/cpp/caught.hpp"
#include "sennit/cpp/scheduler.hpp"
#include "sennit/cpp/time.hpp"
#include "sennit/group.h"

#include <memory>

SENNIT_CPP_BEGIN

namespace io
{
class listener;
}

namespace detail
{

/* What a group keeps for its members, until they have ended. */
struct kept {
	virtual ~kept() = default;

	std::unique_ptr<kept> next; /* one that was kept before */
};

} // namespace detail

/* Flags of a group, to be combined by |: those of group.h. */
enum class group_flags : std::uint32_t {
	none = 0,
	keep_going = SENNIT_GROUP_KEEP_GOING,
	own_stacks = SENNIT_GROUP_OWN_STACKS
};

constexpr group_flags operator|(group_flags a, group_flags b) noexcept
{
	return static_cast<group_flags>(static_cast<std::uint32_t>(a) |
					static_cast<std::uint32_t>(b));
}

class group
{
public:
	/* Open a group on the bound scheduler. */
	explicit group(group_flags flags = group_flags::none) noexcept
	    : scheduler_(sennit_scheduler_current())
	{
		sennit_group_init(&g_, SENNIT_NEVER,
				  static_cast<std::uint32_t>(flags));
	}
	/* Like the above; the waits of the members end at t. */
	explicit group(std::chrono::steady_clock::time_point t,
		       group_flags flags = group_flags::none) noexcept
	    : scheduler_(sennit_scheduler_current())
	{
		sennit_group_init(&g_, detail::deadline_of(t),
				  static_cast<std::uint32_t>(flags));
	}
	/* Open a group on s, which must exist until the group has been waited
	 * for. */
	explicit group(const scheduler                      &s,
		       std::chrono::steady_clock::time_point t = never,
		       group_flags flags = group_flags::none) noexcept
	    : scheduler_(detail::needed(s.get(), "sennit::group"))
	{
		sennit_group_init_on(&g_, s.get(), detail::deadline_of(t),
				     static_cast<std::uint32_t>(flags));
	}
	explicit group(const scheduler &&,
		       std::chrono::steady_clock::time_point = never,
		       group_flags = group_flags::none) = delete;
	group(const group &) = delete;
	group &operator=(const group &) = delete;
	~group()
	{
		if (!waited_) {
			cancel();
			static_cast<void>(wait(std::nothrow));
		}
	}

	/* Make f(args...) a member. It returns nothing, or an int: 0 or a
	 * negative errno value, which is an error like an exception.
	 * Returns whether the member was accepted; it is not if the group is
	 * cancelled, which the wait for the group says, too. Throws
	 * std::bad_alloc. */
	template <typename F, typename... Args>
	bool spawn(F &&f, Args &&...args)
	{
		static_assert(
			detail::is_status<detail::call_result<F, Args...>>,
			"sennit: a member of a group returns nothing or an "
			"int: 0 or a negative errno value");

		return spawn_call(detail::make_call(
			std::forward<F>(f), std::forward<Args>(args)...));
	}

	/* Wait for all members. Rethrows the exception of the first member that
	 * failed; throws std::system_error if that member returned an error, or
	 * sennit::cancelled or timed_out if nothing but the end of the group
	 * has ended members early. */
	void wait()
	{
		throw_error(wait(std::nothrow));
	}
	/* Wait for all members and return the error;
	 * std::errc::state_not_recoverable stands for any exception. */
	std::error_code wait(std::nothrow_t)
	{
		waited_ = true;
		return detail::code_of(ended(sennit_group_wait(&g_)));
	}

	/* Wait until no member is left, or until a deadline. Returns whether
	 * none is left. The group does not end: it may be waited for again, and
	 * may get new members. The group around the caller ends this wait, like
	 * others. */
	template <typename Rep, typename Period>
	[[nodiscard]] bool wait_for(const std::chrono::duration<Rep, Period> &d)
	{
		return detail::within(d, sennit_group_wait_until, &g_) == 0;
	}
	template <typename Clock, typename Duration>
	[[nodiscard]] bool wait_until(
		const std::chrono::time_point<Clock, Duration> &t)
	{
		return detail::until(t, sennit_group_wait_until, &g_) == 0;
	}

	/* Let the members end by themselves until a deadline, then cancel those
	 * that have not, and wait for them: in place of wait(), for a server
	 * that stops. Returns true, or false if the group was cancelled, now or
	 * before. Throws the exceptions and errors of members like wait(). */
	template <typename Rep, typename Period>
	[[nodiscard]] bool drain_for(
		const std::chrono::duration<Rep, Period> &d)
	{
		return drain(detail::after(d));
	}
	template <typename Clock, typename Duration>
	[[nodiscard]] bool drain_until(
		const std::chrono::time_point<Clock, Duration> &t)
	{
		return drain(detail::deadline_of(t));
	}

	/* The number of members that have not ended, for the opener. */
	std::uint32_t size() const noexcept
	{
		return sennit_group_members(&g_);
	}

	/* Bring the deadline forward; see sennit_group_set_deadline(). */
	template <typename Clock, typename Duration>
	void set_deadline(const std::chrono::time_point<Clock, Duration> &t)
	{
		sennit_group_set_deadline(&g_, detail::deadline_of(t));
	}

	/* Returns whether it was not cancelled before. */
	bool cancel() noexcept
	{
		return sennit_group_cancel(&g_);
	}

	sennit_group *native_handle() noexcept
	{
		return &g_;
	}

private:
	friend class io::listener;

	/* All members have ended. An exception comes before the
	 * sennit::cancelled and timed_out of members, which follow from it or
	 * from the group's end; one of a connection alone cancels nothing. */
	int ended(int err) noexcept
	{
		const bool stopped = err == -ECANCELED || err == -ETIMEDOUT;

		kept_.reset();
		return (!err || stopped) && caught_.any()
			       ? -detail::caught::threw
			       : err;
	}

	/* The opener calls this. */
	void keep(std::unique_ptr<detail::kept> one) noexcept
	{
		one->next = std::move(kept_);
		kept_ = std::move(one);
	}

	void throw_error(const std::error_code &code)
	{
		if (code.value() == detail::caught::threw)
			caught_.rethrow();
		if (code)
			detail::fail(code, "group");
	}

	bool drain(sennit_time deadline)
	{
		waited_ = true;

		const int err = ended(sennit_group_drain(&g_, deadline));

		if (err != -ECANCELED)
			throw_error(detail::code_of(err));
		return !err;
	}

	template <typename F> struct member {
		group *g;
		F      f;
	};

	template <typename F> static int run(void *argument)
	{
		detail::unpacked<member<F>> m(argument);

		return (*m).g->caught_.call([&]() -> decltype(auto) {
			return std::invoke(std::move((*m).f));
		});
	}

	template <typename F> bool spawn_call(F &&f)
	{
		using callable = std::decay_t<F>;
		using packed = member<callable>;
		void *argument;
		int   err = detail::pack<packed>(
                        scheduler_, packed{ this, std::forward<F>(f) },
                        argument);

		if (!err) {
			err = sennit_group_spawn(&g_, run<callable>, argument);
			if (err)
				detail::drop<packed>(scheduler_, argument);
		}
		if (err != -ECANCELED)
			detail::check(err, "spawn");
		return !err;
	}

	sennit_group      g_;
	sennit_scheduler *scheduler_;
	detail::caught    caught_; /* from members */
	bool              waited_ = false;

	std::unique_ptr<detail::kept> kept_; /* handlers of connections */
};

namespace this_fiber
{

/* For members that seldom wait: throws sennit::cancelled if a group around the
 * caller is cancelled, or sennit::timed_out if its deadline has passed. */
inline void check_cancelled()
{
	detail::check(sennit_check_cancelled(), "check_cancelled");
}

inline bool is_cancelled() noexcept
{
	return sennit_check_cancelled() != 0;
}

} // namespace this_fiber

SENNIT_CPP_END

#endif
