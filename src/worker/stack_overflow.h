/* SPDX-License-Identifier: Apache-2.0 */
/* stack_overflow.h - reports a stack overflow: the task, its stack size, and a
 * backtrace.
 *
 *	a frame grows into the guard --> a fault, handled on the thread's
 *	alternate stack: is the address in the guard of the running fiber, or
 *	the stack pointer outside of its stack? --> print it --> the handler
 *	that was installed before runs, and usually ends the process
 *
 * Other faults are passed on after three comparisons. The handler belongs to
 * the process. The first scheduler that wants it installs it, and it stays
 * installed. Each worker thread and each bound thread gets an alternate stack,
 * unless it has one. A thread that unbinds keeps it until it ends.
 *
 * A frame larger than the guard (sennit_config.guard_size) can skip it. libc's
 * frames are smaller than the default guard. Programs with larger frames must
 * be compiled with -fstack-clash-protection, which touches every page; the
 * library itself is.
 */
#ifndef SN_STACK_OVERFLOW_H
#define SN_STACK_OVERFLOW_H

#include "worker/worker.h"

/* Install the fault handler. */
void sn_stack_overflow_watch(void);

/* sn_stack_overflow_enter gives the calling thread, which now runs w, an
 * alternate stack, so that it can report overflows. sn_stack_overflow_leave
 * removes it if it is part of the thread's own stack. */
void sn_stack_overflow_enter(struct worker *w);
void sn_stack_overflow_leave(struct worker *w);

#endif
