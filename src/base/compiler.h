/* SPDX-License-Identifier: Apache-2.0 */
/* compiler.h - compiler features beyond C11.
 *
 * Owns: attributes, branch hints, the cache line size, and the detection of
 * sanitizers. */
#ifndef SN_COMPILER_H
#define SN_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define NOINLINE      __attribute__((noinline))
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define COLD          __attribute__((cold, noinline))
#define PRINTF(f, a)  __attribute__((format(printf, f, a)))

/* The adjacent-line prefetcher of x86 fetches 64-byte lines in pairs. Fields of
 * two writers must lie 128 bytes apart, so that the writers do not disturb each
 * other. */
#define CACHE_LINE 128

/* The address of the struct that contains *member as its field. */
#define container_of(member, type, field) \
	((type *)(void *)((char *)(member)-offsetof(type, field)))

/* Sanitizer detection: gcc defines macros, clang answers __has_feature. */
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

/* For functions that report a stack switch to a sanitizer. An instrumented
 * function would push its entry on one shadow stack and pop its exit from
 * another. */
#if defined(__clang__)
#define NO_SANITIZE __attribute__((disable_sanitizer_instrumentation))
#else
#define NO_SANITIZE \
	__attribute__((no_sanitize("address", "thread", "undefined")))
#endif

/* --- valgrind ------------------------------------------------------------- */

/* Does Valgrind run the program? */

#ifdef SENNIT_HAVE_VALGRIND
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

/* False in builds without Valgrind's headers. */
static inline bool under_valgrind(void)
{
	return RUNNING_ON_VALGRIND;
}

#endif
