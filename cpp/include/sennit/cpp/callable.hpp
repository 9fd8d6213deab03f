/* SPDX-License-Identifier: Apache-2.0 */
/* callable.hpp - transport of a callable into a task and out of it.
 *
 *	one word, trivially copyable    its bytes are the task's argument
 *	aligned to 16 at most           memory of sennit_argument_alloc, which
 *	                                comes from the scheduler's blocks up to
 *	                                SENNIT_COPY_SMALL bytes
 *	aligned to more                 operator new
 *
 * The callable is moved in once, called once as an rvalue, and destroyed on the
 * stack of the task. A void * must never be read as if it were the callable:
 * the compiler may assume that the two do not alias. So the bytes are copied
 * into an object of the callable's own type.
 *
 * A function that cannot be called as it must be is one error: a static_assert
 * says what is wanted, and detail::wrong stands for the function from there on.
 */
#ifndef SENNIT_CPP_CALLABLE_HPP
#define SENNIT_CPP_CALLABLE_HPP

#include "sennit/cpp/version.hpp"
#include "sennit/task.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <functional>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

SENNIT_CPP_BEGIN

namespace detail
{

/* Stands for a function that was refused: the compiler has nothing more to say
 * of it. */
struct wrong {
	wrong() = default;
	template <typename F> wrong(F &&) noexcept
	{
	}
	template <typename... Args> void operator()(Args &&...) const noexcept
	{
	}
};

/* What F returns for these arguments; void for a function that is refused. */
template <typename F, typename... Args>
using result_of = typename std::conditional_t<std::is_invocable_v<F, Args...>,
					      std::invoke_result<F, Args...>,
					      std::invoke_result<wrong>>::type;

/* Return f, or what stands for it if these arguments do not fit. */
template <typename... Args, typename F> decltype(auto) given(F &&f)
{
	if constexpr (std::is_invocable_v<F, Args...>)
		return std::forward<F>(f);
	else
		return wrong();
}

/* Whether an F can be called by a task with these arguments, which are moved or
 * copied into the task as well. */
template <typename F, typename... Args>
inline constexpr bool is_task =
	std::is_invocable_v<std::decay_t<F>, std::decay_t<Args>...>;

template <typename... T>
inline constexpr bool is_kept = (std::is_constructible_v<std::decay_t<T>, T> &&
				 ...);

/* Whether a function that returns R returns nothing or an error. */
template <typename R>
inline constexpr bool is_status = std::is_void_v<R> || std::is_same_v<R, int>;

/* A function and its arguments, all decayed. */
template <typename F, typename... Args> struct bound_call {
	std::tuple<F, Args...> parts;

	decltype(auto) operator()() &&
	{
		return std::apply(
			[](F &&f, Args &&...args) -> decltype(auto) {
				return std::invoke(std::forward<F>(f),
						   std::forward<Args>(args)...);
			},
			std::move(parts));
	}
};

/* Return f(args...) as an object that can be called later without arguments. */
template <typename F, typename... Args>
decltype(auto) make_call(F &&f, Args &&...args)
{
	static_assert(is_task<F, Args...>,
		      "sennit: this function cannot be called with copies of "
		      "these arguments (as by std::thread: std::ref passes a "
		      "reference)");
	static_assert(!is_task<F, Args...> || is_kept<F, Args...>,
		      "sennit: the function and its arguments are kept: "
		      "std::move what cannot be copied");

	if constexpr (!is_task<F, Args...> || !is_kept<F, Args...>)
		return wrong();
	else if constexpr (sizeof...(Args) == 0)
		return std::forward<F>(f);
	else
		return bound_call<std::decay_t<F>, std::decay_t<Args>...>{
			{ std::forward<F>(f), std::forward<Args>(args)... }
		};
}

/* What a task that calls f(args...) returns. */
template <typename F, typename... Args>
using call_result = result_of<std::decay_t<F>, std::decay_t<Args>...>;

/* Storage for one value, which is constructed and destroyed explicitly. */
template <typename T> union room {
	room()
	{
	}
	~room()
	{
	}
	T value;
};

template <typename F>
inline constexpr bool is_word =
	sizeof(F) <= sizeof(void *) && alignof(F) <= alignof(void *) &&
	std::is_trivially_copyable_v<F> &&std::is_trivially_destructible_v<F>;

inline constexpr std::size_t argument_alignment = 16;

/* Allocate memory for an F that goes to a task on s. NULL if there is none. */
template <typename F> void *take_memory(sennit_scheduler *s)
{
	if constexpr (alignof(F) > argument_alignment)
		return ::operator new (sizeof(F),
				       std::align_val_t{ alignof(F) },
				       std::nothrow);
	else
		return sennit_argument_alloc(s, sizeof(F));
}

template <typename F> void give_memory(sennit_scheduler *s, void *memory)
{
	if constexpr (alignof(F) > argument_alignment)
		::operator delete (memory, std::align_val_t{ alignof(F) });
	else
		sennit_argument_free(s, memory, sizeof(F));
}

/* Frees memory in its destructor, unless the memory was taken from it. */
template <typename F> struct reserved {
	sennit_scheduler *scheduler;
	void             *memory;

	~reserved()
	{
		if (memory)
			give_memory<F>(scheduler, memory);
	}
};

/* Turn f into a task's argument. Returns 0 or -ENOMEM. */
template <typename F, typename From>
int pack(sennit_scheduler *s, From &&f, void *&argument)
{
	if constexpr (is_word<F>) {
		const F word(std::forward<From>(f));

		argument = nullptr;
		if constexpr (!std::is_empty_v<F>)
			std::memcpy(&argument, &word, sizeof(F));
	} else {
		reserved<F> r{ s, take_memory<F>(s) };

		if (!r.memory)
			return -ENOMEM;
		argument = ::new (r.memory) F(std::forward<From>(f));
		r.memory = nullptr;
	}
	return 0;
}

/* Undo pack(), for a task that never runs. */
template <typename F> void drop(sennit_scheduler *s, void *argument)
{
	if constexpr (!is_word<F>) {
		static_cast<F *>(argument)->~F();
		give_memory<F>(s, argument);
	}
}

/* Undo pack() on a task of the scheduler: holds the callable as long as this
 * object exists. A word is copied into an object of its type, as std::bit_cast
 * does. Any other callable stays where pack() made it. */
template <typename F, bool = is_word<F>> class unpacked
{
public:
	explicit unpacked(void *argument) noexcept
	{
		if constexpr (!std::is_empty_v<F>)
			std::memcpy(static_cast<void *>(&copy_.value),
				    &argument, sizeof(F));
	}
	F &operator*() noexcept
	{
		return copy_.value;
	}

private:
	room<F> copy_;
};

template <typename F> class unpacked<F, false>
{
public:
	explicit unpacked(void *argument) noexcept
	    : made_(static_cast<F *>(argument))
	{
	}
	unpacked(const unpacked &) = delete;
	unpacked &operator=(const unpacked &) = delete;
	~unpacked()
	{
		drop<F>(nullptr, made_);
	}
	F &operator*() noexcept
	{
		return *made_;
	}

private:
	F *made_;
};

/* The sennit_task_fn of an F. If an exception leaves it, the library ends the
 * program, since the library can name the task. */
template <typename F> void run(void *argument)
{
	unpacked<F> f(argument);

	static_cast<void>(std::invoke(std::move(*f)));
}

} // namespace detail

SENNIT_CPP_END

#endif
