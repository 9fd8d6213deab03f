/* SPDX-License-Identifier: Apache-2.0 */
/* blocking.hpp - calling what blocks in the system: blocking.h for callables.
 */
#ifndef SENNIT_CPP_BLOCKING_HPP
#define SENNIT_CPP_BLOCKING_HPP

#include "sennit/blocking.h"
#include "sennit/cpp/outcome.hpp"

#include <tuple>

namespace sennit
{

/* Call f(args...) on a helper thread, while the calling fiber waits; return
 * what it returns, throw what it throws. Nothing is copied: the caller's stack
 * stays while it waits. */
template <typename F, typename... Args>
std::invoke_result_t<F, Args...> blocking_call(F &&f, Args &&...args)
{
	using result = std::invoke_result_t<F, Args...>;

	detail::outcome<result> out;
	auto                    call = [&] {
                out.set_by(std::forward<F>(f), std::forward<Args>(args)...);
	};

	sennit_blocking_call(
		[](void *argument) -> void * {
			(*static_cast<decltype(call) *>(argument))();
			return nullptr;
		},
		&call);
	return out.take();
}

} // namespace sennit

#endif
