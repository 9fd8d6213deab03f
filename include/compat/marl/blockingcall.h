/* SPDX-License-Identifier: Apache-2.0 */
/* blockingcall.h - calls that hold up their thread, on a thread that may be.
 *
 * The calling fiber is set aside meanwhile and its worker goes on.
 */
#ifndef marl_blocking_call_h
#define marl_blocking_call_h

#include "export.h"
#include "scheduler.h"
#include "waitgroup.h"

#include "sennit/event.h"

#include <future>
#include <thread>
#include <type_traits>
#include <utility>

namespace marl
{
namespace detail
{

/* Run function() on another thread, bound to the caller's scheduler, and wait.
 */
template <typename F> inline void elsewhere(F &function)
{
	Scheduler   *scheduler = Scheduler::get();
	sennit_event done = SENNIT_EVENT_INIT(SENNIT_EVENT_MANUAL);

	std::thread thread([&] {
		if (scheduler)
			scheduler->bind();
		function();
		if (scheduler)
			Scheduler::unbind();
		sennit_event_set(&done);
	});

	sennit_event_wait(&done);
	thread.join();
}

} // namespace detail

/* Call f(arguments...) on another thread, bound to the same scheduler as the
 * caller, and return what it returns, or throw what it throws. */
template <typename F, typename... Arguments>
inline auto blocking_call(F &&f, Arguments &&...arguments)
	-> decltype(f(std::forward<Arguments>(arguments)...))
{
	using Result = decltype(f(std::forward<Arguments>(arguments)...));

	std::packaged_task<Result()> call([&]() -> Result {
		return f(std::forward<Arguments>(arguments)...);
	});
	std::future<Result>          result = call.get_future();

	detail::elsewhere(call);
	return result.get();
}

} // namespace marl

#endif
