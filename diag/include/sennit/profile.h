/* SPDX-License-Identifier: Apache-2.0 */
/* profile.h - where a program spends its time: which functions of which tasks
 * use the CPU, where fibers wait, and for which locks.
 *
 * In libsennit-diag.
 *
 *	sennit_profile_start(SENNIT_PROFILE_CPU | SENNIT_PROFILE_WAITS, 0);
 *	...
 *	sennit_profile_write(fd, SENNIT_PROFILE_CPU, SENNIT_PROFILE_PPROF);
 *	sennit_profile_stop();
 *
 * CPU: each thread has a timer of its CPU time, which sends SIGPROF each time
 * the thread has used one period. The handler walks the stack of the fiber,
 * within its bounds, with the unwind tables of the program's files. Frame
 * pointers are not needed. All threads that exist at the start get a timer, as
 * do threads that libsennit starts later: workers, and threads for blocking
 * calls, whose samples count for the task that waits for the call. A thread of
 * the program that starts later gets one when it is bound. The system checks
 * timers at its ticks, often 250 times a second. A sample counts for all
 * periods since the previous sample. The signal restarts system calls, but
 * those that signal(7) lists as never restarted may return EINTR.
 *
 * Waits: when a fiber runs again after a wait, it records how long it waited
 * and the stack from which it waited. Yields and waits of unbound threads are
 * not recorded. Lock profiles contain the waits for mutexes and reader-writer
 * locks.
 *
 * Samples are summed by stack, task and kind of wait. Each thread does this for
 * itself, without a lock, in up to 2 MiB of memory each for CPU and for waits.
 * Pages that are not filled are not used. Samples that do not fit count as
 * lost, with their time, and each format reports them. The memory is kept for
 * the next profile until the process ends.
 *
 * While no profile is running this costs nothing: see docs/performance.md.
 * docs/debugging.md describes SENNIT_DEBUG=profile=FILE. The profiler of
 * an allocator can find the task with sennit_fiber_running (sennit/fiber.h).
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_PROFILE_H
#define SENNIT_PROFILE_H

#include "sennit/base.h"

SENNIT_BEGIN

/* What to record, as a mask. */
enum sennit_profile_kind {
	SENNIT_PROFILE_CPU = 1,
	SENNIT_PROFILE_WAITS = 2,
	SENNIT_PROFILE_LOCKS = 4 /* a subset of WAITS */
};

enum sennit_profile_format {
	SENNIT_PROFILE_PPROF = 0,
	SENNIT_PROFILE_FOLDED = 1,
	SENNIT_PROFILE_TEXT = 2
};

/* Samples of a thread per second of its CPU time: the default and the
 * maximum. */
#define SENNIT_PROFILE_HERTZ      99u
#define SENNIT_PROFILE_HERTZ_MOST 1000u

/* Start a profile of the process. The data of an earlier profile are dropped.
 * hertz is the sampling rate for CPU; 0: SENNIT_PROFILE_HERTZ. A wait that has
 * already begun is not recorded. A worker that runs a task records waits from
 * its next dispatch on. The call installs a handler for SIGPROF, which stays. A
 * child of fork() has no profile and may start one.
 *
 * Returns 0, or
 *   - -EINVAL if `kinds` is 0 or unknown, or hertz is too large;
 *   - -EALREADY if a profile is running;
 *   - -EBUSY if the program has a handler for SIGPROF;
 *   - -EPERM if the system refuses timers, or does not let the process read its
 *     own memory by process_vm_readv or /proc/self/mem;
 *   - -ENOMEM;
 *   - -ENOTSUP on a processor that is not supported.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_profile_start(uint32_t kinds,
						    uint32_t hertz);

/* Write the data recorded for `kind`, one value of the enum, to the file
 * descriptor, as `format` says, of enum
 * sennit_profile_format. The profile may be running or stopped. The caller owns
 * fd.
 *
 * PPROF: profile.proto of github.com/google/pprof, with file and line where
 * debug information exists. The tests open it with `go tool pprof`. Perfetto
 * and speedscope also read the format, but are not tested. CPU: values
 * samples/count and cpu/nanoseconds. WAITS, LOCKS: waits/count and
 * wait/nanoseconds, and for each stack a number `longest`. Labels: `task`, the
 * function; `name`, the name the task has set; `kind`, what it waited for;
 * `lost`, for samples that did not fit.
 *
 * FOLDED: a line for each stack, as flamegraph.pl and sennit-trace flame read
 * it: the task's function, its name if it has one, its callees, outermost
 * first, and for waits the kind, separated by semicolons; a blank; nanoseconds.
 *
 * TEXT: the sums, the lost samples, and a line for each stack: total, longest
 * wait, count, kind of wait, task, and the stack, innermost frame first. CPU
 * stacks are merged by function, wait stacks by call. The text is for people
 * and may change with any release.
 *
 * The library's frames inside the call that waits, and those outside the task,
 * are left out where their functions have names. A stack whose outer frames
 * were not found begins with "[callers unknown]".
 *
 * Returns 0; -EINVAL: an unknown kind or format; -ENODATA: `kind` has not been
 * recorded; -ENOMEM; or the negative errno of write().
 *
 * From: fiber, thread; not from signal handlers.  Blocks: yes (the thread,
 * while it writes).  */
SENNIT_API SENNIT_MUST_USE int sennit_profile_write(int fd, uint32_t kind,
						    uint32_t format);

/* Stop the profile. Its data can be written until the next start. Does nothing
 * if no profile is running.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_profile_stop(void);

SENNIT_END

#endif
