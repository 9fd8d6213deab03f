/* SPDX-License-Identifier: Apache-2.0 */
/* base.h - definitions that all headers of sennit share: linkage, words, time.
 *
 * The comment of every declaration ends with a contract line:
 *
 *	From: from where the call may be made.
 *	  fiber   from a task on any worker, or from a bound thread's own stack
 *	  thread  from any other thread
 *	Blocks: whether the caller may wait. A fiber that waits is suspended and
 *	  resumes on the thread that it left; a thread that waits sleeps.
 *
 * A call that can fail returns 0 or a negative errno value. On error it leaves
 * its outputs unchanged. Misuse of a call prints one line and aborts the
 * process.
 *
 * A pointer argument must point to an object of its type, unless the comment
 * says what NULL means. Any other NULL is misuse. Calls that take a scheduler
 * report it; in other calls the access to NULL faults, and a line names the
 * call (config.overflow).
 */
#ifndef SENNIT_BASE_H
#define SENNIT_BASE_H

#ifndef __cplusplus
#include <stdatomic.h>
#endif
#include <stddef.h>
#include <stdint.h>

#define SENNIT_VERSION_MAJOR 0
#define SENNIT_VERSION_MINOR 2
#define SENNIT_VERSION_PATCH 0

#ifdef __cplusplus
#define SENNIT_BEGIN extern "C" {
#define SENNIT_END   }
#else
#define SENNIT_BEGIN
#define SENNIT_END
#endif

/* SENNIT_MUST_USE: a caller that ignores the result may miss a task that was
 * not accepted, a lock that it does not hold, a value, or a deadline that has
 * passed. */
#define SENNIT_API      __attribute__((visibility("default")))
#define SENNIT_MUST_USE __attribute__((warn_unused_result))

SENNIT_BEGIN

/* A 32-bit word that the library changes atomically. C++ code embeds it and
 * does not access it. */
typedef struct sennit_word {
#ifdef __cplusplus
	uint32_t value_;
#else
	_Atomic(uint32_t) value_;
#endif
} sennit_word;

/* A 16-bit word, likewise. */
typedef struct sennit_half {
#ifdef __cplusplus
	uint16_t value_;
#else
	_Atomic(uint16_t) value_;
#endif
} sennit_half;

/* A pointer that the library changes atomically. C++ code embeds it and does
 * not access it. */
typedef struct sennit_pointer {
#ifdef __cplusplus
	void *value_;
#else
	_Atomic(void *)   value_;
#endif
} sennit_pointer;

/* A point in time, in nanoseconds of the monotonic clock (CLOCK_MONOTONIC). A
 * deadline is an absolute time and is the last argument of a call. A deadline
 * of 0 makes the call try once without waiting. SENNIT_NEVER makes it wait for
 * ever. Setting the wall clock changes no deadline.
 *
 * A call that may wait succeeds at once if it does not have to. If it has to
 * wait, and returns an int, it returns
 *   - -ETIMEDOUT at its deadline, or at the deadline of the group that the
 *     calling task belongs to, whichever is earlier;
 *   - -ECANCELED once that group is cancelled.
 * A call without a deadline waits like one with SENNIT_NEVER. Outside a group
 * nothing ends its wait early.
 *
 * These waits a group cannot end. Either they return nothing that could tell,
 * or what they wait for must not be left:
 *   - sennit_mutex_lock, sennit_rwlock_lock, sennit_rwlock_lock_shared;
 *   - sennit_wait_group_wait, sennit_barrier_wait, sennit_once_call;
 *   - sennit_group_wait, the joins of fork_join.h, the loops of parallel.h,
 *     sennit_run, sennit_blocking_call, MPI's own calls, and sennit_unbind.
 * Those of them that have a form with a deadline can be ended in that form.
 *
 * A deadline long before the start of the process, less than half of the
 * clock's value then, is misuse: a duration was passed. A call that would wait
 * prints a line, once in a process; builds with assertions abort. Less than a
 * microsecond is nobody's duration and stands for a time that has passed. */
typedef uint64_t sennit_time;

#define SENNIT_NEVER UINT64_MAX

/* Like SENNIT_NEVER, and the deadline and the cancellation of a group do not
 * end the wait either. Use it for what must be done in a cancelled group, too,
 * for example to wait for a helper that uses the caller's memory. */
#define SENNIT_UNCANCELLED (SENNIT_NEVER - 1)

#define SENNIT_MICROSECOND UINT64_C(1000)
#define SENNIT_MILLISECOND UINT64_C(1000000)
#define SENNIT_SECOND      UINT64_C(1000000000)

/* Return the current time of the monotonic clock, in nanoseconds.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_time sennit_now(void);

/* Return the time `nanoseconds` from now. The result saturates at SENNIT_NEVER.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API sennit_time sennit_after(uint64_t nanoseconds);

/* Return the text of an error, for people: `error` is what a call returned, or
 * the same as a positive number; 0 is "no error". What an error means in this
 * library is said in its words, for example that a group was cancelled or a
 * channel is closed. All others have the text of strerror(). The text belongs
 * to the library or to libc and does not change; any thread may ask. Only for a
 * number that no one knows it is valid until the thread's next call.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API const char *sennit_strerror(int error);

/* A source of memory. The library takes all its memory from it, except stacks,
 * which it maps, and the memory that libc needs to start a thread or to read a
 * file.
 *
 * allocate returns size bytes at a multiple of alignment, which is a power of
 * two, or NULL. release takes a pointer that allocate returned and the size
 * that was asked for. Any thread may call both, also several threads at once.
 * Neither may block on a primitive of sennit. It is misuse to return memory
 * that is not aligned as required. A call that takes an allocator returns
 * -EINVAL if one of the two functions is NULL. */
typedef struct sennit_allocator {
	void *(*allocate)(void *context, size_t size, size_t alignment);
	void (*release)(void *context, void *memory, size_t size);
	void *context;
} sennit_allocator;

SENNIT_END

#endif
