/* SPDX-License-Identifier: Apache-2.0 */
/* blocking.hpp - blocking.h for callables: calls of functions that block their
 * thread.
 */
#ifndef SENNIT_CPP_BLOCKING_HPP
#define SENNIT_CPP_BLOCKING_HPP

#include "sennit/blocking.h"
#include "sennit/cpp/callable.hpp"
#include "sennit/cpp/outcome.hpp"

#include <tuple>

SENNIT_CPP_BEGIN

/* Call f(args...) on a helper thread, while the calling fiber waits. Returns
 * what f returns, and throws what f throws. Nothing is copied, since the
 * caller's stack exists while it waits. */
template <typename F, typename... Args>
detail::result_of<F, Args...> blocking_call(F &&f, Args &&...args)
{
	static_assert(std::is_invocable_v<F, Args...>,
		      "sennit: blocking_call cannot call this function with "
		      "these arguments");

	using result = detail::result_of<F, Args...>;

	detail::outcome<result> out;
	auto                    call = [&] {
                out.set_by(detail::given<Args...>(std::forward<F>(f)),
					      std::forward<Args>(args)...);
	};

	sennit_blocking_call(
		[](void *argument) -> void * {
			(*static_cast<decltype(call) *>(argument))();
			return nullptr;
		},
		&call);
	return out.take();
}

SENNIT_CPP_END

#endif
