/* SPDX-License-Identifier: Apache-2.0 */
/* compiler.h - compiler features beyond C11, and checks.
 *
 * Owns: attributes, branch hints, the cache line size, the detection of
 * sanitizers; MISUSE, CHECK and ASSERT, which check.c implements. */
#ifndef SN_COMPILER_H
#define SN_COMPILER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* The call with the result x is no tail call, so that stacks and messages name
 * the public call that makes it. testing/build/public_frames.sh finds others.
 */
#define NO_TAIL_CALL(x) __asm__ volatile("" : "+r"(x))

/* The same: the result of the call. */
#define KEEP_FRAME(call)                       \
	__extension__({                        \
		__typeof__(call) kept_ = call; \
		NO_TAIL_CALL(kept_);           \
		kept_;                         \
	})

/* The same, behind a call without a result. */
#define FRAME_IS_KEPT() __asm__ volatile("")

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

/* --- checks --------------------------------------------------------------- */

/* Checks of contracts and invariants, and the message of a failure.
 *
 *	MISUSE  always on: the caller broke the contract; names the public call
 *	CHECK   always on: the library's state is broken, which must not spread
 *	ASSERT  debug builds: mistakes of the library, O(1)
 *
 * Each prints one line on standard error (the failure, its place, the worker,
 * the fiber and the thread) and aborts. Nothing here allocates or takes a lock.
 */

/* Print "sennit: <message> [who] (file:line)" and abort. */
COLD _Noreturn void sn_panic(const char *file, int line, const char *format,
			     ...) PRINTF(3, 4);

/* Writes a description of the running worker and fiber into text, which has
 * `size` bytes and is always terminated. The scheduler registers the function
 * once. */
typedef void sn_describe_fn(char *text, size_t size);
void         sn_check_describe(sn_describe_fn *describe);

/* Call the registered function. Without one, text becomes empty. */
void sn_check_who(char *text, size_t size);

/* Call dump() after the message of a failure, before the process aborts. */
void sn_check_on_panic(void (*dump)(void));

#define sn_file_ (__builtin_strrchr("/" __FILE__, '/') + 1)

#define MISUSE(broken, call, why)                                              \
	do {                                                                   \
		if (unlikely(broken))                                          \
			sn_panic(sn_file_, __LINE__, "misuse of %s: %s", call, \
				 why);                                         \
	} while (0)

#define CHECK(cond, why)                                                 \
	do {                                                             \
		if (unlikely(!(cond)))                                   \
			sn_panic(sn_file_, __LINE__, "broken: %s", why); \
	} while (0)

#ifdef NDEBUG
#define ASSERT(cond) ((void)0)
#else
#define ASSERT(cond) CHECK(cond, #cond)
#endif

#endif
