/* SPDX-License-Identifier: Apache-2.0 */
/* parallel_on.h - the options of a loop on the scheduler of a test, and a
 * body that must not run. */
#ifndef SN_TEST_PARALLEL_ON_H
#define SN_TEST_PARALLEL_ON_H

#include "testing/with_workers.h"

#include <errno.h>

static inline sennit_parallel_options on(const struct world *w, size_t grain)
{
	return (sennit_parallel_options){ .size = sizeof(
						  sennit_parallel_options),
					  .scheduler = w->s,
					  .grain = grain };
}

static inline int must_not_run(void *context, size_t begin, size_t end)
{
	EXPECT(false && "it was called");
	return -EIO;
}

#endif
