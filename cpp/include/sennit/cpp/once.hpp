/* SPDX-License-Identifier: Apache-2.0 */
/* once.hpp - once.h in the form of std::call_once. */
#ifndef SENNIT_CPP_ONCE_HPP
#define SENNIT_CPP_ONCE_HPP

#include "sennit/cpp/callable.hpp"
#include "sennit/cpp/error.hpp"
#include "sennit/cpp/time.hpp"
#include "sennit/once.h"

#include <functional>
#include <type_traits>
#include <utility>

SENNIT_CPP_BEGIN

class once
{
public:
	constexpr once() noexcept = default;
	once(const once &) = delete;
	once &operator=(const once &) = delete;

	bool is_done() const noexcept
	{
		return sennit_once_is_done(&o_);
	}

	/* Call f(args...) if this is not done and no other caller runs its
	 * function; otherwise wait for that function. If f throws, this call
	 * throws, the object is not done, and the next waiter calls its own
	 * function. A group does not end the wait for another caller. */
	template <typename F, typename... Args> void call(F &&f, Args &&...args)
	{
		static_assert(std::is_invocable_v<F, Args...>,
			      "sennit: once cannot call this function with "
			      "these arguments");

		auto run = [&] {
			std::invoke(detail::given<Args...>(std::forward<F>(f)),
				    std::forward<Args>(args)...);
		};

		if (is_done())
			return;
#if SENNIT_CPP_EXCEPTIONS
		if constexpr (!std::is_nothrow_invocable_v<F, Args...>) {
			attempt(run);
			return;
		}
#endif
		sennit_once_call(
			&o_,
			[](void *argument) {
				(*static_cast<decltype(run) *>(argument))();
			},
			&run);
	}

	sennit_once *native_handle() noexcept
	{
		return &o_;
	}

private:
#if SENNIT_CPP_EXCEPTIONS
	template <typename Run> struct trial {
		Run               &run;
		std::exception_ptr thrown;

		static int go(void *argument) noexcept
		{
			auto *t = static_cast<trial *>(argument);

			try {
				t->run();
				return 0;
			} catch (...) {
				t->thrown = std::current_exception();
				return 1;
			}
		}
	};

	template <typename Run> void attempt(Run &run)
	{
		trial<Run> t{ run, nullptr };
		const int  err = sennit_once_attempt_until(
			 &o_, trial<Run>::go, &t, SENNIT_UNCANCELLED);

		if (t.thrown)
			std::rethrow_exception(std::move(t.thrown));
		detail::check(err, "once");
	}
#endif

	sennit_once o_ = SENNIT_ONCE_INIT;
};

SENNIT_CPP_END

#endif
