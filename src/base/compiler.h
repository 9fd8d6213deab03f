/* SPDX-License-Identifier: Apache-2.0 */
/* compiler.h - compiler features beyond C11.
 *
 * Owns: attributes, branch hints, the cache line size, and the detection of
 * sanitizers. */
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

/* The adjacent-line prefetcher of x86 fetches 64-byte lines in pairs. Fields of
 * two writers must lie 128 bytes apart, so that the writers do not disturb each
 * other. */
#define CACHE_LINE 128

/* HALVES declares two members that are the halves of one 64-bit word, in the
 * order of the processor's bytes. The address of the low half is LOW_HALF_AT
 * bytes above that of the word. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define HALVES(low_type, low, high_type, high) \
	high_type high;                        \
	low_type  low
#define LOW_HALF_AT 4
#else
#define HALVES(low_type, low, high_type, high) \
	low_type  low;                         \
	high_type high
#define LOW_HALF_AT 0
#endif

/* Return the low 64 bits of a * b / 2^32. Compilers for 32 bits have no product
 * of 128 bits. */
static ALWAYS_INLINE uint64_t product_32(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__)
	__extension__ typedef unsigned __int128 wide;

	return (uint64_t)((wide)a * b >> 32);
#else
	return (a >> 32) * b + (uint32_t)a * (b >> 32) +
	       ((uint64_t)(uint32_t)a * (uint32_t)b >> 32);
#endif
}

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

#endif
