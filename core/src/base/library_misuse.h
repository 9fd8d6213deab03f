/* SPDX-License-Identifier: Apache-2.0 */
/* library_misuse.h - reports misuse of a library on top of libsennit, which
 * reaches neither its workers nor sn_panic(). */
#ifndef SN_LIBRARY_MISUSE_H
#define SN_LIBRARY_MISUSE_H

#include "sennit/fiber.h"

#include <stdio.h>
#include <stdlib.h>

/* Print the misused call and the reason, and abort. */
static inline _Noreturn void sn_library_misuse(const char *call,
					       const char *why)
{
	const sennit_fiber *f = sennit_fiber_current();

	if (f)
		fprintf(stderr, "sennit: misuse of %s: %s [fiber %u]\n", call,
			why, (unsigned)sennit_fiber_number(f));
	else
		fprintf(stderr, "sennit: misuse of %s: %s [a thread]\n", call,
			why);
	abort();
}

#endif
