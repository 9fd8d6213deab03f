/* SPDX-License-Identifier: Apache-2.0 */
/* coroutine.hpp - co_await, for compilers with coroutines of C++20.
 *
 *	sennit::future<int> answer(sennit::event &ready)
 *	{
 *		co_await ready;
 *		co_return co_await sennit::async([] { return 42; });
 *	}
 *
 * A coroutine that awaits gives up its stack; it needs no fiber. The object
 * that it awaits resumes it as a task of the scheduler on which it awaited, on
 * any of its workers. Unlike a fiber a coroutine does not stay on its thread,
 * so it must not hold a lock of sennit across co_await.
 *
 *	future, shared_future   resume by sennit_future_then; nothing waits
 *	event, channel          a small task waits, as a fiber, and resumes
 *	any of them in a group  a member of the group waits and resumes
 *
 * A coroutine that a member of a group calls stays in the group: the group's
 * wait waits for it, and if the group is cancelled or past its deadline,
 * co_await throws as a wait of the member would (time.hpp).
 *
 * Any coroutine may await these, on a thread that has a scheduler. A function
 * that returns a future may be a coroutine. It runs up to its first wait within
 * the call, and the future gets what it returns or throws.
 */
#ifndef SENNIT_CPP_COROUTINE_HPP
#define SENNIT_CPP_COROUTINE_HPP

#if defined(__cpp_impl_coroutine) && __has_include(<coroutine>)
#define SENNIT_CPP_COROUTINES 1

#include "sennit/cpp/channel.hpp"
#include "sennit/cpp/event.hpp"
#include "sennit/cpp/future.hpp"
#include "sennit/cpp/group.hpp"

#include <coroutine>

SENNIT_CPP_BEGIN

namespace detail
{

/* The sennit_member_fn of an F, which does not throw. */
template <typename F> int run_member(void *argument) noexcept
{
	unpacked<F> f(argument);

	std::move (*f)();
	return 0;
}

/* Call wait(), which does not throw, as a fiber, and then resume the coroutine.
 * It is a task, or a member of the caller's group. If the group accepts none,
 * the call throws. */
template <typename F> void resume_after(std::coroutine_handle<> h, F wait)
{
	auto f = [wait, h]() mutable {
		wait();
		h.resume();
	};
	using callable = decltype(f);
	sennit_group *const g = sennit_group_current();
	void               *argument;
	int                 err;

	if (!g) {
		sennit::schedule(std::move(f));
		return;
	}
	err = pack<callable>(nullptr, std::move(f), argument);
	if (!err) {
		err = sennit_group_spawn(g, run_member<callable>, argument);
		if (err)
			drop<callable>(nullptr, argument);
	}
	check(err, "co_await");
}

struct event_awaiter {
	event        &e;
	outcome<void> waited{};

	bool await_ready() noexcept
	{
		return e.try_wait();
	}
	/* The task may resume the coroutine before this call returns, so *this
	 * must not be used after it. */
	void await_suspend(std::coroutine_handle<> h)
	{
		resume_after(h,
			     [this] { waited.set_by([this] { e.wait(); }); });
	}
	void await_resume()
	{
		waited.check();
	}
};

template <typename Future> struct future_awaiter {
	Future              f;
	sennit_continuation c{};
	outcome<void>       waited{};

	bool await_ready() noexcept
	{
		return f.is_ready();
	}
	void await_suspend(std::coroutine_handle<> h)
	{
		sennit_scheduler *const s = sennit_scheduler_current();

		if (sennit_group_current()) {
			resume_after(h, [this] {
				waited.set_by([this] { f.wait(); });
			});
			return;
		}
		c.run = [](void *address, void *, int) {
			std::coroutine_handle<>::from_address(address).resume();
		};
		c.argument = h.address();
		/* Without workers the setter must run the continuation. */
		c.scheduler = s && sennit_scheduler_workers(s) ? s : nullptr;
		sennit_future_then(f.native_handle(), &c);
	}
	decltype(auto) await_resume()
	{
		waited.check();
		return f.get();
	}
};

template <typename T> struct receive_awaiter {
	channel<T>          &from;
	outcome<received<T>> value{};

	bool await_ready()
	{
		auto r = from.try_receive();

		if (r.status() == channel_status::timeout)
			return false;
		value.set_value(std::move(r));
		return true;
	}
	void await_suspend(std::coroutine_handle<> h)
	{
		resume_after(h, [this] {
			value.set_by([this] { return from.receive(); });
		});
	}
	received<T> await_resume()
	{
		return value.take();
	}
};

/* The promise object of a coroutine that returns a future. */
template <typename T> class coroutine_promise_base
{
	/* Destroys the coroutine, with its parameters, and this object with it,
	 * before the future is ready. */
	struct end {
		bool await_ready() noexcept
		{
			return false;
		}
		template <typename Promise>
		void await_suspend(std::coroutine_handle<Promise> h) noexcept
		{
			coroutine_promise_base &ended = h.promise();
			promise<T>              promised = std::move(ended.p_);

			h.destroy();
			setting::show(promised);
		}
		void await_resume() noexcept
		{
		}
	};

public:
	future<T> get_return_object()
	{
		return p_.get_future();
	}
	std::suspend_never initial_suspend() noexcept
	{
		return {};
	}
	end final_suspend() noexcept
	{
		return {};
	}
	void unhandled_exception() noexcept
	{
#if SENNIT_CPP_EXCEPTIONS
		out().set_exception(std::current_exception());
#endif
	}

protected:
	outcome<T> &out()
	{
		return setting::open(p_);
	}

private:
	promise<T> p_;
};

template <typename T> class coroutine_promise : public coroutine_promise_base<T>
{
public:
	template <typename Value> void return_value(Value &&value)
	{
		this->out().set_value(std::forward<Value>(value));
	}
};

template <> class coroutine_promise<void> : public coroutine_promise_base<void>
{
public:
	void return_void()
	{
		this->out().set_value();
	}
};

} // namespace detail

inline detail::event_awaiter operator co_await(event &e) noexcept
{
	return { e };
}

template <typename T>
detail::future_awaiter<future<T>> operator co_await(future<T> &&f) noexcept
{
	return { std::move(f) };
}

template <typename T>
detail::future_awaiter<shared_future<T>> operator co_await(
	const shared_future<T> &f) noexcept
{
	return { f };
}

/* co_await async_receive(channel) returns what channel.receive() returns. */
template <typename T>
detail::receive_awaiter<T> async_receive(channel<T> &c) noexcept
{
	return { c };
}

SENNIT_CPP_END

template <typename T, typename... Args>
struct std::coroutine_traits<sennit::future<T>, Args...> {
	using promise_type = sennit::detail::coroutine_promise<T>;
};

#else
#define SENNIT_CPP_COROUTINES 0
#endif

#endif
