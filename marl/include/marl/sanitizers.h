/* SPDX-License-Identifier: Apache-2.0 */
/* sanitizers.h - the sanitizers that this file is compiled for.
 *
 * Each MARL_X_SANITIZER_ENABLED is 1 or 0, and MARL_X_SANITIZER_ONLY(code)
 * keeps or drops its argument. gcc gives no sign of the undefined sanitizer.
 */
#ifndef marl_sanitizers_h
#define marl_sanitizers_h

#if defined(__has_feature)
#define MARL_HAS_FEATURE_(x) __has_feature(x)
#else
#define MARL_HAS_FEATURE_(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || MARL_HAS_FEATURE_(address_sanitizer)
#define MARL_ADDRESS_SANITIZER_ENABLED 1
#define MARL_ADDRESS_SANITIZER_ONLY(x) x
#else
#define MARL_ADDRESS_SANITIZER_ENABLED 0
#define MARL_ADDRESS_SANITIZER_ONLY(x)
#endif

#if defined(__SANITIZE_MEMORY__) || MARL_HAS_FEATURE_(memory_sanitizer)
#define MARL_MEMORY_SANITIZER_ENABLED 1
#define MARL_MEMORY_SANITIZER_ONLY(x) x
#else
#define MARL_MEMORY_SANITIZER_ENABLED 0
#define MARL_MEMORY_SANITIZER_ONLY(x)
#endif

#if defined(__SANITIZE_THREAD__) || MARL_HAS_FEATURE_(thread_sanitizer)
#define MARL_THREAD_SANITIZER_ENABLED 1
#define MARL_THREAD_SANITIZER_ONLY(x) x
#else
#define MARL_THREAD_SANITIZER_ENABLED 0
#define MARL_THREAD_SANITIZER_ONLY(x)
#endif

#if MARL_HAS_FEATURE_(undefined_behavior_sanitizer)
#define MARL_UNDEFINED_SANITIZER_ENABLED 1
#define MARL_UNDEFINED_SANITIZER_ONLY(x) x
#else
#define MARL_UNDEFINED_SANITIZER_ENABLED 0
#define MARL_UNDEFINED_SANITIZER_ONLY(x)
#endif

#endif
