/* SPDX-License-Identifier: Apache-2.0 */
/* blocking.hpp - blocking.h for callables: calls of functions that block their
 * thread.
 */
#ifndef SENNIT_CPP_BLOCKING_HPP
#define SENNIT_CPP_BLOCKING_HPP

#include "sennit/blocking.h"
#include "sennit/cpp/outcome.hpp"

#include <tuple>

namespace sennit
{

/* Call f(args...) on a helper thread, while the calling fiber waits. Returns
 * what f returns, and throws what f throws. Nothing is copied, since the
 * caller's stack exists while it waits. */
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
