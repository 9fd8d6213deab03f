/* SPDX-License-Identifier: Apache-2.0 */
/* overflow.h - reports a stack overflow: the task, its stack size, and a
 * backtrace.
 *
 *	a frame grows into the guard --> a fault, handled on the thread's
 *	alternate stack: is the address in the guard of the running fiber, or
 *	the stack pointer outside of its stack? --> print it --> the handler
 *	that was installed before runs, and usually ends the process
 *
 * Other faults are passed on after three comparisons. The handler belongs to
 * the process. The first scheduler that wants it installs it, and it stays
 * installed. Each worker thread, each bound thread and each thread that makes
 * blocking calls gets an alternate stack, unless it has one, and keeps it until
 * it ends.
 *
 * A frame larger than the guard (sennit_config.guard_size) can skip it. libc's
 * frames are smaller than the default guard. Programs with larger frames must
 * be compiled with -fstack-clash-protection, which touches every page; the
 * library itself is.
 */
#ifndef SN_OVERFLOW_H
#define SN_OVERFLOW_H

#include "sched/state.h"

/* Install the fault handler. */
void sn_stack_overflow_watch(void);

/* Give the calling thread, which now runs w, an alternate stack, so that it can
 * report overflows. It keeps that until it ends. */
void sn_stack_overflow_enter(const struct worker *w);

/* The same for the calling thread, which makes blocking calls for *s. */
void sn_stack_overflow_enter_call(const sennit_scheduler *s);

#endif
