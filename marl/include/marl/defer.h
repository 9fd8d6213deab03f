/* SPDX-License-Identifier: Apache-2.0 */
/* defer.h - defer(statement) runs the statement at the end of the scope.
 * Several deferred statements of a scope run in reverse order.
 */
#ifndef marl_defer_h
#define marl_defer_h

#include "detail/language.h"
#if MARL_HAS_CPP11

#include "finally.h"

/* Two macros, so that the line is expanded to its number before it is joined to
 * the name. */
#define SENNIT_MARL_NAME(line)   SENNIT_MARL_JOINED(line)
#define SENNIT_MARL_JOINED(line) deferred_in_line_##line

#define defer(x) \
	auto SENNIT_MARL_NAME(__LINE__) = ::marl::make_finally([&] { x; })

#endif
#endif
