/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - checks of contracts and invariants, and the message of a failure.
 *
 *	MISUSE  always on: the caller broke the contract; names the public call
 *	CHECK   always on: the library's state is broken, which must not spread
 *	ASSERT  debug builds: mistakes of the library, O(1)
 *	ASSERT_SLOW  torture builds: walks whole structures
 *
 * Each prints one line on standard error (the failure, its place, the worker,
 * the fiber and the thread) and aborts. Nothing here allocates or takes a lock.
 */
#ifndef SN_CHECK_H
#define SN_CHECK_H

#include "base/compiler.h"

#include <stddef.h>

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

#ifdef SENNIT_TORTURE
#define ASSERT_SLOW(cond) CHECK(cond, #cond)
#else
#define ASSERT_SLOW(cond) ((void)0)
#endif

#endif
