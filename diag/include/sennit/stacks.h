/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h - the backtraces of all fibers, from inside the program.
 *
 * In libsennit-diag. The report of sennit/report.h says which fibers wait, and
 * for what; these calls add where they wait. They stop no thread and take no
 * lock of libsennit: the kernel copies the stacks, and a copy is used only if
 * the fiber was suspended the whole time.
 *
 * The stack that a thread is on cannot be copied from outside. So the library
 * sends SIGURG to each worker, and the handler copies the stack that it
 * interrupts. The signal restarts system calls, but those that signal(7) lists
 * as never restarted return EINTR to a task that makes them. If the program has
 * a handler for SIGURG, the library sends no signal.
 *
 * The helper threads of blocking calls (sennit/blocking.h) get no signal, so
 * that the program's code there is not disturbed. For a thread that is blocked
 * in a system call, the kernel reports its stack pointer. For a thread that
 * runs, only the function of the call is shown. Without a signal the frame
 * pointer is not known: it is found if the function that needs it was called
 * directly, and if its callers lead to the function of the call.
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_STACKS_H
#define SENNIT_STACKS_H

#include "sennit/report.h"

SENNIT_BEGIN

/* The maximum number of frames of a backtrace. Only the 32 KiB above the stack
 * pointer are read. libdw finds the callers in the files of the program and its
 * libraries. A library that was built without libdw reads the unwind tables
 * itself on x86 and arm64, and shows only the first frame on other
 * processors. */
#define SENNIT_STACK_FRAMES 128

enum sennit_stack_source {
	SENNIT_STACK_SUSPENDED = 0, /* no thread uses the stack */
	SENNIT_STACK_SAMPLED = 1,   /* a thread uses it: the fiber runs, or its
				     * worker sleeps inside the fiber's wait,
				     * with nothing else to do. The frames show
				     * where the thread was */
	SENNIT_STACK_UNSAMPLED = 2, /* as SAMPLED, but the thread did not answer
				     * within 200 ms, or no signal can be sent:
				     * no frames */
	SENNIT_STACK_CHANGED = 3    /* the fiber ran during each attempt to copy
				     * its stack: no frames */
};

/* What follows the last frame of a backtrace. */
enum sennit_stack_rest {
	SENNIT_STACK_NO_REST = 0, /* nothing: it is the outermost frame */
	SENNIT_STACK_DEEPER = 1,  /* more than SENNIT_STACK_FRAMES, or more
				   * than the 32 KiB that are read */
	SENNIT_STACK_LOST = 2     /* its caller cannot be found */
};

typedef struct sennit_stack {
	size_t                     size;      /* sizeof(sennit_stack) in the
					  * library's build */
	const char                *scheduler; /* the scheduler's name, any
					       * bytes */
	const sennit_report_entry *fiber;     /* see sennit_report_visit; never
					    * QUEUED */
	uint32_t                   source;    /* enum sennit_stack_source */
	uint32_t                   count;     /* number of frames */
	const void *const         *frames; /* innermost first. SUSPENDED: return
					    * addresses; SAMPLED: the first is
					    * the address of the next
					    * instruction, the others are
					    * return addresses */
	uint32_t                   rest;   /* enum sennit_stack_rest */

	/* If the fiber waits for a blocking call and a thread makes that call,
	 * the first frames are those of the thread, up to the function of the
	 * call. They are return addresses; the first is that of the system
	 * call. */
	uint32_t call_thread; /* the thread; 0: none */
	uint32_t call_count;  /* number of frames that are the thread's */
	uint32_t call_rest;   /* enum sennit_stack_rest: whether frames are
			       * missing before the last one of the thread,
			       * which is then the start of the function */
} sennit_stack;

enum sennit_stacks_format {
	SENNIT_STACKS_TEXT = 0,        /* each fiber, for people */
	SENNIT_STACKS_JSON = 1,        /* each fiber, for programs */
	SENNIT_STACKS_MERGED = 2,      /* equal stacks once, for people */
	SENNIT_STACKS_MERGED_JSON = 3, /* equal stacks once, for programs */
	SENNIT_STACKS_PPROF = 4        /* a profile, for pprof */
};

/* Call visit(context, stack) for each live fiber of *s, including bound
 * threads' own stacks. If s is NULL, visit the fibers of all schedulers of the
 * process. What *stack points to is valid until visit returns. Each entry was
 * true at some moment during the call. A fiber that starts, ends or continues
 * during the call may be left out. visit may make any call except those of this
 * header.
 *
 * The call takes up to 200 ms for each worker that does not answer. A fiber
 * that calls it needs 32 KiB of stack. Returns 0, or
 *   - -ENOMEM;
 *   - -EFAULT if records of the library are overwritten, so that fibers are
 *     missing;
 *   - -EPERM if the system does not let the process read its own memory by
 *     process_vm_readv or /proc/self/mem;
 *   - -ENOTSUP on a processor that is not supported.
 *
 * From: fiber, thread; not from signal handlers.  Blocks: yes (the thread).  */
SENNIT_API SENNIT_MUST_USE int sennit_stacks_visit(
	sennit_scheduler *s,
	void (*visit)(void *context, const sennit_stack *stack), void *context);

/* Write the stacks to the file descriptor. format: enum sennit_stacks_format.
 * Names are escaped.
 *
 * TEXT: for each fiber a line about the fiber, a line about its deadlock if it
 * is in one (see sennit/wait_graph.h), a line per frame, and an empty line. The
 * frames of a fiber that waits begin at the public call, if its name is known:
 * those inside of it are the library's. The text is for people and may change
 * with any release. Functions have names unless their file was stripped;
 * `addr2line -e file` finds the place of 0x1309 in "file+0x1309".
 *   - "spawned at main (app.c:12)": the call that spawned the task, in a
 *     library that was built with SENNIT_SPAWN_SITES (sennit/report.h). For a
 *     fiber that runs short tasks it may be the site of the next task;
 *   - "deadlock 1: it is held by ...": the fibers of one deadlock have the same
 *     number;
 *   - "thread 2891 makes the call:": the frames of the helper thread, then,
 *     below "called by:", those of the fiber. "frames are not known" means that
 *     the thread runs, or that its callers cannot be found;
 *   - the frames of a fiber that waits or is ready all belong to one moment at
 *     which it was suspended. If they end in a sleep below the wait, the
 *     fiber's worker sleeps there because it has nothing else to do. The frames
 *     of a fiber that runs show where its thread was when it got the signal;
 *   - "its thread did not answer the signal": the program has a handler for
 *     SIGURG, so no signal was sent; or the thread did not answer within 200
 *     ms, because it blocks the signal or gets no CPU;
 *   - "it ran while its stack was copied": it ran during each attempt to copy
 *     its stack;
 *   - "it is deeper", "the caller is not known": see enum sennit_stack_rest;
 *   - "names are missing: ...": a file that contains names could not be opened,
 *     or was replaced, for example by an update of a library. Its functions
 *     have the names that it exports, or none. Or there was no memory to read
 *     files.
 *
 * JSON: one object, in one line:
 *
 *	{"format": "sennit-stacks", "version": 1, "time_ns": N, "fibers": [{
 *	 "scheduler": "...", "worker": N or null (a bound thread), "thread": N,
 *	 "fiber": N, "state": "running" | "ready" | "blocked",
 *	 "name": "..." or null, "task": "function" or null,
 *	 "spawned_at": null or {"address": "0x...", "symbol": "...",
 *	  "file": "..." or null, "line": N or null},
 *	 "waits_for": "..." or null, "object": "0x..." or null,
 *	 "since_ns": N, "deadline_ns": N or null,
 *	 "deadlock": null or {"number": N, "holder_worker": N or null,
 *	  "holder_thread": N, "holder_fiber": N},
 *	 "stack": "suspended" | "sampled" | "unsampled" | "changed",
 *	 "frames": [{"address": "0x...", "symbol": "..."}],
 *	 "rest": "none" | "deeper" | "lost",
 *	 "call": null or {"thread": N, "frames": N (of the first ones),
 *	  "rest": "..."}}],
 *	 "damages": ["..."], "names_missing": null or "...",
 *	 "error": null or "..."}
 *
 * Each damaged record of the library has a line that begins with `damaged:`. In
 * JSON, `damages` has up to 8 of these lines. All undamaged records are
 * written.
 *
 * MERGED: one group for all fibers of one task function that have the same
 * frames (except inside the scheduler), the same state and spawn site, and wait
 * for the same kind of object. Each group has the number of fibers, the fiber
 * that has waited longest, and the frames with their source lines. The largest
 * group comes first. A report on 100,000 fibers fits on a page:
 *
 *	41730 of serve wait for mutex 0x55d0, longest 812 ms: s worker 1, ...
 *	  #0  0x000055d07f3c sn_loop_suspend+0xe4 at sched/loop.c:112
 *	  #1  ...
 *
 * MERGED_JSON: the same, in one line:
 *
 *	{"format": "sennit-merged-stacks", "version": 1, "time_ns": N,
 *	 "fibers": N, "left_out": N, "groups": [{"count": N, "state": "...",
 *	 "task": "function" or null, "spawned_at": as above,
 *	 "waits_for": "..." or null,
 *	 "object": "0x..." or null (also if they are several),
 *	 "waited_ns": N (of all), "longest_ns": N,
 *	 "longest": {"scheduler": "...", "worker": N or null, "thread": N,
 *	  "fiber": N, "since_ns": N, "name": "..." or null},
 *	 "stack": "...", "rest": "...", "call_frames": N, "call_rest": "...",
 *	 "frames": [{"address": "0x...", "symbol": "...",
 *	  "file": "..." or null, "line": N or null}]}],
 *	 "damages": ["..."], "names_missing": null or "...",
 *	 "error": null or "..."}
 *
 * PPROF: a profile in the format of sennit_profile_write. Its values are the
 * number of fibers and the nanoseconds that blocked fibers have waited. The
 * samples have the labels task, spawned_at (if it is known), state, waits_for,
 * longest (ns) and stack, which has the value of "rest".
 *
 * The merged formats need no memory for up to 128 groups. If memory for more
 * cannot be allocated, left_out counts the fibers of the further groups.
 *
 * Times are those of the monotonic clock. If `error` is not null, fibers are
 * missing. Later versions may add members; a change of those above changes the
 * version. Bytes of names that are not UTF-8, and control characters, are
 * escaped as in the text.
 *
 * A fiber that calls it needs 32 KiB of stack. Returns as sennit_stacks_visit,
 * or the negative errno of write().
 *
 * From: fiber, thread; not from signal handlers.  Blocks: yes (the thread,
 * while it writes).  */
SENNIT_API int sennit_stacks_print(sennit_scheduler *s, int fd,
				   uint32_t format);

SENNIT_END

#endif
