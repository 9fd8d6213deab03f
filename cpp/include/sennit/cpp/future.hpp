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
 *
 * A future of async(), then() or a coroutine is ready when the function that
 * sets it, its captures and its parameters have been destroyed.
 */
#ifndef SENNIT_CPP_FUTURE_HPP
#define SENNIT_CPP_FUTURE_HPP

#include "sennit/cpp/future_base.hpp"
#include "sennit/cpp/scheduler.hpp"

SENNIT_CPP_BEGIN

template <typename T> class future;
template <typename T> class shared_future;
template <typename T> class promise;

namespace detail
{

/* The two steps of setting a promise, for callers that destroy something in
 * between. */
struct setting {
	template <typename T> static outcome<T> &open(promise<T> &p)
	{
		return p.open();
	}
	template <typename T> static void show(promise<T> &p) noexcept
	{
		p.show();
	}
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
		promise<R>              promised = std::move(me->to);

		me->fill(setting::open(promised));
		me.reset();
		setting::show(promised);
	}

	void fill(outcome<R> &out)
	{
		outcome<T> &given = from->result;

		if (!given.has_value())
			given.pass_failure_to(out);
		else if constexpr (std::is_void_v<T>)
			out.set_by(std::move(f));
		else
			out.set_by([&]() -> decltype(auto) {
				return std::invoke(std::move(f), given.take());
			});
	}

	sennit_continuation              c{};
	std::shared_ptr<future_state<T>> from;
	promise<R>                       to;
	F                                f;
};

/* Whether an F can continue a future<T>, and what it returns. */
template <typename T, typename F> struct continues {
	static constexpr bool value = std::is_invocable_v<F, T>;
	using result = result_of<F, T>;
};
template <typename F> struct continues<void, F> {
	static constexpr bool value = std::is_invocable_v<F>;
	using result = result_of<F>;
};

/* A task that sets a promise to what f returns or throws. If it never runs, f
 * is destroyed before the promise, as the order of the members says. */
template <typename R, typename F> struct answer {
	static void run(void *argument)
	{
		auto *const me = static_cast<answer *>(argument);
		promise<R>  promised = std::move(me->to);

		setting::open(promised).set_by(std::move(me->f));
		drop<answer>(nullptr, argument);
		setting::show(promised);
	}

	promise<R> to;
	F          f;
};

} // namespace detail

template <typename T> class future : public detail::future_base<T>
{
	using base = detail::future_base<T>;

public:
	future() noexcept = default;
	future(future &&) noexcept = default;
	future &operator=(future &&) noexcept = default;

	/* Wait, then move the value out or throw the exception. If the caller's
	 * group ends the wait, the future keeps its state. */
	T get()
	{
		detail::for_ever(sennit_future_wait_until,
				 &this->state("sennit::future::get").f);

		const auto s = std::move(this->state_);

		return s->result.take();
	}

	shared_future<T> share() noexcept
	{
		return shared_future<T>(std::move(this->state_));
	}

	/* Return a future for the result of f, which is called with the value,
	 * as a task of s or else of the scheduler that sennit_future_then()
	 * names. An error skips f. The future is consumed, and so it is a
	 * temporary or std::move(future). */
	template <typename F> auto then(F &&f) &&
	{
		return then_on(nullptr, std::forward<F>(f));
	}
	/* s must exist until f has been called. */
	template <typename F> auto then(const scheduler &s, F &&f) &&
	{
		return then_on(s.get(), std::forward<F>(f));
	}
	template <typename F> auto then(const scheduler &&, F &&) && = delete;

private:
	friend class promise<T>;
	using base::base;

	template <typename F> auto then_on(sennit_scheduler *s, F &&f)
	{
		using continues = detail::continues<T, std::decay_t<F>>;

		static_assert(continues::value,
			      "sennit: then needs a function of the future's "
			      "value, or without arguments for future<void>");

		using callable =
			std::conditional_t<continues::value, std::decay_t<F>,
					   detail::wrong>;
		using result = typename continues::result;
		using sequel = detail::sequel<T, result, callable>;
		sennit_future *const mine =
			&this->state("sennit::future::then").f;
		auto next = std::make_unique<sequel>(std::move(this->state_),
						     std::forward<F>(f));
		auto answer = next->to.get_future();

		next->c.run = sequel::run;
		next->c.argument = next.get();
		next->c.scheduler = s;
		sennit_future_then(mine, &next.release()->c);
		return answer;
	}
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

	/* Wait, then return a reference to the value, of a temporary future a
	 * copy, or throw the exception. */
	T get() const &&
	{
		return static_cast<const shared_future &>(*this).get();
	}
	decltype(auto) get() const &
	{
		detail::for_ever(sennit_future_wait_until,
				 &this->state("sennit::future::get").f);
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
		needed();
		if (std::exchange(is_shown_, true))
			detail::check(-EALREADY, "get_future");
		return future<T>(state_);
	}

	/* Set the outcome. One of these calls may be made, once. Further calls
	 * fail with std::errc::connection_already_in_progress. An error of 0
	 * and a null exception are misuse, as are all calls but swap() on a
	 * promise that was moved from. */
	template <typename... Args> void set_value(Args &&...args)
	{
		open().set_value(std::forward<Args>(args)...);
		show();
	}
	void set_error(const std::error_code &code)
	{
		if (!code)
			detail::misuse("sennit::promise::set_error",
				       "the code is 0, which is no error");
		open().set_error(code);
		show();
	}
#if SENNIT_CPP_EXCEPTIONS
	void set_exception(std::exception_ptr e)
	{
		if (!e)
			detail::misuse("sennit::promise::set_exception",
				       "the std::exception_ptr is null");
		open().set_exception(std::move(e));
		show();
	}
#endif
	/* Set the outcome to what f(args...) returns or throws. */
	template <typename F, typename... Args>
	void set_by(F &&f, Args &&...args)
	{
		constexpr bool sets =
			std::is_void_v<T>
				? std::is_invocable_v<F, Args...>
				: std::is_invocable_r_v<T, F, Args...>;

		static_assert(sets, "sennit: set_by needs a function of these "
				    "arguments that returns the value");
		if constexpr (sets)
			open().set_by(std::forward<F>(f),
				      std::forward<Args>(args)...);
		show();
	}

private:
	friend struct detail::setting;

	detail::future_state<T> *needed() const noexcept
	{
		return detail::needed(state_.get(), "sennit::promise",
				      "the promise was moved from");
	}
	detail::outcome<T> &open()
	{
		detail::future_state<T> *const s = needed();

		if (is_set_)
			detail::check(-EALREADY, "promise");
		return s->result;
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
	using result = detail::call_result<F, Args...>;
	using call = std::decay_t<decltype(detail::make_call(
		std::forward<F>(f), std::forward<Args>(args)...))>;
	using task = detail::answer<result, call>;
	promise<result> p;
	auto            answer = p.get_future();

	detail::check(
		detail::schedule_run(
			nullptr, 0, task::run,
			task{ std::move(p),
			      detail::make_call(std::forward<F>(f),
						std::forward<Args>(args)...) }),
		"async");
	return answer;
}

SENNIT_CPP_END

#endif
