/* SPDX-License-Identifier: Apache-2.0 */
/* blockingcall.h - calls of functions that block, on helper threads.
 *
 * The calling fiber is suspended meanwhile, and its worker runs other tasks.
 * The helper threads are reused, and their number is limited: see
 * sennit/blocking.h.
 */
#ifndef marl_blocking_call_h
#define marl_blocking_call_h

#include "detail/language.h"
#if MARL_HAS_CPP11

#include "export.h"
#include "scheduler.h"
#include "waitgroup.h"

#include "sennit/blocking.h"

#include <future>
#include <type_traits>
#include <utility>

namespace marl
{
namespace detail
{

/* Run call(), bound to this scheduler unless it is NULL. */
template <typename F> struct Elsewhere {
	static void *run(void *argument) noexcept
	{
		Elsewhere *self = static_cast<Elsewhere *>(argument);
		bool       bind = self->scheduler && !Scheduler::get();

		if (bind)
			self->scheduler->bind();
		self->call();
		if (bind)
			Scheduler::unbind();
		return nullptr;
	}

	F         &call;
	Scheduler *scheduler;
};

} // namespace detail

/* Call f(arguments...) on another thread, bound to the same scheduler as the
 * caller, or on the caller's thread if the caller has no scheduler. Returns
 * what f returns, and throws what f throws. */
template <typename F, typename... Arguments>
inline auto blocking_call(F &&f, Arguments &&...arguments)
	-> decltype(f(std::forward<Arguments>(arguments)...))
{
	using Result = decltype(f(std::forward<Arguments>(arguments)...));

	std::packaged_task<Result()> call([&]() -> Result {
		return f(std::forward<Arguments>(arguments)...);
	});
	std::future<Result>          result = call.get_future();

	detail::Elsewhere<decltype(call)> elsewhere = { call,
							Scheduler::get() };

	sennit_blocking_call(elsewhere.run, &elsewhere);
	return result.get();
}

} // namespace marl

#endif
#endif
