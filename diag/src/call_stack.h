/* SPDX-License-Identifier: Apache-2.0 */
/* call_stack.h - finds the stack of the thread that makes a fiber's blocking
 * call.
 *
 * The thread gets no signal, so that the program's code there is not disturbed.
 * For a thread that is blocked the kernel reports the stack pointer. For one
 * that runs, only the function of the call is known. */
#ifndef SN_CALL_STACK_H
#define SN_CALL_STACK_H

#include "fibers.h"

#define HELPER_FRAMES 64u

struct helper_stack {
	uint32_t    thread;
	uint32_t    count; /* at least 1 */
	uint32_t    rest;  /* see sennit_stack.call_rest */
	const void *frames[HELPER_FRAMES];
	char        copy[THREAD_SAMPLE_COPY];
};

/* Returns false if no thread makes a call that f waits for. */
bool sn_helper_stack_find(struct helper_stack *h, const struct fiber_record *f);

#endif
