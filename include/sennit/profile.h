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
 * CPU: each thread has a timer of its own CPU time, and the signal SIGPROF
 * comes each time that it has used up a period. The handler walks the stack of
 * the fiber, within its bounds, by the unwind tables of the program's files:
 * frame pointers are not needed. All threads that exist at the start have a
 * timer, and those that libsennit starts later: workers, and threads for
 * blocking calls, whose samples count for the task that waits for the call. A
 * thread of the program's that begins later has one once it is bound. The
 * system looks at timers at its ticks, often 250 times a second; a sample
 * counts for all periods since the one before. The signal restarts system
 * calls, but those that signal(7) lists as never restarted may return EINTR.
 *
 * Waits: a fiber that has waited notes how long, until it ran again, and from
 * where. Yields, and waits of threads that are not bound, are not noted. Locks
 * are the waits for mutexes and reader-writer locks.
 *
 * Samples are added up as they come, by stack, task and kind of wait. Each
 * thread does that for itself, without a lock, in up to 2 MiB of memory for
 * each of CPU and waits, which are in use only as far as they are filled. What
 * finds no room counts as lost, with its time, and each format says so. Memory
 * is kept until the process ends, for the next profile.
 *
 * Without a profile all this costs nothing: see docs/performance.md. For the
 * environment's SENNIT_DEBUG=profile=FILE see docs/debugging.md. An allocator's
 * own profiler finds the task by sennit_fiber_running (sennit/fiber.h).
 */
#ifndef SENNIT_PROFILE_H
#define SENNIT_PROFILE_H

#include "sennit/base.h"

SENNIT_BEGIN

/* What to record, as a mask. */
enum sennit_profile_kind {
	SENNIT_PROFILE_CPU = 1,
	SENNIT_PROFILE_WAITS = 2,
	SENNIT_PROFILE_LOCKS = 4 /* with WAITS: a part of these */
};

enum sennit_profile_format {
	SENNIT_PROFILE_PPROF = 0,
	SENNIT_PROFILE_FOLDED = 1,
	SENNIT_PROFILE_TEXT = 2
};

/* Samples of a thread in a second of its CPU time. */
#define SENNIT_PROFILE_HERTZ      99u
#define SENNIT_PROFILE_HERTZ_MOST 1000u

/* Start a profile of the process; what an earlier one recorded is dropped.
 * hertz is for CPU; 0: SENNIT_PROFILE_HERTZ. A wait that has begun is not
 * noted; a worker that runs a task notes its waits from its next dispatch on.
 * SIGPROF gets a handler, which stays. A child of fork() has no profile, and
 * may start one.
 *
 * Returns 0; -EINVAL if `kinds` is 0 or unknown, or hertz is too large;
 * -EALREADY if there is a profile; -EBUSY if the program has a handler for
 * SIGPROF; -EPERM if the system refuses timers, or does not let the process
 * read its own memory (process_vm_readv, /proc/self/mem); -ENOMEM; -ENOTSUP:
 * not on this processor.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_profile_start(uint32_t kinds,
						    uint32_t hertz);

/* Write what has been recorded of `kind`, one of the enum, to the file
 * descriptor, while the profile goes on, or after its stop.
 *
 * PPROF: profile.proto of github.com/google/pprof, with file and line where
 * there is debug information. The tests open it by `go tool pprof`; Perfetto
 * and speedscope read the format, and are not tested. CPU: values samples/count
 * and cpu/nanoseconds. WAITS, LOCKS: waits/count and wait/nanoseconds, and for
 * each stack a number `longest`. Labels: `task`, the function; `name`, what the
 * task has named itself; `kind`, what it waited for; `lost`, for what found no
 * room.
 *
 * FOLDED: a line for each stack, as flamegraph.pl and sennit-trace flame read
 * it: the task's function, its name if it has one, its callees, outermost
 * first, and for waits the kind, separated by semicolons; a blank; nanoseconds.
 *
 * TEXT: the sums, what was lost, and a line for each stack: total, longest
 * wait, count, kind of wait, task, and the stack, innermost first; of CPU by
 * function, of waits by call. It is for people and may change with any release.
 *
 * The library's own frames inside the call that waits, and those around the
 * task, are left out where their functions have names. A stack whose outer
 * frames were not found begins with "[callers unknown]".
 *
 * Returns 0; -EINVAL: an unknown kind or format; -ENODATA: `kind` has not been
 * recorded; -ENOMEM; or the negative errno of write().
 *
 * From: fiber, thread; not from signal handlers.  Blocks: yes (the thread,
 * while it writes).  */
SENNIT_API SENNIT_MUST_USE int sennit_profile_write(
	int fd, enum sennit_profile_kind kind,
	enum sennit_profile_format format);

/* Stop the profile. What was recorded can be written until the next start.
 * Does nothing if there is none.
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API void sennit_profile_stop(void);

SENNIT_END

#endif
