/* SPDX-License-Identifier: Apache-2.0 */
/* future.hpp - futures and promises as in the standard library, whose waits
 * suspend the fiber.
 *
 *	auto answer = sennit::async([] { return 6 * 7; });
 *	answer.get();
 *
 * The two sides share a state that exists as long as one of them does. A
 * promise that is destroyed without a value sets the error
 * std::errc::broken_pipe.
 */
#ifndef SENNIT_CPP_FUTURE_HPP
#define SENNIT_CPP_FUTURE_HPP

#include "sennit/cpp/outcome.hpp"
#include "sennit/cpp/scheduler.hpp"
#include "sennit/future.h"

#include <memory>

namespace sennit
{

template <typename T> class future;
template <typename T> class shared_future;
template <typename T> class promise;

namespace detail
{

template <typename T> struct future_state {
	sennit_future f = SENNIT_FUTURE_INIT;
	outcome<T>    result; /* owned by the producer until f is set */
};

/* What futures and shared futures have in common. */
template <typename T> class future_base
{
public:
	/* Whether this future has a state. It has none after get(), share() or
	 * a move. All other calls need one. */
	bool valid() const noexcept
	{
		return state_ != nullptr;
	}
	bool is_ready() const noexcept
	{
		return sennit_future_is_set(&state_->f);
	}
	/* Whether the outcome is a value and not an error. The future must be
	 * ready. */
	bool has_value() const noexcept
	{
		return state_->result.has_value();
	}

	void wait() const noexcept
	{
		sennit_future_wait(&state_->f);
	}
	template <typename Rep, typename Period>
	bool wait_for(const std::chrono::duration<Rep, Period> &d) const
	{
		return waited(sennit_future_wait_until(&state_->f, after(d)));
	}
	template <typename Clock, typename Duration>
	bool wait_until(const std::chrono::time_point<Clock, Duration> &t) const
	{
		return waited(until(t, [this](sennit_time deadline) {
			return sennit_future_wait_until(&state_->f, deadline);
		}));
	}

	sennit_future *native_handle() const noexcept
	{
		return &state_->f;
	}

protected:
	using state = std::shared_ptr<future_state<T>>;

	future_base() noexcept = default;
	explicit future_base(state s) noexcept : state_(std::move(s))
	{
	}

	state state_;
};

/* A pending continuation. It sets a promise to the result of f for the value,
 * or passes on the error. */
template <typename T, typename R, typename F> struct sequel {
	sequel(std::shared_ptr<future_state<T>> s, F &&callable)
	    : from(std::move(s)), f(std::move(callable))
	{
	}
	sequel(std::shared_ptr<future_state<T>> s, const F &callable)
	    : from(std::move(s)), f(callable)
	{
	}

	static void run(void *argument, void *, int)
	{
		std::unique_ptr<sequel> me(static_cast<sequel *>(argument));

		if (!me->from->result.has_value())
			me->to.pass_failure_of(me->from->result);
		else if constexpr (std::is_void_v<T>)
			me->to.set_by(std::move(me->f));
		else
			me->to.set_by(std::move(me->f),
				      me->from->result.take());
	}

	sennit_continuation              c{};
	std::shared_ptr<future_state<T>> from;
	promise<R>                       to;
	F                                f;
};

template <typename T, typename F> struct sequel_result {
	using type = std::invoke_result_t<F, T>;
};
template <typename F> struct sequel_result<void, F> {
	using type = std::invoke_result_t<F>;
};

} // namespace detail

template <typename T> class future : public detail::future_base<T>
{
	using base = detail::future_base<T>;

public:
	future() noexcept = default;
	future(future &&) noexcept = default;
	future &operator=(future &&) noexcept = default;

	/* Wait, then move the value out or throw the exception. */
	T get()
	{
		const auto s = std::move(this->state_);

		sennit_future_wait(&s->f);
		return s->result.take();
	}

	shared_future<T> share() noexcept
	{
		return shared_future<T>(std::move(this->state_));
	}

	/* Return a future for the result of f, which is called with the value,
	 * as a task of s or else of the scheduler that sennit_future_then()
	 * names. An error skips f. This future has no state afterwards. */
	template <typename F> auto then(F &&f)
	{
		return then(scheduler(), std::forward<F>(f));
	}
	template <typename F> auto then(const scheduler &s, F &&f)
	{
		using callable = std::decay_t<F>;
		using result =
			typename detail::sequel_result<T, callable>::type;
		using sequel = detail::sequel<T, result, callable>;
		const auto kept = this->state_;
		auto next = std::make_unique<sequel>(std::move(this->state_),
						     std::forward<F>(f));
		auto answer = next->to.get_future();

		next->c.run = sequel::run;
		next->c.argument = next.get();
		next->c.scheduler = s.get();
		sennit_future_then(&kept->f, &next.release()->c);
		return answer;
	}

private:
	friend class promise<T>;
	using base::base;
};

/* A future that can be copied. Each copy may call get(). */
template <typename T> class shared_future : public detail::future_base<T>
{
	using base = detail::future_base<T>;

public:
	shared_future() noexcept = default;
	shared_future(future<T> &&f) noexcept : shared_future(f.share())
	{
	}

	/* Wait, then return a reference to the value or throw the exception. */
	decltype(auto) get() const
	{
		sennit_future_wait(&this->state_->f);
		return this->state_->result.look();
	}

private:
	friend class future<T>;
	using base::base;
};

/* The producer's side. It sets the outcome once. */
template <typename T> class promise
{
public:
	promise() : state_(std::make_shared<detail::future_state<T>>())
	{
	}
	promise(promise &&) noexcept = default;
	promise &operator=(promise &&other) noexcept
	{
		promise(std::move(other)).swap(*this);
		return *this;
	}
	~promise()
	{
		if (state_ && !is_set_)
			set_error(std::make_error_code(std::errc::broken_pipe));
	}
	void swap(promise &other) noexcept
	{
		state_.swap(other.state_);
		std::swap(is_set_, other.is_set_);
		std::swap(is_shown_, other.is_shown_);
	}

	/* May be called once, also after the value was set. */
	future<T> get_future()
	{
		if (std::exchange(is_shown_, true))
			detail::check(-EALREADY, "get_future");
		return future<T>(state_);
	}

	/* Set the outcome. One of these calls may be made, once. Further calls
	 * fail with std::errc::connection_already_in_progress. */
	template <typename... Args> void set_value(Args &&...args)
	{
		open().set_value(std::forward<Args>(args)...);
		show();
	}
	void set_error(const std::error_code &code)
	{
		open().set_error(code);
		show();
	}
#if SENNIT_CPP_EXCEPTIONS
	void set_exception(std::exception_ptr e)
	{
		open().set_exception(std::move(e));
		show();
	}
#endif
	/* Set the outcome to what f(args...) returns or throws. */
	template <typename F, typename... Args>
	void set_by(F &&f, Args &&...args)
	{
		open().set_by(std::forward<F>(f), std::forward<Args>(args)...);
		show();
	}
	void set_outcome(detail::outcome<T> &&o)
	{
		open() = std::move(o);
		show();
	}
	template <typename U> void pass_failure_of(const detail::outcome<U> &o)
	{
		o.pass_failure_to(open());
		show();
	}

private:
	detail::outcome<T> &open()
	{
		if (is_set_)
			detail::check(-EALREADY, "promise");
		return state_->result;
	}

	/* Waiters may return, and destroy the promise, before the call
	 * returns. */
	void show() noexcept
	{
		const auto s = state_;

		is_set_ = true;
		sennit_future_set(&s->f, nullptr);
	}

	std::shared_ptr<detail::future_state<T>> state_;
	bool                                     is_set_ = false;
	bool                                     is_shown_ = false;
};

/* Schedule f(args...) on the bound scheduler and return a future for what it
 * returns or throws. */
template <typename F, typename... Args>
future<detail::call_result<F, Args...>> async(F &&f, Args &&...args)
{
	promise<detail::call_result<F, Args...>> p;
	auto                                     answer = p.get_future();

	schedule([p = std::move(p),
		  call = detail::make_call(
			  std::forward<F>(f),
			  std::forward<Args>(args)...)]() mutable {
		p.set_by(std::move(call));
	});
	return answer;
}

/* Wait until one of the futures is ready. Returns its index; 0 is the first. */
template <typename... Futures> std::size_t wait_any(const Futures &...futures)
{
	sennit_future *const all[] = { futures.native_handle()... };

	return sennit_future_wait_any(all, sizeof...(futures));
}

/* Wait until all of the futures are ready. */
template <typename... Futures> void wait_all(const Futures &...futures)
{
	sennit_future *const all[] = { futures.native_handle()... };

	sennit_future_wait_all(all, sizeof...(futures));
}

} // namespace sennit

#endif
