/* SPDX-License-Identifier: Apache-2.0 */
/* deprecated.h - a mark for deprecated declarations.
 *
 * Define MARL_WARN_DEPRECATED as 0 before the first include to disable the
 * warnings.
 */
#ifndef marl_deprecated_h
#define marl_deprecated_h

#include "detail/language.h"
#if MARL_HAS_CPP11

#ifndef MARL_WARN_DEPRECATED
#define MARL_WARN_DEPRECATED 1
#endif

#if MARL_WARN_DEPRECATED
#define MARL_DEPRECATED(issue, message) \
	__attribute__((deprecated(message " (marl issue " #issue ")")))
#else
#define MARL_DEPRECATED(issue, message)
#endif

#endif
#endif
