/* SPDX-License-Identifier: Apache-2.0 */
/* defer.h - defer(statement) runs the statement at the end of the scope; of
 * several in a scope the last comes first.
 */
#ifndef marl_defer_h
#define marl_defer_h

#include "detail/language.h"
#if MARL_HAS_CPP11

#include "finally.h"

#define MARL_CONCAT_(a, b) a##b
#define MARL_CONCAT(a, b)  MARL_CONCAT_(a, b)

#define defer(x) \
	auto MARL_CONCAT(defer_, __LINE__) = marl::make_finally([&] { x; })

#endif
#endif
