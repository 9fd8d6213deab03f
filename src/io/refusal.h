/* SPDX-License-Identifier: Apache-2.0 */
/* refusal.h - what a worker waits with has worked, and is refused.
 *
 * An error of a while passes, and the worker comes again. One that stays would
 * make every call hang: the process ends with a message.
 */
#ifndef SN_IO_REFUSAL_H
#define SN_IO_REFUSAL_H

#include "base/compiler.h"
#include "sennit/base.h"

struct refusal {
	sennit_time since; /* the first error in a row; 0: it works */
	uint32_t    count; /* in a row */
};

/* A call has failed: aborts if it is refused for good. `of`: what it is. */
COLD void sn_io_refusal_note(struct refusal *r, int err, const char *of);

/* What a call returned: a negative errno, or anything else. */
static inline void sn_io_refusal_check(struct refusal *r, int result,
				       const char *of)
{
	if (unlikely(result < 0))
		sn_io_refusal_note(r, result, of);
	else
		r->since = 0;
}

#endif
