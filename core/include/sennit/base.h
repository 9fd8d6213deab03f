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
 *
 * Objects to synchronise with, and handles, may be used by any number of
 * callers at once, except that init, destroy and the last release need all
 * other uses to be over. Where other rules hold, the header of the object says
 * so: a continuation, a builder of a graph, and a reader have one user at a
 * time.
 *
 * A struct whose first member is `size` may grow at its end in a minor version.
 * The side that fills it in sets size to the sizeof of its own build: the
 * program for structs that it passes or has filled in, the library for structs
 * that it passes to a function of the program. Members that an older program
 * does not know are 0, which asks for nothing; if a newer program sets a member
 * that the library does not know, the call returns -E2BIG. A struct that the
 * library fills in gets the members that both know, and 0 in all others. All
 * members of such a struct that a program does not use are 0. SENNIT_CONFIG and
 * similar macros set size.
 *
 * Limits, such as SENNIT_SELECT_MAX, may rise in a minor version. Do not give
 * an array a limit's size unless its comment says so.
 */
#ifndef SENNIT_BASE_H
#define SENNIT_BASE_H

#ifndef __cplusplus
#include <stdatomic.h>
#endif
#include <stddef.h>
#include <stdint.h>

#define SENNIT_VERSION_MAJOR 0
#define SENNIT_VERSION_MINOR 9
#define SENNIT_VERSION_PATCH 0

/* The version of the headers as one number, which grows with each release: of
 * 1.2.3 it is 1002003. */
#define SENNIT_VERSION                                                  \
	(SENNIT_VERSION_MAJOR * 1000000 + SENNIT_VERSION_MINOR * 1000 + \
	 SENNIT_VERSION_PATCH)

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

/* The address of a constant that is there to the end of the expression. C++ has
 * no compound literals; its initializers are in the order of the fields. */
#ifdef __cplusplus
#define SENNIT_CONSTANT_(TYPE, ...) \
	(&static_cast<const TYPE &>(TYPE{ __VA_ARGS__ }))
#else
#define SENNIT_CONSTANT_(TYPE, ...) (&(const TYPE){ __VA_ARGS__ })
#endif

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
 * A group cannot end these waits: they return no error, or leaving them early
 * would be wrong:
 *   - sennit_mutex_lock, sennit_rwlock_lock, sennit_rwlock_lock_shared;
 *   - sennit_wait_group_wait, sennit_barrier_wait, sennit_once_call;
 *   - sennit_group_wait, the joins of fork_join.h, the loops of parallel.h,
 *     sennit_scheduler_run, sennit_blocking_call, MPI's own calls, and
 *     sennit_thread_unbind.
 * Those of them that have a form with a deadline can be ended in that form.
 *
 * A deadline long before the start of the process, less than half of the
 * clock's value then, is misuse: a duration was passed. A call that would wait
 * prints a line, once in a process; builds with assertions abort. A value below
 * a microsecond is accepted as a deadline that has passed. */
typedef uint64_t sennit_time;

#define SENNIT_NEVER UINT64_MAX

/* Like SENNIT_NEVER, and the deadline and the cancellation of a group do not
 * end the wait either. Use it for what must be done in a cancelled group, too,
 * for example to wait for a helper that uses the caller's memory. */
#define SENNIT_UNCANCELLED (SENNIT_NEVER - 1)

#define SENNIT_MICROSECOND UINT64_C(1000)
#define SENNIT_MILLISECOND UINT64_C(1000000)
#define SENNIT_SECOND      UINT64_C(1000000000)

/* Return the version of the library that runs, as a number like SENNIT_VERSION.
 * The headers with which the caller was compiled may have an older one.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API uint32_t sennit_version(void);

/* Return a text on how the library was built, for reports of errors: its
 * version, the compiler, and the options that change what it does, separated
 * by blanks. The text is for people and may change with
 * any release.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API const char *sennit_build(void);

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
