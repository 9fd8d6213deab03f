/* SPDX-License-Identifier: Apache-2.0 */
/* stack_overflow.h - names a stack overflow: whose stack, what runs on it, how
 * large it is, and where.
 *
 *	frame grows into the guard --> fault, on the thread's alternate stack:
 *	is the address in the guard of the fiber that runs here, or the stack
 *	pointer off its stack? --> say so --> what handled faults before does,
 *	and mostly ends the process
 *
 * Any other fault is none of our business and costs it three comparisons. The
 * handler is the process's, set when the first scheduler is created that wants
 * it, and stays; each worker's thread and each bound one gets an alternate
 * stack, unless it has one.
 *
 * A frame larger than the guard (sennit_config.guard_size) can step over it.
 * libc's are smaller than the default. Programs with larger ones are to be
 * compiled with -fstack-clash-protection, which touches every page (as the
 * library itself is).
 */
#ifndef SN_STACK_OVERFLOW_H
#define SN_STACK_OVERFLOW_H

#include "worker/worker.h"

/* Watch for overflows from now on. */
void sn_stack_overflow_watch(void);

/* The calling thread, which is w's from now on or no more, can report its
 * overflows. */
void sn_stack_overflow_enter(struct worker *w);
void sn_stack_overflow_leave(struct worker *w);

#endif
