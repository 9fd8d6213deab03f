/* SPDX-License-Identifier: Apache-2.0 */
/* blocking.h - one blocking call of a fiber: a record on its stack, on
 * which a blocking thread works while the fiber waits.
 *
 *	there is an idle thread     it is given the call
 *	below the ceiling           a new thread starts with the call
 *	at the ceiling              the call waits in the queue
 *	refused, and none is left   the caller runs all queued calls in place
 *
 * A blocking thread that takes a call off the queue claims it, and the claim of
 * wait/waiter.h marks the start of the call. So a deadline can end the wait in
 * the queue, but nothing after that.
 */
#ifndef SN_BLOCKING_H
#define SN_BLOCKING_H

#include "wait/wait.h"
#include "sennit/blocking.h"

struct blocking_call {
	struct waiter       waiter;
	sennit_scheduler   *scheduler;  /* fixed */
	sennit_blocking_fn *run;        /* fixed */
	void               *argument;   /* fixed */
	uint64_t            fp_control; /* fixed: that of the caller */
	void               *result;     /* handed, together with the waiter */
	int                 error;      /* handed: errno, before and after */
};

/* Execute *c for the running fiber. The caller must have set run, argument and
 * error. Returns 0, or -ETIMEDOUT or -ECANCELED: the call then has not begun
 * and never will. */
int sn_blocking_call(struct blocking_call *c, sennit_time deadline);

#endif
