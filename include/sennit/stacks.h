/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h - the backtraces of all fibers, from inside the program.
 *
 * In libsennit-diag. The report of sennit/report.h says which fibers wait, and
 * for what; these calls add where. They stop no thread and take no lock of
 * libsennit: the kernel copies the stacks, and a copy is used only if the fiber
 * was suspended the whole time.
 *
 * The stack that a thread is on cannot be copied from outside. So each worker
 * gets a signal, SIGURG, whose handler copies the stack that it interrupts. It
 * restarts system calls, but those that signal(7) lists as never restarted
 * return EINTR to a task that makes them. If the program has a handler for
 * SIGURG no signal is sent.
 *
 * The helper threads of blocking calls (sennit/blocking.h) get no signal, so
 * nothing disturbs what they do. The kernel says where a thread is that it
 * blocks in a system call; of one that runs, only the function of the call is
 * shown. Without a signal the frame pointer is not known: it is found if the
 * function that needs it was called directly, and its callers lead to that of
 * the call.
 */
#ifndef SENNIT_STACKS_H
#define SENNIT_STACKS_H

#include "sennit/report.h"

SENNIT_BEGIN

/* The maximum number of frames of a backtrace. Of a stack only the 32 KiB above
 * the stack pointer are read. libdw finds the callers, in the files of the
 * program and its libraries; a library that was built without libdw shows the
 * first frame only. */
#define SENNIT_STACK_FRAMES 128

enum sennit_stack_source {
	SENNIT_STACK_SUSPENDED = 0, /* no thread is on the stack */
	SENNIT_STACK_SAMPLED = 1,   /* a thread is on it: it runs, or its worker
				     * found nothing else to do when it began
				     * to wait. Where the thread was */
	SENNIT_STACK_UNSAMPLED = 2, /* the same, but the thread did not answer
				     * within 200 ms, or there is no signal: no
				     * frames */
	SENNIT_STACK_CHANGED = 3    /* it ran each time when it was to be
				     * copied: no frames */
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
	const char                *scheduler; /* its name, any bytes */
	const sennit_report_entry *fiber;  /* see sennit_scheduler_report; never
					    * QUEUED */
	uint32_t                   source; /* enum sennit_stack_source */
	uint32_t                   count;  /* number of frames */
	const void *const         *frames; /* innermost first. SUSPENDED: return
					    * addresses; SAMPLED: the first is
					    * the address of the next
					    * instruction, the others are
					    * return addresses */
	uint32_t                   rest;   /* enum sennit_stack_rest */

	/* If the fiber waits for a blocking call, and a thread makes it: the
	 * first frames are those of that thread, up to the function of the
	 * call. They are return addresses, the first one that of the system
	 * call. */
	uint32_t call_thread; /* 0: there is none */
	uint32_t call_count;  /* how many frames are the thread's */
	uint32_t call_rest;   /* enum sennit_stack_rest: whether frames are
			       * missing before the last of them, which is then
			       * the start of the function */
} sennit_stack;

enum sennit_stacks_format {
	SENNIT_STACKS_TEXT = 0, /* each fiber: for people, for programs */
	SENNIT_STACKS_JSON = 1,
	SENNIT_STACKS_MERGED = 2, /* equal stacks once: for people, for
				   * programs, for pprof */
	SENNIT_STACKS_MERGED_JSON = 3,
	SENNIT_STACKS_PPROF = 4
};

/* Call visit(context, stack) for each live fiber of *s, including bound
 * threads' own stacks. s NULL: of all schedulers of the process. What *stack
 * points to is valid until visit returns. Each entry was true at some moment
 * during the call. A fiber that starts, ends or moves on meanwhile may be left
 * out. visit may call everything but the calls of this header.
 *
 * Takes up to 200 ms for each worker that does not answer. Returns 0; -ENOMEM;
 * -EFAULT: records of the library are overwritten, so fibers are missing;
 * -EPERM: the system does not let the process read its own memory in this way
 * (process_vm_readv, /proc/self/mem); -ENOTSUP: not on this processor.
 *
 * From: fiber, thread; not from signal handlers.  Blocks: yes (the thread).  */
SENNIT_API SENNIT_MUST_USE int sennit_stacks_visit(
	sennit_scheduler *s,
	void (*visit)(void *context, const sennit_stack *stack), void *context);

/* Write the stacks to the file descriptor. Names are escaped.
 *
 * TEXT: for each fiber a line about it, a line about its deadlock if it is in
 * one (see sennit/wait_graph.h), a line per frame, an empty line. It is for
 * people and may change with any release. Functions have names unless the file
 * was stripped; `addr2line -e file` finds the place of 0x1309 in "file+0x1309".
 *   - "spawned at main (app.c:12)": the call that spawned the task, in a
 *     library that was built with SENNIT_SPAWN_SITES (sennit/report.h). Of a
 *     fiber that runs short tasks it may be that of the next one;
 *   - "deadlock 1: it is held by ...": the fibers of one deadlock have the same
 *     number;
 *   - "thread 2891 makes the call:": the frames of the helper thread, and below
 *     "called by:" those of the fiber. At "frames are not known" the thread
 *     runs, or its callers cannot be found;
 *   - frames of a fiber that waits or is ready are of one moment at which it
 *     was suspended. Frames below its wait that sleep are its worker's, which
 *     found nothing else to do. Those of a fiber that runs are where its thread
 *     was when it was asked;
 *   - "its thread did not say where it is": the program has a handler for
 *     SIGURG, so the thread was not asked; or it did not answer in 200 ms,
 *     because it blocks the signal or gets no CPU;
 *   - "it has moved on": the fiber ran each time its stack was to be copied;
 *   - "it is deeper", "the caller is not known": see enum sennit_stack_rest;
 *   - "names are missing: ...": a file with names could not be opened, or is
 *     another one by now, as after an update of a library: its functions have
 *     the names that it exports, or none. Or there is no memory to read files.
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
 * Each damage of the library's records has a line that begins with `damaged:`;
 * in JSON `damages` has up to 8. Everything else is written.
 *
 * MERGED: fibers of one task function that have the same frames (but for where
 * in itself the scheduler left them), the same state and spawn site, and wait
 * for the same kind of thing, as one: how many they are, which of them has done
 * so for the longest time, and the frames with their places in the source code.
 * The largest group comes first. What 100,000 fibers do fits on a page:
 *
 *	41730 of serve wait for mutex 0x55d0, longest 812 ms: s worker 1, ...
 *	  #0  0x000055d07f3c sn_loop_suspend+0xe4 at src/sched/loop.c:112
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
 * PPROF: a profile of fibers, and of the nanoseconds that those which are
 * blocked have waited, in the format of sennit_profile_write. The samples have
 * the labels task, spawned_at (if it is known), state, waits_for, longest (ns)
 * and stack, which is the word of "rest".
 *
 * The formats that merge need no memory for up to 128 groups; a process that
 * has no more counts the fibers of others in left_out.
 *
 * Times are of the monotonic clock. If `error` is not null, fibers are missing.
 * Later versions may add members; a change of those above changes the version.
 * Bytes of names that are not UTF-8, and control characters, are escaped as in
 * the text.
 *
 * Returns as sennit_stacks_visit, or the negative errno of write().
 *
 * From: fiber, thread; not from signal handlers.  Blocks: yes (the thread,
 * while it writes).  */
SENNIT_API int sennit_stacks_print(sennit_scheduler *s, int fd,
				   enum sennit_stacks_format format);

SENNIT_END

#endif
