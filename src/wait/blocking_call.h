/* SPDX-License-Identifier: Apache-2.0 */
/* call.h - one blocking call of a fiber: a record on its stack, which a
 * blocking thread works on while the fiber waits.
 *
 *	idle blocking thread            given the call
 *	may be one more       started with it
 *	at the ceiling        queued; whoever takes it off claims it: it begins
 *	refused, and alone    run in place, with all that is queued
 *
 * The claim of fiber/waiter.h is the beginning of the call. So a deadline ends
 * the wait in the queue and nothing else.
 */
#ifndef SN_BLOCKING_CALL_H
#define SN_BLOCKING_CALL_H

#include "wait/wait.h"
#include "sennit/blocking.h"

struct blocking_call {
	struct waiter       waiter;
	sennit_scheduler   *scheduler;  /* fixed */
	sennit_blocking_fn *run;        /* fixed */
	void               *argument;   /* fixed */
	uint64_t            fp_control; /* fixed: the caller's */
	void               *result;     /* handed, as the waiter is */
	int                 error;      /* handed: errno, before and after */
};

/* Do *c, of which run, argument and error are set, for the running fiber.
 * Returns 0, or -ETIMEDOUT or -ECANCELED: it has not begun and will not. */
int sn_blocking_call(struct blocking_call *c, sennit_time deadline);

#endif
