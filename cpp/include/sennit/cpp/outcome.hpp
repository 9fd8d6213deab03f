/* SPDX-License-Identifier: Apache-2.0 */
/* outcome.hpp - the outcome of a call: a value, an exception, or an error. */
#ifndef SENNIT_CPP_OUTCOME_HPP
#define SENNIT_CPP_OUTCOME_HPP

#include "sennit/cpp/error.hpp"

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

SENNIT_CPP_BEGIN

namespace detail
{

/* An outcome. It is not set until one of its calls sets it. */
template <typename T> class outcome
{
	using stored = std::conditional_t<
		std::is_void_v<T>, std::monostate,
		std::conditional_t<
			std::is_reference_v<T>,
			std::add_pointer_t<std::remove_reference_t<T>>, T>>;

public:
	template <typename... Args> void set_value(Args &&...args)
	{
		if constexpr (std::is_reference_v<T>)
			value_.emplace(std::addressof(args)...);
		else
			value_.emplace(std::forward<Args>(args)...);
	}
	void set_error(const std::error_code &code) noexcept
	{
		error_ = code;
	}
#if SENNIT_CPP_EXCEPTIONS
	/* A value that was set before is dropped: a coroutine's variables may
	 * throw when they are destroyed, after its co_return. */
	void set_exception(std::exception_ptr e) noexcept
	{
		value_.reset();
		exception_ = std::move(e);
	}
#endif

	/* Set it to what f(args...) returns or throws. */
	template <typename F, typename... Args>
	void set_by(F &&f, Args &&...args)
	{
#if SENNIT_CPP_EXCEPTIONS
		try {
			set_by_call(std::forward<F>(f),
				    std::forward<Args>(args)...);
		} catch (...) {
			exception_ = std::current_exception();
		}
#else
		set_by_call(std::forward<F>(f), std::forward<Args>(args)...);
#endif
	}

	bool has_value() const noexcept
	{
		return value_.has_value();
	}

	/* Throw the exception or the error, if there is one. */
	void check() const
	{
#if SENNIT_CPP_EXCEPTIONS
		if (exception_)
			std::rethrow_exception(exception_);
#endif
		if (error_)
			fail(error_, "outcome");
	}

	/* Return the value, or throw the exception. It is moved out, so that
	 * other holders of the outcome do not keep it alive. */
	T take()
	{
#if SENNIT_CPP_EXCEPTIONS
		if (exception_)
			std::rethrow_exception(
				std::exchange(exception_, nullptr));
#endif
		check();
		if constexpr (std::is_reference_v<T>) {
			return static_cast<T>(**value_);
		} else if constexpr (!std::is_void_v<T>) {
			T taken = std::move(*value_);

			value_.reset();
			return taken;
		}
	}

	/* Return a reference to the value; for a reference type, T&. */
	decltype(auto) look() const
	{
		check();
		if constexpr (std::is_reference_v<T>)
			return static_cast<T>(**value_);
		else if constexpr (!std::is_void_v<T>)
			return static_cast<const T &>(*value_);
	}

	/* Move the exception or the error to another outcome. */
	template <typename U> void pass_failure_to(outcome<U> &other) noexcept
	{
#if SENNIT_CPP_EXCEPTIONS
		if (exception_)
			other.set_exception(std::exchange(exception_, nullptr));
#endif
		if (error_)
			other.set_error(error_);
	}

private:
	template <typename F, typename... Args>
	void set_by_call(F &&f, Args &&...args)
	{
		if constexpr (std::is_void_v<T>) {
			std::invoke(std::forward<F>(f),
				    std::forward<Args>(args)...);
			value_.emplace();
		} else {
			set_value(std::invoke(std::forward<F>(f),
					      std::forward<Args>(args)...));
		}
	}

	std::optional<stored> value_;
	std::error_code       error_;
#if SENNIT_CPP_EXCEPTIONS
	std::exception_ptr exception_;
#endif
};

} // namespace detail

SENNIT_CPP_END

#endif
