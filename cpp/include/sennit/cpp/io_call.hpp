/* SPDX-License-Identifier: Apache-2.0 */
/* io_call.hpp - what all calls of io.hpp take: memory, a deadline, and where
 * errors go.
 *
 * In libsennit-io.
 */
#ifndef SENNIT_CPP_IO_CALL_HPP
#define SENNIT_CPP_IO_CALL_HPP

#include "sennit/cpp/coroutine.hpp"
#include "sennit/cpp/error.hpp"
#include "sennit/cpp/time.hpp"

#include <cstddef>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

SENNIT_CPP_BEGIN

namespace io
{

namespace detail
{

using namespace sennit::detail;

/* The type of the elements of an array or of a container that has all of them
 * in one piece of memory (data() and size()), if their bytes may be copied. */
template <typename C>
using element = std::remove_pointer_t<decltype(std::declval<C &>().data())>;
template <typename T>
inline constexpr bool is_bytes = std::is_trivially_copyable_v<T>;

/* Whether a call may fill the memory of a C &&: not that of a temporary that
 * owns it. Such an object, as a std::string, has constant memory if it is
 * constant itself. */
template <typename C>
inline constexpr bool is_kept = std::is_lvalue_reference_v<C> ||
				!std::is_const_v<element<const C>>;

} // namespace detail

/* Memory that a call fills. Made from a pointer and a size in bytes, an array,
 * or a container with data() and size() of trivially copyable elements, such as
 * std::string, std::vector<std::byte>, std::array and, in C++20, std::span. It
 * refers to the memory and does not own it: so the container is no temporary,
 * unless it does not own it either. */
class mutable_buffer
{
public:
	mutable_buffer() noexcept = default;
	mutable_buffer(void *bytes, std::size_t size) noexcept
	    : bytes_(static_cast<char *>(bytes)), size_(size)
	{
	}
	template <typename T, std::size_t N,
		  typename = std::enable_if_t<!std::is_const_v<T> &&
					      detail::is_bytes<T>>>
	mutable_buffer(T (&array)[N]) noexcept
	    : mutable_buffer(array, sizeof(array))
	{
	}
	template <typename C, typename T = detail::element<C>,
		  typename = std::enable_if_t<!std::is_const_v<T> &&
					      detail::is_bytes<T> &&
					      detail::is_kept<C>>>
	mutable_buffer(C &&c) noexcept
	    : mutable_buffer(c.data(), c.size() * sizeof(T))
	{
	}

	char *data() const noexcept
	{
		return bytes_;
	}
	/* In bytes. */
	std::size_t size() const noexcept
	{
		return size_;
	}
	/* Without its first n bytes. */
	mutable_buffer without(std::size_t n) const noexcept
	{
		return { bytes_ + n, size_ - n };
	}

private:
	char       *bytes_ = nullptr;
	std::size_t size_ = 0;
};

/* Memory that a call reads: likewise. A pointer to char and a constant array of
 * char, such as a string literal, are texts that end before their first 0. An
 * array of char that is not constant may be either a text or bytes, so it is
 * neither: write { bytes, size } or std::string_view(text). */
class const_buffer
{
public:
	const_buffer() noexcept = default;
	const_buffer(const void *bytes, std::size_t size) noexcept
	    : bytes_(static_cast<const char *>(bytes)), size_(size)
	{
	}
	template <typename T, typename = std::enable_if_t<std::is_same_v<
				      std::remove_const_t<T>, char>>>
	const_buffer(T *const &text) noexcept
	    : const_buffer(text, std::strlen(text))
	{
	}
	template <std::size_t N>
	const_buffer(const char (&text)[N]) noexcept
	    : const_buffer(
		      text,
		      std::string_view(text, N)
			      .substr(0, std::string_view(text, N).find('\0'))
			      .size())
	{
	}
	template <std::size_t N> const_buffer(char (&)[N]) = delete;
	template <typename T, std::size_t N,
		  typename = std::enable_if_t<
			  detail::is_bytes<T> &&
			  !std::is_same_v<std::remove_const_t<T>, char>>>
	const_buffer(T (&array)[N]) noexcept
	    : const_buffer(array, sizeof(array))
	{
	}
	template <typename C, typename T = detail::element<const C>,
		  typename = std::enable_if_t<detail::is_bytes<T>>>
	const_buffer(const C &c) noexcept
	    : const_buffer(c.data(), c.size() * sizeof(T))
	{
	}

	const char *data() const noexcept
	{
		return bytes_;
	}
	/* In bytes. */
	std::size_t size() const noexcept
	{
		return size_;
	}
	/* Without its first n bytes. */
	const_buffer without(std::size_t n) const noexcept
	{
		return { bytes_ + n, size_ - n };
	}

private:
	const char *bytes_ = nullptr;
	std::size_t size_ = 0;
};

namespace detail
{

/* The last arguments of a call, `how...`, in any order: a duration from now or
 * a time point, which is the deadline; a std::error_code, which gets the error.
 * A time of a clock other than std::chrono::steady_clock is converted once,
 * when the call begins. */
class limit
{
public:
	template <typename... How> static limit of(How &...how)
	{
		limit l;

		(l.take(how), ...);
		return l;
	}
	limit(sennit_time deadline, std::error_code *error) noexcept
	    : deadline_(deadline), error_(error)
	{
	}

	sennit_time deadline() const noexcept
	{
		return deadline_;
	}

	/* Return the result of a C call. If it is negative, throw what it
	 * stands for, or store that and return 0. */
	template <typename T> T pass(T result, const char *call) const
	{
		if (error_)
			*error_ = code_of(result < 0 ? static_cast<int>(result)
						     : 0);
		else if (result < 0)
			fail(code_of(static_cast<int>(result)), call);
		return result < 0 ? 0 : result;
	}
	/* The same as a number of bytes. */
	std::size_t pass_size(std::ptrdiff_t result, const char *call) const
	{
		return static_cast<std::size_t>(pass(result, call));
	}
	/* Throw or store an error of another call of io.hpp. */
	void pass_code(const std::error_code &code, const char *call) const
	{
		if (error_)
			*error_ = code;
		else if (code)
			fail(code, call);
	}

private:
	limit() noexcept = default;

	void take(std::error_code &code) noexcept
	{
		error_ = &code;
	}
	template <typename Rep, typename Period>
	void take(const std::chrono::duration<Rep, Period> &d)
	{
		deadline_ = after(d);
	}
	template <typename Clock, typename Duration>
	void take(const std::chrono::time_point<Clock, Duration> &t)
	{
		if constexpr (std::is_same_v<Clock, std::chrono::steady_clock>)
			deadline_ = nanoseconds_of(t.time_since_epoch());
		else
			deadline_ = after(t - Clock::now());
	}
	template <typename T> void take(const T &)
	{
		static_assert(
			!sizeof(T),
			"the last arguments of a call of sennit::io are a "
			"duration or a time point, and a "
			"std::error_code that is not const");
	}

	sennit_time      deadline_ = SENNIT_NEVER;
	std::error_code *error_ = nullptr;
};

#if SENNIT_CPP_COROUTINES

/* Awaits step(limit), which can be repeated after it ended at its deadline, and
 * continues then. If it cannot be done at once, a task waits in it, as a fiber,
 * and resumes the coroutine. */
template <typename Step> class io_awaiter
{
	using value = std::invoke_result_t<Step &, const limit &>;
	using storage = std::conditional_t<std::is_void_v<value>,
					   std::monostate, value>;

public:
	io_awaiter(const limit &l, Step step)
	    : limit_(l), step_(std::move(step))
	{
	}

	bool await_ready()
	{
		make(0);
		return code_ != std::errc::timed_out || !limit_.deadline();
	}
	/* The task may resume the coroutine before this call returns, so *this
	 * must not be used after it. Returns false in a group that has ended:
	 * then nothing waits. */
	bool await_suspend(std::coroutine_handle<> h)
	{
		const int err = sennit_check_cancelled();

		if (err) {
			code_ = code_of(err);
			return false;
		}
		resume_after(h, [this] { make(limit_.deadline()); });
		return true;
	}
	value await_resume()
	{
		limit_.pass_code(code_, "co_await");
		if constexpr (!std::is_void_v<value>)
			return std::move(value_);
	}

private:
	void make(sennit_time deadline)
	{
		const limit inner(deadline, &code_);

		if constexpr (std::is_void_v<value>)
			step_(inner);
		else
			value_ = step_(inner);
	}

	limit           limit_;
	Step            step_;
	std::error_code code_{};
	storage         value_{};
};

#endif

} // namespace detail

} // namespace io

SENNIT_CPP_END

#endif
