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

#endif
