/* SPDX-License-Identifier: Apache-2.0 */
/* compiler.h - what we ask of the compiler beyond C11, in one place. */
#ifndef SN_COMPILER_H
#define SN_COMPILER_H

#include <stddef.h>
#include <stdint.h>

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define NOINLINE      __attribute__((noinline))
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define COLD          __attribute__((cold, noinline))
#define PRINTF(f, a)  __attribute__((format(printf, f, a)))

/* Two lines: the adjacent-line prefetcher of x86 pulls lines in pairs, so
 * fields of two writers must lie 128 bytes apart not to disturb each other. */
#define CACHE_LINE 128

/* The struct that holds *member as its field. */
#define container_of(member, type, field) \
	((type *)(void *)((char *)(member)-offsetof(type, field)))

/* Sanitizers: gcc defines macros, clang answers __has_feature. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SN_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define SN_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SN_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define SN_TSAN 1
#endif

/* For functions that tell a sanitizer of a switch: an instrumented one would
 * push its entry on one shadow stack and pop its exit from another. */
#if defined(__clang__)
#define NO_SANITIZE __attribute__((disable_sanitizer_instrumentation))
#else
#define NO_SANITIZE \
	__attribute__((no_sanitize("address", "thread", "undefined")))
#endif

#endif
