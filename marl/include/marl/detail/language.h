/* SPDX-License-Identifier: Apache-2.0 */
/* language.h - MARL_HAS_CPP11: whether this is C++11 or later. If not, the
 * other headers are empty, so that this is the only error. */
#ifndef marl_detail_language_h
#define marl_detail_language_h

#if defined(__cplusplus) && __cplusplus >= 201103L
#define MARL_HAS_CPP11 1
#else
#define MARL_HAS_CPP11 0
#error "marl's headers here need C++11: compile with -std=c++11 or later"
#endif

/* Around an object with a destructor that runs when the process or a thread
 * ends, which clang's -Wexit-time-destructors would report to programs; and of
 * an object whose destructor never runs, for which clang would have one called
 * at exit, and -Wglobal-constructors would report that. */
#ifdef __clang__
#define MARL_ENDS_LATE_BEGIN                      \
	_Pragma("clang diagnostic push") _Pragma( \
		"clang diagnostic ignored \"-Wexit-time-destructors\"")
#define MARL_ENDS_LATE_END _Pragma("clang diagnostic pop")
#define MARL_STAYS         __attribute__((no_destroy))
#else
#define MARL_ENDS_LATE_BEGIN
#define MARL_ENDS_LATE_END
#define MARL_STAYS
#endif

#endif
