/* SPDX-License-Identifier: Apache-2.0 */
/* dump.h - writes the stacks of all fibers when the process gets a signal, or
 * when a signal ends the process.
 *
 * In libsennit-diag. Use it to get the stacks of a program that hangs:
 *
 *	kill -QUIT 4711
 *
 * The signal's handler only wakes a thread of the library, and that thread
 * writes the stacks. No signal is handled unless the program calls
 * sennit_dump_start.
 *
 * Experimental: what this header declares may change in each minor version.
 */
#ifndef SENNIT_DUMP_H
#define SENNIT_DUMP_H

#include "sennit/stacks.h"

SENNIT_BEGIN

/* As `signal`: take the signal from the environment variable. */
#define SENNIT_DUMP_ENVIRONMENT 0

/* Write the stacks of all schedulers to fd each time the process gets the
 * signal, as sennit_stacks_print(NULL, fd, format) does. Signals that come
 * while stacks are being written cause one more dump. The caller owns fd and
 * keeps it open until sennit_dump_stop. The call opens the files that contain
 * function names, so a dump needs no further descriptors. For many fibers use
 * the format SENNIT_STACKS_MERGED.
 *
 * If `signal` is SENNIT_DUMP_ENVIRONMENT, the environment variable
 * SENNIT_DUMP_SIGNAL names the signal: a number, or one of HUP, INT, QUIT,
 * USR1, USR2, TERM, WINCH, with or without SIG. If the variable is not set or
 * is empty, or if the process runs with the rights of another user
 * (secure_getenv), the call does nothing and returns 0.
 *
 * The call replaces the signal's earlier handler. A child of fork() writes no
 * dumps.
 *
 * Returns 0, or
 *   - -EINVAL if there is no such signal, if it cannot be caught or reports a
 *     fault, or if it is SIGURG, which stacks.h uses;
 *   - -EALREADY if dumps are on;
 *   - a negative errno value of pthread_create().
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_dump_start(int signal, int fd,
						 uint32_t format);

/* Restore the signal's earlier handler, unless the program has replaced the
 * library's handler, and end the thread. Dumps for signals that came before the
 * call are written first. Does nothing if dumps are off.
 *
 * From: fiber, thread; one at a time.  Blocks: yes (the thread, until the dumps
 * are written).  */
SENNIT_API void sennit_dump_stop(void);

/* Write stacks to fd when SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGTRAP or
 * SIGSYS is about to end the process: first the stack of the thread that got
 * the signal, then those of all fibers, as sennit_stacks_print does. sennit
 * aborts after misuse, so this covers misuse. The process still ends by the
 * same signal at the same place, so a core file shows the cause. The caller
 * owns fd and keeps it open.
 *
 * A handler that the program installed before the call runs first. Stacks are
 * written if that handler returns and the cause persists, or if it uninstalls
 * itself. They are not written if it ends the process. A handler that is
 * installed later must call the handler that sigaction() returned to it. A
 * stack overflow is reported if the thread has an alternate signal stack.
 * Threads of schedulers whose `overflow` is SENNIT_OVERFLOW_REPORT have one.
 *
 * A thread of the library writes the stacks. It takes no lock, allocates
 * nothing and opens no file that it needs: this call maps the memory and the
 * files that contain function names. Records that are damaged are left out. The
 * process waits for the thread for at most `limit_ms` milliseconds. A second
 * call replaces the descriptor and the limit, and maps libraries that were
 * loaded since. A child of fork() writes nothing until it makes this call.
 *
 * Returns 0; -ENOMEM; -EPERM as sennit_stacks_visit; -ENOTSUP on a system where
 * this does not work; or a negative errno value of pthread_create().
 *
 * From: fiber, thread; not from signal handlers.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_dump_fatal(int fd, uint32_t limit_ms);

SENNIT_END

#endif
