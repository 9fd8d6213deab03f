/* SPDX-License-Identifier: Apache-2.0 */
/* base.h - what every header of sennit shares: linkage, words, time.
 *
 * Every declaration of the library ends its comment with a contract line:
 *
 *	From: from where it may be called.
 *	  fiber   a task on any worker, or a bound thread's own stack
 *	  thread  any other thread
 *	Blocks: whether the caller may wait. A fiber that waits is set aside and
 *	  resumes on the thread it left; a thread that waits sleeps.
 *
 * Calls that can fail return 0 or a negative errno value; their outputs are
 * untouched on error. Misuse prints one line and aborts.
 *
 * A pointer that a call takes must point to an object of its type, unless its
 * comment says what NULL means. NULL anywhere else is misuse: calls that take a
 * scheduler name it; elsewhere it is the fault of an access to it.
 */
#ifndef SENNIT_BASE_H
#define SENNIT_BASE_H

#ifndef __cplusplus
#include <stdatomic.h>
#endif
#include <stddef.h>
#include <stdint.h>

#define SENNIT_VERSION_MAJOR 0
#define SENNIT_VERSION_MINOR 1
#define SENNIT_VERSION_PATCH 0

#ifdef __cplusplus
#define SENNIT_BEGIN extern "C" {
#define SENNIT_END   }
#else
#define SENNIT_BEGIN
#define SENNIT_END
#endif

#define SENNIT_API      __attribute__((visibility("default")))
#define SENNIT_MUST_USE __attribute__((warn_unused_result))

SENNIT_BEGIN

/* A 32-bit word that the library changes atomically; C++ embeds it without
 * touching it. */
typedef struct sennit_word {
#ifdef __cplusplus
	uint32_t value_;
#else
	_Atomic(uint32_t) value_;
#endif
} sennit_word;

/* The same for a pointer. */
typedef struct sennit_pointer {
#ifdef __cplusplus
	void *value_;
#else
	_Atomic(void *)   value_;
#endif
} sennit_pointer;

/* A point in time: nanoseconds of the monotonic clock (CLOCK_MONOTONIC).
 * Deadlines are absolute and come last: 0 tries once without waiting,
 * SENNIT_NEVER waits for ever. Steps of the wall clock move no deadline.
 *
 * A call with a deadline that finds what it wants takes it. One that would have
 * to wait returns -ETIMEDOUT at the deadline, or at that of the group that the
 * calling task belongs to, whichever comes first, and -ECANCELED once that
 * group is cancelled. A call without a deadline cannot fail: no group's
 * deadline or cancelling reaches it. */
typedef uint64_t sennit_time;

#define SENNIT_NEVER UINT64_MAX

/* As SENNIT_NEVER, and no group's deadline or cancelling ends the wait either:
 * for calls that have no form without a deadline. */
#define SENNIT_UNCANCELLED (SENNIT_NEVER - 1)

#define SENNIT_MICROSECOND UINT64_C(1000)
#define SENNIT_MILLISECOND UINT64_C(1000000)
#define SENNIT_SECOND      UINT64_C(1000000000)

/* The monotonic clock's time.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_time sennit_now(void);

/* The time `nanoseconds` from now; saturates at SENNIT_NEVER.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_time sennit_after(uint64_t nanoseconds);

/* Where the library gets its memory, but for stacks, which are mapped, and for
 * what libc needs to start a thread or read a file. allocate returns size bytes
 * at a multiple of alignment (a power of two), or NULL; release gets back what
 * allocate returned and the size asked for. Both are called from any thread,
 * several at once, and must not block on a sennit primitive. To return what is
 * not aligned as demanded is misuse. An allocator that lacks one of the two is
 * refused with -EINVAL wherever it is given. */
typedef struct sennit_allocator {
	void *(*allocate)(void *context, size_t size, size_t alignment);
	void (*release)(void *context, void *memory, size_t size);
	void *context;
} sennit_allocator;

SENNIT_END

#endif
