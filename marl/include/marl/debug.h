/* SPDX-License-Identifier: Apache-2.0 */
/* debug.h - checks of the program, in builds that enable them.
 *
 * MARL_DEBUG_ENABLED is 1 unless NDEBUG is defined; a program may define it
 * itself. It controls only the macros: sennit's own checks are always enabled.
 */
#ifndef marl_debug_h
#define marl_debug_h

#include "detail/language.h"
#if MARL_HAS_CPP11

#include "export.h"

#include "sennit/scheduler.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#ifndef MARL_DEBUG_ENABLED
#if !defined(NDEBUG) || defined(DCHECK_ALWAYS_ON)
#define MARL_DEBUG_ENABLED 1
#else
#define MARL_DEBUG_ENABLED 0
#endif
#endif

namespace marl
{

/* Print the message, which is a printf format, and abort. */
[[noreturn]] inline void fatal(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	std::vfprintf(stderr, format, arguments);
	va_end(arguments);
	std::abort();
}

/* Print the message, which is a printf format. */
inline void warn(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	std::vfprintf(stderr, format, arguments);
	va_end(arguments);
}

/* Abort unless the calling thread has a scheduler, which `feature` needs. */
inline void assert_has_bound_scheduler(const char *feature)
{
	if (!sennit_scheduler_current())
		fatal("%s needs a scheduler, and none is bound to this "
		      "thread\n",
		      feature);
}

namespace detail
{

/* Abort on misuse of this library. It is never compiled out. */
inline void require(bool holds, const char *otherwise)
{
	if (!holds)
		fatal("marl: %s\n", otherwise);
}

} // namespace detail
} // namespace marl

/* As in marl, these macros end with a semicolon of their own. */
#if MARL_DEBUG_ENABLED
#define MARL_FATAL(...)                  \
	do {                             \
		marl::warn(__VA_ARGS__); \
		marl::fatal("%s", "\n"); \
	} while (false);
#define MARL_WARN(...)                         \
	do {                                   \
		marl::warn("%s", "WARNING: "); \
		marl::warn(__VA_ARGS__);       \
		marl::warn("%s", "\n");        \
	} while (false);
#define MARL_ASSERT(condition, ...)                   \
	do {                                          \
		if (!(condition)) {                   \
			marl::warn("%s", "ASSERT: "); \
			MARL_FATAL(__VA_ARGS__)       \
		}                                     \
	} while (false);
#define MARL_ASSERT_HAS_BOUND_SCHEDULER(feature) \
	marl::assert_has_bound_scheduler(feature);
#define MARL_UNREACHABLE() MARL_FATAL("%s", "UNREACHABLE")
#else
#define MARL_FATAL(...)
#define MARL_WARN(...)
#define MARL_ASSERT(condition, ...)
#define MARL_ASSERT_HAS_BOUND_SCHEDULER(feature)
#define MARL_UNREACHABLE()
#endif

#endif
#endif
