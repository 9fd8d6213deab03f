/* SPDX-License-Identifier: Apache-2.0 */
/* dump.h - the stacks of all fibers, written when a signal comes, or ends the
 * process.
 *
 * In libsennit-diag. Use it to get the stacks of a program that hangs:
 *
 *	kill -QUIT 4711
 *
 * The signal's handler only wakes a thread of the library, which writes. It is
 * off unless the program calls sennit_dump_start.
 */
#ifndef SENNIT_DUMP_H
#define SENNIT_DUMP_H

#include "sennit/stacks.h"

SENNIT_BEGIN

/* The value of `signal` that leaves the choice to the environment. */
#define SENNIT_DUMP_ENVIRONMENT 0

/* From now on write the stacks of all schedulers to fd, as
 * sennit_stacks_print(NULL, fd, format) does, when the process gets the signal.
 * Signals that come while stacks are being written cause one more dump. The
 * descriptor must stay open until sennit_dump_stop. The files that have the
 * names of functions are opened now, so that a dump needs no descriptors.
 * SENNIT_STACKS_MERGED is the format for many fibers.
 *
 * SENNIT_DUMP_ENVIRONMENT: the signal is that of the environment variable
 * SENNIT_DUMP_SIGNAL, a number or one of HUP, INT, QUIT, USR1, USR2, TERM,
 * WINCH, with or without SIG. If it is not set, empty, or the process runs with
 * the rights of another user (secure_getenv), the call does nothing and returns
 * 0.
 *
 * The signal's earlier handler is replaced. A child of fork() does not dump.
 *
 * Returns 0; -EINVAL: no such signal, one that cannot be caught or that reports
 * a fault, or SIGURG, which stacks.h uses; -EALREADY: it is on; or a negative
 * errno of pthread_create().
 *
 * From: fiber, thread.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_dump_start(
	int signal, int fd, enum sennit_stacks_format format);

/* Put the signal's earlier handler back, unless the program has replaced ours,
 * and end the thread. Dumps for signals that came before the call are written
 * first. Does nothing if it is off.
 *
 * From: fiber, thread; one at a time.  Blocks: yes (the thread, until what is
 * being written is written).  */
SENNIT_API void sennit_dump_stop(void);

/* From now on, when SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGTRAP or SIGSYS
 * is about to end the process, write the stack of the thread that it has come
 * to, and then those of all fibers, as sennit_stacks_print does, to fd.
 * sennit aborts after misuse, so misuse is among them. The process ends by the
 * same signal, at the same place, as it does without the call: a core file
 * shows the cause. The descriptor must stay open.
 *
 * A handler that the program has installed before runs first. Stacks are
 * written if it returns and the cause is still there, or if it has uninstalled
 * itself; not if it ends the process. One that is installed later must call the
 * one that sigaction() has given it. A stack that has overflowed is reported if
 * its thread has an alternate signal stack: threads of schedulers whose
 * `overflow` is SENNIT_OVERFLOW_REPORT do.
 *
 * A thread of the library writes. It takes no lock, allocates nothing and opens
 * no file that it needs: memory and the files with the names of functions are
 * mapped by this call. What is damaged is left out. The process waits for
 * it for `limit_ms` at most. A second call replaces the descriptor and the
 * limit, and maps libraries that were loaded since. A child of fork() writes
 * nothing until it calls.
 *
 * Returns 0; -ENOMEM; -EPERM as sennit_stacks_visit; -ENOTSUP: not on this
 * system; or a negative errno of pthread_create().
 *
 * From: fiber, thread; not from signal handlers.  Blocks: no.  */
SENNIT_API SENNIT_MUST_USE int sennit_dump_fatal(int fd, uint32_t limit_ms);

SENNIT_END

#endif
